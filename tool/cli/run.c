/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command from its arguments to its exit status. */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/refuse.h"
#include "cli/user.h"
#include "cli/watch.h"
#include "report/model.h"

/* Signals that end a run become readable; workers inherit them blocked, so that only the parent decides. */
static int open_signals(struct pj_error **err)
{
    sigset_t ending;
    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGINT);
    (void)sigaddset(&ending, SIGTERM);
    (void)sigaddset(&ending, SIGHUP);
    /* Errors of write(2) instead: a reader that is gone, a limit on file sizes. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &ending, NULL) != 0)
        return pj_error_errno(err, PJ_ERROR_INTERNAL, errno, "cannot block signals");
    int fd = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : pj_error_errno(err, PJ_ERROR_INTERNAL, errno, "cannot wait for signals");
}

/* Number of the signal that came, 0 where it cannot be read. */
static int read_signal(int signals_fd)
{
    struct signalfd_siginfo info = {0};
    return read(signals_fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/* So that a caller's shell or service manager sees what happened: the same signal, once everything is
 * written. */
static int die_by_signal(int number)
{
    if (number == 0)
        return PJ_EXIT_FAILED;
    sigset_t just_this;
    (void)sigemptyset(&just_this);
    (void)sigaddset(&just_this, number);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &just_this, NULL);
    return 128 + number;
}

/* Test hook: a kill between two system calls of the commit. */
static void stop_at_point(void *context, const char *point)
{
    if (strcmp(context, point) == 0)
        (void)raise(SIGKILL);
}

/* The table and the answer go to standard output; beside JSON the answer goes to standard error. */
static int print(const struct pj_result *result, const struct pj_cli_options *options, int *status,
                 struct pj_error **err)
{
    PJ_CLEANUP_FREE char *body = NULL;
    PJ_CLEANUP_FREE char *answer = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer last = {0};
    bool json = options->format == PJ_CLI_JSON;
    int r = 0;
    if (json)
        r = pj_result_json(result, &body, err);
    else if (!options->quiet)
        r = pj_result_table(result, options->verbose, &body, err);
    if (r == 0)
        r = pj_result_answer(result, body && !json, &answer, err);
    if (r < 0)
        return r;
    if (body)
        pj_buffer_puts(&out, body);
    pj_buffer_printf(json ? &last : &out, "%s\n", answer);
    r = pj_buffer_check(&out, err);
    if (r < 0)
        return r;
    if (!pj_cli_write(STDOUT_FILENO, pj_buffer_text(&out), out.size))
        *status = pj_cli_lost_report(*status);
    (void)pj_cli_write(STDERR_FILENO, pj_buffer_text(&last), last.size);
    return 0;
}

static int show_help(const struct pj_command *command)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_cli_options_help(command, &text);
    return pj_cli_show(pj_buffer_text(&text), text.size);
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
        return show_help(command);
    }
    if (pj_cli_become_user(&options, &error) < 0) {
        pj_cli_options_free(&options);
        return pj_cli_refuse(command, options.format == PJ_CLI_JSON, error);
    }
    PJ_CLEANUP_CLOSE int signals_fd = open_signals(&error);
    const char *stop_at = secure_getenv("PREJIT_TEST_STOP_AT");
    options.run.interrupt_fd = signals_fd;
    options.run.worker_program = PJ_CLI_WORKER_PROGRAM;
    options.run.observer = pj_cli_watch_begin(&watch, options.quiet);
    if (stop_at) {
        options.run.at_point = stop_at_point;
        options.run.at_point_context = (void *)(uintptr_t)stop_at;
    }
    int r = signals_fd < 0 ? -1 : call(&options.run, &result, &error);
    pj_cli_watch_end(&watch);
    int status = r < 0 ? PJ_EXIT_FAILED : pj_result_exit_code(result);
    bool interrupted = r == 0 ? pj_result_interrupted(result) : pj_error_code(error) == PJ_ERROR_INTERRUPTED;
    int signal_number = interrupted ? read_signal(signals_fd) : 0;
    if (r == 0 && signal_number > 0)
        pj_result_set_signal(result, signal_number);
    if (r == 0)
        r = print(result, &options, &status, &error);
    if (r < 0)
        status = pj_cli_refuse(command, options.format == PJ_CLI_JSON, error);
    pj_result_free(result);
    pj_cli_options_free(&options);
    return interrupted ? die_by_signal(signal_number) : status;
}
