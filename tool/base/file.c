/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes of files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

void pj_close(int fd)
{
    if (fd < 0)
        return;
    int saved = errno;
    (void)close(fd); /* Linux frees the descriptor whatever close() says */
    errno = saved;
}

void pj_close_pointer(int *fd)
{
    pj_close(*fd);
}

void pj_closedir_pointer(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

void pj_fclose_pointer(FILE **file)
{
    if (*file)
        (void)fclose(*file);
}

const char *pj_file_type_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "not a regular file";
    }
}

int pj_file_in_memory(const void *bytes, size_t size, int *ret_fd, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd = memfd_create("prejit", MFD_CLOEXEC);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make a file in memory");
    int r = size > 0 ? pj_file_pwrite(fd, "a file in memory", bytes, size, 0, err) : 0;
    if (r == 0)
        *ret_fd = PJ_STEAL_FD(fd);
    return r;
}

int pj_file_open_regular(int dirfd, const char *path, int *ret_fd, struct stat *ret_stat,
                         struct pj_error **err)
{
    /* O_NONBLOCK: opening a FIFO returns at once instead of waiting for a writer. */
    PJ_CLEANUP_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s", path);
    if (fstat(fd, ret_stat) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s", path);
    if (!S_ISREG(ret_stat->st_mode)) {
        (void)pj_error_set(err, PJ_ERROR_IO, "%s is %s, not a regular file", path,
                           pj_file_type_name(ret_stat->st_mode));
        return pj_error_recode(err, PJ_ERROR_IO, EINVAL);
    }
    *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}

static int too_large(const char *name, uint64_t size, uint64_t max_bytes, struct pj_error **err)
{
    (void)pj_error_set(err, PJ_ERROR_IO, "%s has %" PRIu64 " bytes, more than the %" PRIu64 " allowed", name,
                       size, max_bytes);
    return pj_error_recode(err, PJ_ERROR_IO, EFBIG);
}

int pj_file_read_fd(int fd, const char *name, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                    struct pj_error **err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s", name);
    if ((uint64_t)status.st_size > max_bytes)
        return too_large(name, (uint64_t)status.st_size, max_bytes, err);
    size_t expected = (size_t)status.st_size;
    char *room = pj_buffer_reserve(ret_bytes, expected);
    if (!room)
        return pj_error_no_memory(err);
    size_t done = 0;
    while (done < expected) {
        ssize_t got = pread(fd, room + done, expected - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot read %s", name);
        if (got == 0)
            break; /* the file became shorter: what is there is what it holds */
        done += (size_t)got;
    }
    pj_buffer_commit(ret_bytes, done);
    return 0;
}

int pj_file_read(int dirfd, const char *path, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                 struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd = -1;
    struct stat status;
    int r = pj_file_open_regular(dirfd, path, &fd, &status, err);
    if (r < 0)
        return r;
    return pj_file_read_fd(fd, path, max_bytes, ret_bytes, err);
}

int pj_file_read_special(int dirfd, const char *path, uint64_t max_bytes, struct pj_buffer *ret_bytes,
                         struct pj_error **err)
{
    enum { STEP = 4096 };
    PJ_CLEANUP_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s", path);
    uint64_t total = 0;
    for (;;) {
        char *room = pj_buffer_reserve(ret_bytes, STEP);
        if (!room)
            return pj_error_no_memory(err);
        ssize_t got = read(fd, room, STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot read %s", path);
        if (got == 0)
            return 0;
        pj_buffer_commit(ret_bytes, (size_t)got);
        total += (uint64_t)got;
        if (total > max_bytes)
            return too_large(path, total, max_bytes, err);
    }
}

int pj_file_pread(int fd, const char *name, void *bytes, size_t size, uint64_t offset, struct pj_error **err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot read %s", name);
        if (got == 0)
            return pj_error_set(err, PJ_ERROR_IO,
                                "%s ends at byte %" PRIu64 ", %zu bytes were expected from %" PRIu64, name,
                                offset + done, size, offset);
        done += (size_t)got;
    }
    return 0;
}

int pj_file_pwrite(int fd, const char *name, const void *bytes, size_t size, uint64_t offset,
                   struct pj_error **err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return pj_error_errno(err, PJ_ERROR_IO, put == 0 ? EIO : errno, "cannot write %s", name);
        done += (size_t)put;
    }
    return 0;
}
