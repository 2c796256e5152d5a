/* SPDX-License-Identifier: Apache-2.0 */
/* prejit profile */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <prejit/prejit.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/refuse.h"
#include "cli/user.h"
#include "report/model.h"

#define INSTEAD "or leave --output away, which gives the profile to standard output"

/* The file is replaced, which for /dev/null or /dev/stdout would take it away from everybody. */
static int check_file(const char *path, struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return pj_error_set(
            err, PJ_ERROR_USAGE,
            "--output %s: that is no regular file, and it would be replaced: name a file, " INSTEAD, path);
    int r = pj_file_check_replace(AT_FDCWD, path, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    return r == 0 ? 0
                  : pj_error_set(err, pj_error_code(problem),
                                 "--output: %s: name a file in a folder that is there and can be written "
                                 "to, " INSTEAD,
                                 pj_error_message(problem));
}

/* The profile goes into the file and the cases to standard output; without a file the profile has standard
 * output for itself, and the cases go to standard error. JSON has both. */
static int put(const struct pj_cli_options *options, const char *profile, const char *text, int *status,
               struct pj_error **err)
{
    const char *answer = text;
    bool json = options->format == PJ_CLI_JSON;
    for (const char *line = text; options->quiet > 0 && !json && *line; line = strchr(line, '\n') + 1)
        answer = line;
    if (!options->out_file && !json) {
        int unwritten = pj_cli_show(profile, strlen(profile));
        *status = *status ? *status : unwritten;
        if (options->quiet < 2 || *status != PJ_EXIT_OK)
            (void)pj_cli_write(STDERR_FILENO, answer, strlen(answer));
        return 0;
    }
    int r = options->out_file
                ? pj_file_replace(AT_FDCWD, options->out_file, profile, strlen(profile), 0644, err)
                : 0;
    if (r == 0 && !pj_cli_answer(answer, strlen(answer), json ? 0 : options->quiet, *status))
        *status = pj_cli_lost_report(*status);
    return r;
}

static int make(const struct pj_command *command, const struct pj_cli_options *options)
{
    PJ_CLEANUP_FREE char *profile = NULL;
    PJ_CLEANUP_FREE char *text = NULL;
    struct pj_error *error = NULL;
    PJ_CLEANUP_CLOSE int signals_fd = pj_cli_signals_open(&error);
    const struct pj_profile_options asked = {
        .driver = options->driver,
        .ptxas = options->run.ptxas,
        .nvjitlink = options->run.nvjitlink,
        .worker_program = PJ_CLI_WORKER_PROGRAM,
        .timeout_ms = options->run.timeout_ms,
        .deadline_ms = options->run.deadline_ms,
        .json = options->format == PJ_CLI_JSON,
        .file = options->out_file,
        .interrupt_fd = signals_fd,
    };
    int status = PJ_EXIT_FAILED;
    int r = signals_fd < 0 ? -1 : 0;
    if (r == 0 && options->out_file)
        r = check_file(options->out_file, &error);
    if (r == 0)
        r = pj_profile_make(&asked, &profile, &text, &status, &error);
    if (r == 0)
        r = put(options, profile, text, &status, &error);
    if (r == 0)
        return status;
    int signal_number = pj_error_code(error) == PJ_ERROR_INTERRUPTED ? pj_cli_signals_read(signals_fd) : 0;
    status = pj_cli_refuse(command, options->format == PJ_CLI_JSON, error);
    return signal_number ? pj_cli_die_by_signal(signal_number) : status;
}

static int run(const struct pj_command *command, int count, char **arguments)
{
    struct pj_cli_options options;
    struct pj_error *error = NULL;
    if (pj_cli_options_parse(command, count, arguments, &options, &error) < 0)
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    int status = options.help ? pj_cli_show_help(command) : options.out_file ? 0 : pj_cli_check_show();
    if (status == 0 && !options.help)
        status = make(command, &options);
    pj_cli_options_free(&options);
    return status;
}

const struct pj_command pj_command_profile = {
    .name = "profile",
    .arguments = "[options]",
    .summary = "learn from the driver at hand what warm --offline needs for it",
    .description =
        "Has the driver compile small kernels in every way that leads to an entry, and compares its\n"
        "entries with those predicted, byte for byte; then assembles entries itself from what ptxas\n"
        "made, loads them with JIT disabled, runs them and checks what they computed. What was proven\n"
        "is written down as a profile for: prejit warm --offline FILE. Needs a GPU, a driver and ptxas;\n"
        "touches no cache but one of its own.\n"
        "Exit status: 0; 1 something could not be proven: the profile says what; 2 usage; 3 there is no\n"
        "driver, GPU or ptxas, FILE cannot be written, or the driver writes an unknown format; 75 try\n"
        "again later.",
    .run = run,
};
