/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into prejit: counts its system calls by kind, and lets a chosen one fail.
 *
 * FAULT_CALL names a kind, FAULT_AT the number of the call that fails (from 1), FAULT_ERRNO the error it
 * gives; 0 stands for a short count, for read and write alike. With FAULT_STICKY=1 every later call of the
 * kind fails as well, as on a disk that stays full. FAULT_LOG names a file that gets a line `hit KIND N` for
 * a failure and, when the program ends, `count KIND N` for each kind. Workers get a listed environment and so
 * never load this. */
#undef _FILE_OFFSET_BITS /* the names as they are, open and open64 apart */
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind {
    OPEN,
    READ,
    WRITE,
    RENAME,
    LINK,
    MKDIR,
    UNLINK,
    SYNC,
    FALLOCATE,
    FLOCK,
    FCNTL,
    FDOPENDIR,
    MEMFD,
    SOCKETPAIR,
    SPAWN,
    KINDS
};

static const char *const names[KINDS] = {"open",  "read",      "write", "rename",     "link",
                                         "mkdir", "unlink",    "sync",  "fallocate",  "flock",
                                         "fcntl", "fdopendir", "memfd", "socketpair", "spawn"};

static atomic_long counts[KINDS];
static int chosen = -1, error_number;
static long at;
static bool sticky;
static const char *log_path;

/* By the bare system call, so that the log is no call of the program. */
static void put_line(const char *word, enum kind kind, long number)
{
    char line[96];
    int length = snprintf(line, sizeof line, "%s %s %ld\n", word, names[kind], number);
    long fd = log_path
                  ? syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                  : -1;
    if (fd < 0)
        return;
    (void)syscall(SYS_write, fd, line, (size_t)length);
    (void)syscall(SYS_close, fd);
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *call = getenv("FAULT_CALL"), *number = getenv("FAULT_AT"), *error = getenv("FAULT_ERRNO");
    log_path = getenv("FAULT_LOG");
    sticky = getenv("FAULT_STICKY") != NULL;
    at = number ? strtol(number, NULL, 10) : 0;
    error_number = error ? (int)strtol(error, NULL, 10) : 0;
    for (int i = 0; call && i < KINDS; i++) {
        if (strcmp(call, names[i]) == 0)
            chosen = i;
    }
}

__attribute__((destructor)) static void put_counts(void)
{
    for (int i = 0; i < KINDS; i++) {
        if (counts[i] > 0)
            put_line("count", (enum kind)i, counts[i]);
    }
}

/* Is this the call that fails? */
static bool strikes(enum kind kind)
{
    long number = atomic_fetch_add(&counts[kind], 1) + 1;
    if ((int)kind != chosen || number < at || (number > at && !sticky))
        return false;
    if (number == at)
        put_line("hit", kind, number);
    errno = error_number;
    return true;
}

static bool fails(enum kind kind)
{
    return strikes(kind) && error_number != 0;
}

#define REAL(name, type)                                                                                     \
    static type real;                                                                                        \
    if (!real) {                                                                                             \
        void *found = dlsym(RTLD_NEXT, name);                                                                \
        memcpy(&real, &found, sizeof real);                                                                  \
    }

typedef int open_call(const char *path, int flags, ...);
typedef int openat_call(int fd, const char *path, int flags, ...);

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    REAL("open", open_call *)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(OPEN) ? -1 : real(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    REAL("open64", open_call *)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(OPEN) ? -1 : real(path, flags, mode);
}

EXPORT int openat64(int fd, const char *path, int flags, ...)
{
    REAL("openat64", openat_call *)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(OPEN) ? -1 : real(fd, path, flags, mode);
}

EXPORT int openat(int fd, const char *path, int flags, ...)
{
    REAL("openat", openat_call *)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(OPEN) ? -1 : real(fd, path, flags, mode);
}

/* What the C library's checked builds call. */
int __open64_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

int __openat64_2(int fd, const char *path, int flags);
EXPORT int __openat64_2(int fd, const char *path, int flags)
{
    return openat64(fd, path, flags);
}

/* A short count where that makes sense. */
static size_t cut(size_t size)
{
    return size > 1 ? size / 2 : size;
}

EXPORT ssize_t read(int fd, void *bytes, size_t size)
{
    REAL("read", __typeof__(&read))
    if (!strikes(READ))
        return real(fd, bytes, size);
    return error_number ? -1 : real(fd, bytes, cut(size));
}

EXPORT ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    REAL("pread64", __typeof__(&pread64))
    if (!strikes(READ))
        return real(fd, bytes, size, offset);
    return error_number ? -1 : real(fd, bytes, cut(size), offset);
}

/* What goes to the standard streams is another matter, with tests of its own. */
EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL("write", __typeof__(&write))
    if (fd <= STDERR_FILENO || !strikes(WRITE))
        return real(fd, bytes, size);
    return error_number ? -1 : real(fd, bytes, cut(size));
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    REAL("pwrite64", __typeof__(&pwrite64))
    if (!strikes(WRITE))
        return real(fd, bytes, size, offset);
    return error_number ? -1 : real(fd, bytes, cut(size), offset);
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    REAL("renameat", __typeof__(&renameat))
    return fails(RENAME) ? -1 : real(from_fd, from, to_fd, to);
}

EXPORT int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    REAL("linkat", __typeof__(&linkat))
    return fails(LINK) ? -1 : real(from_fd, from, to_fd, to, flags);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    REAL("mkdir", __typeof__(&mkdir))
    return fails(MKDIR) ? -1 : real(path, mode);
}

EXPORT int mkdirat(int fd, const char *path, mode_t mode)
{
    REAL("mkdirat", __typeof__(&mkdirat))
    return fails(MKDIR) ? -1 : real(fd, path, mode);
}

EXPORT int unlink(const char *path)
{
    REAL("unlink", __typeof__(&unlink))
    return fails(UNLINK) ? -1 : real(path);
}

EXPORT int unlinkat(int fd, const char *path, int flags)
{
    REAL("unlinkat", __typeof__(&unlinkat))
    return fails(UNLINK) ? -1 : real(fd, path, flags);
}

EXPORT int fsync(int fd)
{
    REAL("fsync", __typeof__(&fsync))
    return fails(SYNC) ? -1 : real(fd);
}

EXPORT int fdatasync(int fd)
{
    REAL("fdatasync", __typeof__(&fdatasync))
    return fails(SYNC) ? -1 : real(fd);
}

EXPORT int syncfs(int fd)
{
    REAL("syncfs", __typeof__(&syncfs))
    return fails(SYNC) ? -1 : real(fd);
}

EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    REAL("fallocate64", __typeof__(&fallocate64))
    return fails(FALLOCATE) ? -1 : real(fd, mode, offset, size);
}

EXPORT int flock(int fd, int operation)
{
    REAL("flock", __typeof__(&flock))
    return fails(FLOCK) ? -1 : real(fd, operation);
}

EXPORT int fcntl64(int fd, int command, ...)
{
    REAL("fcntl64", __typeof__(&fcntl64))
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fails(FCNTL) ? -1 : real(fd, command, argument);
}

EXPORT DIR *fdopendir(int fd)
{
    REAL("fdopendir", __typeof__(&fdopendir))
    return fails(FDOPENDIR) ? NULL : real(fd);
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
    REAL("memfd_create", __typeof__(&memfd_create))
    return fails(MEMFD) ? -1 : real(name, flags);
}

EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
    REAL("socketpair", __typeof__(&socketpair))
    return fails(SOCKETPAIR) ? -1 : real(domain, type, protocol, pair);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const environment[])
{
    REAL("posix_spawn", __typeof__(&posix_spawn))
    return fails(SPAWN) ? error_number : real(pid, path, actions, attributes, arguments, environment);
}
