/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends for its caller: by a signal or not, with its report written. */
#include "cli/ending.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/output.h"
#include "cli/refuse.h"
#include "report/model.h"

int pj_cli_signals_open(struct pj_error **err)
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

int pj_cli_signals_read(int signals_fd)
{
    struct signalfd_siginfo info = {0};
    return read(signals_fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

int pj_cli_die_by_signal(int number)
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

int pj_cli_print_report(const struct pj_cli_options *options, const char *body, const char *answer,
                        int *status, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer last = {0};
    bool json = options->format == PJ_CLI_JSON;
    if (body)
        pj_buffer_puts(&out, body);
    pj_buffer_printf(json ? &last : &out, "%s\n", answer);
    out.failed |= last.failed;
    int r = pj_buffer_check(&out, err);
    if (r < 0)
        return r;
    bool told = json ? pj_cli_write(STDOUT_FILENO, pj_buffer_text(&out), out.size)
                     : pj_cli_answer(pj_buffer_text(&out), out.size, options->quiet, *status);
    if (!told)
        *status = pj_cli_lost_report(*status);
    if (json && (options->quiet < 2 || *status != PJ_EXIT_OK))
        (void)pj_cli_write(STDERR_FILENO, pj_buffer_text(&last), last.size);
    return 0;
}
