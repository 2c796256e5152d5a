/* SPDX-License-Identifier: Apache-2.0 */
/* prejit build */
#include <stdbool.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "cli/options.h"
#include "cli/refuse.h"
#include "cli/user.h"
#include "cli/watch.h"
#include "report/model.h"

/* One of the two must be said: nobody gets files that were not asked for. */
static int check_destination(const struct pj_cli_options *options, struct pj_error **err)
{
    if (options->check && options->out_dir)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--check and --out-dir %s exclude each other: --check writes nothing",
                            options->out_dir);
    if (!options->check && !options->out_dir)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "build needs --out-dir DIR, or --check to write nothing; see: prejit build "
                            "--help");
    return 0;
}

static int build(const struct pj_command *command, const struct pj_cli_options *options)
{
    PJ_CLEANUP_FREE char *text = NULL;
    PJ_CLEANUP_FREE char *answer = NULL;
    struct pj_cli_watch watch;
    struct pj_error *error = NULL;
    PJ_CLEANUP_CLOSE int signals_fd = pj_cli_signals_open(&error);
    bool json = options->format == PJ_CLI_JSON, interrupted = false;
    const struct pj_build_options asked = {
        .manifest = options->run.manifest,
        .out_dir = options->out_dir,
        .check = options->check,
        .nvrtc = options->run.nvrtc,
        .nvjitlink = options->run.nvjitlink,
        .worker_program = PJ_CLI_WORKER_PROGRAM,
        .targets = options->run.targets,
        .target_count = options->run.target_count,
        .modules = options->run.modules,
        .module_count = options->run.module_count,
        .workers = options->run.workers,
        .timeout_ms = options->run.timeout_ms,
        .deadline_ms = options->run.deadline_ms,
        .json = json,
        .verbose = options->verbose,
        .quiet = options->quiet > 0,
        .interrupt_fd = signals_fd,
        .observer = pj_cli_watch_begin(&watch, options->quiet > 0),
    };
    int status = PJ_EXIT_FAILED;
    int r = signals_fd < 0 ? -1 : pj_build(&asked, &text, &answer, &status, &interrupted, &error);
    pj_cli_watch_end(&watch);
    if (r < 0)
        interrupted = pj_error_code(error) == PJ_ERROR_INTERRUPTED;
    int signal_number = interrupted ? pj_cli_signals_read(signals_fd) : 0;
    if (r == 0)
        r = pj_cli_print_report(options, json || !options->quiet ? text : NULL, answer, &status, &error);
    if (r < 0)
        status = pj_cli_refuse(command, json, error);
    return interrupted ? pj_cli_die_by_signal(signal_number) : status;
}

static int run(const struct pj_command *command, int count, char **arguments)
{
    struct pj_cli_options options;
    struct pj_error *error = NULL;
    if (pj_cli_options_parse(command, count, arguments, &options, &error) < 0)
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    int status;
    if (options.help)
        status = pj_cli_show_help(command);
    else if (check_destination(&options, &error) < 0)
        status = pj_cli_refuse(command, options.format == PJ_CLI_JSON, error);
    else
        status = build(command, &options);
    pj_cli_options_free(&options);
    return status;
}

const struct pj_command pj_command_build = {
    .name = "build",
    .arguments = "{--out-dir DIR | --check} [options] MANIFEST",
    .takes_manifest = true,
    .summary = "compile to cubins with NVRTC and nvJitLink; needs no GPU and no driver",
    .description =
        "Makes a cubin of every module for every target, with the CUDA toolkit's libraries alone, and\n"
        "says what each kernel takes. index.json beside the cubins tells what was made from what.\n"
        "With --check, as in a project's CI: does everything compile for all targets?\n"
        "Exit status: 0; 1 something was not built; 2 usage or manifest; 3 there is no NVRTC or\n"
        "nvJitLink, or DIR cannot be written; 75 the deadline passed.",
    .run = run,
};
