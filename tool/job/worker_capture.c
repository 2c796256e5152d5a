/* SPDX-License-Identifier: Apache-2.0 */
/* Turns descriptor 2 away and back. */
#include "job/worker_capture.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

void pj_capture_begin(struct pj_capture *capture, int fd)
{
    capture->saved = fd >= 0 ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (fd >= 0)
        (void)dup2(fd, STDERR_FILENO);
}

void pj_capture_end(struct pj_capture *capture)
{
    if (capture->saved >= 0)
        (void)dup2(capture->saved, STDERR_FILENO);
    pj_close(capture->saved);
    capture->saved = -1;
}
