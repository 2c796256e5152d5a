/* SPDX-License-Identifier: Apache-2.0 */
/* prejit doctor */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/refuse.h"

/* The width of the terminal; what goes elsewhere is not broken into lines. */
static unsigned columns_of(int fd)
{
    enum { NARROWEST = 40 };
    struct winsize size = {0};
    if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < NARROWEST)
        return 0;
    return size.ws_col;
}

static int examine(const struct pj_command *command, const struct pj_cli_options *options)
{
    PJ_CLEANUP_FREE char *text = NULL;
    struct pj_error *error = NULL;
    const struct pj_doctor_options doctor = {
        .manifest = options->run.manifest,
        .cache = options->run.cache,
        .driver = options->driver,
        .nvrtc = options->run.nvrtc,
        .nvjitlink = options->run.nvjitlink,
        .ptxas = options->run.ptxas,
        .worker_program = options->no_driver && options->run.offline_count == 0 ? NULL : "/proc/self/exe",
        .user = options->run.user,
        .env_file = options->env_file,
        .pid = options->pid,
        .offline = options->run.offline,
        .offline_count = options->run.offline_count,
        .columns = columns_of(STDOUT_FILENO),
        .json = options->format == PJ_CLI_JSON,
        .quiet = options->quiet > 0,
        .verbose = options->verbose,
        .interrupt_fd = -1,
    };
    int status;
    if (pj_doctor(&doctor, &text, &status, &error) < 0)
        return pj_cli_refuse(command, doctor.json, error);
    if (!pj_cli_answer(text, strlen(text), doctor.json ? 0 : options->quiet, status))
        status = pj_cli_lost_report(status);
    return status;
}

static int run(const struct pj_command *command, int count, char **arguments)
{
    struct pj_cli_options options;
    struct pj_error *error = NULL;
    if (pj_cli_options_parse(command, count, arguments, &options, &error) < 0)
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    int status = options.help ? pj_cli_show_help(command) : examine(command, &options);
    pj_cli_options_free(&options);
    return status;
}

const struct pj_command pj_command_doctor = {
    .name = "doctor",
    .arguments = "[options] [MANIFEST]",
    .takes_manifest = true,
    .manifest_is_optional = true,
    .summary = "find what in the environment makes warming useless; needs no GPU",
    .description =
        "Looks at the environment, the cache's path and files, the file system, the driver's libraries,\n"
        "the kernel driver and the CUDA toolkit, names what is wrong with a cure for each, and says which\n"
        "cache a program reads: one started from here, of another user or environment, or a running one.\n"
        "With MANIFEST: whether that is the cache which the manifest fills, and whether the toolkit has\n"
        "what its sources need. With --offline: whether an image could be built here. Changes nothing.\n"
        "Exit status: 0; 2 usage or manifest; 3 there is a finding of severity error.",
    .run = run,
};
