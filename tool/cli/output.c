/* SPDX-License-Identifier: Apache-2.0 */
/* Unbuffered output by write(2). */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "report/model.h"

bool pj_cli_write(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, text, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN) { /* somebody made the terminal non-blocking */
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            (void)poll(&wait, 1, -1);
            continue;
        }
        if (put == 0)
            errno = EIO;
        if (put <= 0)
            return false;
        text += put;
        size -= (size_t)put;
    }
    return true;
}

static bool is_one_file(int fd, int other_fd)
{
    struct stat one, other;
    return fstat(fd, &one) == 0 && fstat(other_fd, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool pj_cli_answer(const char *text, size_t size, unsigned quiet, int status)
{
    if (quiet > 1 && status == PJ_EXIT_OK)
        return true;
    if (quiet > 0 && status != PJ_EXIT_OK && !is_one_file(STDOUT_FILENO, STDERR_FILENO))
        (void)pj_cli_write(STDERR_FILENO, text, size);
    return pj_cli_write(STDOUT_FILENO, text, size);
}

static int cannot_show(int errnum)
{
    PJ_CLEANUP_BUFFER struct pj_buffer message = {0};
    pj_buffer_printf(&message, "cannot write to standard output: %s", strerror(errnum));
    pj_cli_complain(pj_buffer_text(&message));
    return PJ_EXIT_ENVIRONMENT;
}

int pj_cli_show(const char *text, size_t size)
{
    return pj_cli_write(STDOUT_FILENO, text, size) ? 0 : cannot_show(errno);
}

int pj_cli_check_show(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? 0 : cannot_show(EBADF);
}

/* "FILE:LINE: …", "FILE:LINE:COLUMN: …": editors find the place only where the file's name comes first. What
 * has a blank before the colon may be a sentence ("cannot become user 12:5: …"); several lines are a list of
 * places. */
static bool starts_with_position(const char *message)
{
    static const char digits[] = "0123456789";
    const char *end = strstr(message, ": ");
    size_t length = end ? (size_t)(end - message) : 0;
    size_t at = length;
    if (memchr(message, ' ', length) && !strchr(message, '\n'))
        return false;
    while (at > 0 && strchr(digits, message[at - 1]))
        at--;
    return at < length && at > 1 && message[at - 1] == ':' && !memchr(message, '\n', length);
}

void pj_cli_complain(const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, starts_with_position(message) ? "" : "prejit: ");
    for (const char *line = message, *end; line; line = *end ? end + 1 : NULL) {
        end = strchrnul(line, '\n');
        pj_text_escape(&text, line, (size_t)(end - line));
        pj_buffer_putc(&text, '\n');
    }
    if (text.failed)
        (void)pj_cli_write(STDERR_FILENO, message, strlen(message));
    else
        (void)pj_cli_write(STDERR_FILENO, text.data, text.size);
}
