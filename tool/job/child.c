/* SPDX-License-Identifier: Apache-2.0 */
/* Starts worker processes with a listed environment. */
#include "job/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"

static const char *const passed_on[] = {"PATH=", "HOME=", "NVIDIA_", "CUDA_MPS_", "CUDA_DEVICE_ORDER="};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *value_of(char *const *environment, const char *name_and_equals)
{
    for (; *environment; environment++) {
        if (starts_with(*environment, name_and_equals))
            return *environment + strlen(name_and_equals);
    }
    return NULL;
}

/* LD_LIBRARY_PATH: the folder of the library that was asked for comes first, so that its own helpers are
 * found before others. At least one of `callers` and that folder is there. */
static char *library_path(struct pj_arena *arena, const char *callers, const char *library_file)
{
    const char *slash = library_file ? strrchr(library_file, '/') : NULL;
    if (!slash)
        return pj_arena_printf(arena, "LD_LIBRARY_PATH=%s", callers);
    int length = slash == library_file ? 1 : (int)(slash - library_file);
    return pj_arena_printf(arena, "LD_LIBRARY_PATH=%.*s%s%s", length, library_file,
                           callers && *callers ? ":" : "", callers ? callers : "");
}

char **pj_child_environment(struct pj_arena *arena, char *const *caller,
                            const struct pj_child_environment *wanted)
{
    enum { ADDED = 9 };
    size_t count = 0;
    while (caller[count])
        count++;
    char **result = pj_arena_calloc(arena, count + ADDED, sizeof *result);
    if (!result)
        return NULL;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < PJ_COUNT(passed_on); k++) {
            if (starts_with(caller[i], passed_on[k])) {
                result[used++] = caller[i];
                break;
            }
        }
    }
    const char *callers_library_path = value_of(caller, "LD_LIBRARY_PATH=");
    const char *devices =
        wanted->visible_devices ? wanted->visible_devices : value_of(caller, "CUDA_VISIBLE_DEVICES=");
    const char *temporary = wanted->temporary ? wanted->temporary : value_of(caller, "TMPDIR=");
    size_t added = used;
    result[used++] = pj_arena_strdup(arena, "LANG=C");
    if (wanted->cache_path) {
        result[used++] = pj_arena_printf(arena, "CUDA_CACHE_PATH=%s", wanted->cache_path);
        result[used++] = pj_arena_printf(arena, "CUDA_CACHE_MAXSIZE=%" PRIu64, wanted->cache_max_bytes);
    } else {
        result[used++] = pj_arena_strdup(arena, "CUDA_CACHE_DISABLE=1");
    }
    if (wanted->disable_jit)
        result[used++] = pj_arena_strdup(arena, "CUDA_DISABLE_PTX_JIT=1");
    if (temporary)
        result[used++] = pj_arena_printf(arena, "TMPDIR=%s", temporary);
    if (devices)
        result[used++] = pj_arena_printf(arena, "CUDA_VISIBLE_DEVICES=%s", devices);
    if (callers_library_path || (wanted->library_path && strchr(wanted->library_path, '/')))
        result[used++] = library_path(arena, callers_library_path, wanted->library_path);
    for (size_t i = added; i < used; i++) {
        if (!result[i])
            return NULL;
    }
    return result;
}

enum { WORKER_SOCKET = 3 };

/* A group of its own, so that the worker can be killed together with what it started; and the signals of a
 * program that nobody prepared, whatever our own caller ignores or blocks. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int r = posix_spawnattr_setflags(attributes,
                                     POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (r == 0)
        r = posix_spawnattr_setpgroup(attributes, 0);
    if (r == 0)
        r = posix_spawnattr_setsigmask(attributes, &none);
    return r == 0 ? posix_spawnattr_setsigdefault(attributes, &all) : r;
}

static int spawn(const char *program, char *const *environment, const char *directory,
                 const struct pj_child_ends *ends, pid_t *ret_pid)
{
    char parent[32], descriptor[16];
    (void)snprintf(parent, sizeof parent, "%ld", (long)getpid());
    (void)snprintf(descriptor, sizeof descriptor, "%d", WORKER_SOCKET);
    char *const arguments[] = {(char *)(uintptr_t) "prejit", (char *)(uintptr_t) "_worker", descriptor,
                               parent, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r = posix_spawnattr_init(&attributes);
    if (r != 0)
        return r;
    r = posix_spawn_file_actions_init(&actions);
    if (r != 0) {
        (void)posix_spawnattr_destroy(&attributes);
        return r;
    }
    r = set_attributes(&attributes);
    /* The driver must never write into the report on standard output. */
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, ends->words, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, ends->socket, WORKER_SOCKET);
    if (r == 0 && directory)
        r = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (r == 0) /* what our own caller left open, its locks and pipes among it, is not for the driver */
        r = posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_SOCKET + 1);
    if (r == 0)
        r = posix_spawn(ret_pid, program, &actions, &attributes, arguments, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return r;
}

/* Above all that the child opens before it takes its ends over, also where the caller has no standard input.
 */
static int move_up(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, WORKER_SOCKET + 1);
}

/* A worker that does not read must not make the parent wait: sending to it fails, its deadline ends it. Nor
 * does the parent wait for what it says on standard error. */
static int make_ends(int ours[2], int theirs[2])
{
    int sockets[2], words[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return -1;
    ours[0] = sockets[0];
    theirs[0] = move_up(sockets[1]);
    (void)close(sockets[1]);
    if (theirs[0] < 0 || pipe2(words, O_CLOEXEC) != 0)
        return -1;
    ours[1] = words[0];
    theirs[1] = move_up(words[1]);
    (void)close(words[1]);
    return theirs[1] < 0 || fcntl(ours[0], F_SETFL, O_NONBLOCK) != 0 ||
                   fcntl(ours[1], F_SETFL, O_NONBLOCK) != 0
               ? -1
               : 0;
}

int pj_child_spawn(const char *program, char *const *environment, const char *directory, pid_t *ret_pid,
                   struct pj_child_ends *ret_ends, struct pj_error **err)
{
    int ours[2] = {-1, -1}, theirs[2] = {-1, -1};
    int r = make_ends(ours, theirs);
    if (r < 0) {
        r = pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot make a socket for a worker");
    } else {
        const struct pj_child_ends ends = {.socket = theirs[0], .words = theirs[1]};
        int errnum = spawn(program, environment, directory, &ends, ret_pid);
        if (errnum != 0)
            r = pj_error_errno(err, PJ_ERROR_WORKER, errnum, "cannot start the worker program %s", program);
    }
    pj_close(theirs[0]);
    pj_close(theirs[1]);
    if (r < 0) {
        pj_close(ours[0]);
        pj_close(ours[1]);
        return r;
    }
    *ret_ends = (struct pj_child_ends){.socket = ours[0], .words = ours[1]};
    return 0;
}
