/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command from its arguments to its exit status. */
#include "cli/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/ending.h"
#include "cli/options.h"
#include "cli/refuse.h"
#include "cli/user.h"
#include "cli/watch.h"
#include "report/model.h"

/* Test hook: a kill between two system calls of the commit. */
static void stop_at_point(void *context, const char *point)
{
    if (strcmp(context, point) == 0)
        (void)raise(SIGKILL);
}

static int print(const struct pj_result *result, const struct pj_cli_options *options, int *status,
                 struct pj_error **err)
{
    PJ_CLEANUP_FREE char *body = NULL;
    PJ_CLEANUP_FREE char *answer = NULL;
    bool json = options->format == PJ_CLI_JSON;
    int r = 0;
    if (json)
        r = pj_result_json(result, &body, err);
    else if (!options->quiet)
        r = pj_result_table(result, options->verbose, &body, err);
    if (r == 0)
        r = pj_result_answer(result, body && !json, &answer, err);
    return r == 0 ? pj_cli_print_report(options, body, answer, status, err) : r;
}

int pj_cli_run(const struct pj_command *command, int count, char **arguments, pj_cli_call *call)
{
    struct pj_cli_options options = {0};
    struct pj_cli_watch watch;
    struct pj_error *error = NULL;
    struct pj_result *result = NULL;
    if (pj_cli_options_parse(command, count, arguments, &options, &error) < 0)
        return pj_cli_refuse(command, pj_cli_asks_for_json(count, arguments), error);
    if (options.help) {
        pj_cli_options_free(&options);
        return pj_cli_show_help(command);
    }
    if (pj_cli_become_user(&options, &error) < 0) {
        pj_cli_options_free(&options);
        return pj_cli_refuse(command, options.format == PJ_CLI_JSON, error);
    }
    PJ_CLEANUP_CLOSE int signals_fd = pj_cli_signals_open(&error);
    const char *stop_at = secure_getenv("PREJIT_TEST_STOP_AT");
    options.run.interrupt_fd = signals_fd;
    options.run.worker_program = PJ_CLI_WORKER_PROGRAM;
    options.run.observer = pj_cli_watch_begin(&watch, options.quiet > 0);
    if (stop_at) {
        options.run.at_point = stop_at_point;
        options.run.at_point_context = (void *)(uintptr_t)stop_at;
    }
    int r = signals_fd < 0 ? -1 : call(&options.run, &result, &error);
    pj_cli_watch_end(&watch);
    int status = r < 0 ? PJ_EXIT_FAILED : pj_result_exit_code(result);
    bool interrupted = r == 0 ? pj_result_interrupted(result) : pj_error_code(error) == PJ_ERROR_INTERRUPTED;
    int signal_number = interrupted ? pj_cli_signals_read(signals_fd) : 0;
    if (r == 0 && signal_number > 0)
        pj_result_set_signal(result, signal_number);
    if (r == 0)
        r = print(result, &options, &status, &error);
    if (r < 0)
        status = pj_cli_refuse(command, options.format == PJ_CLI_JSON, error);
    pj_result_free(result);
    pj_cli_options_free(&options);
    return interrupted ? pj_cli_die_by_signal(signal_number) : status;
}
