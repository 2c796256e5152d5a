/* SPDX-License-Identifier: Apache-2.0 */
/* The store opened and closed: run lock, run folder, private folders, figures. */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cache/guard.h"
#include "cache/store_private.h"

void pj_store_point(const struct pj_store *store, const char *point)
{
    if (store->options.at_point)
        store->options.at_point(store->options.context, point);
}

static int unusable(const struct pj_store *store, int errnum, const char *what, struct pj_error **err)
{
    return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errnum, "cannot use the cache directory %s: %s",
                          store->path, what);
}

static int make_directory(struct pj_store *store, struct pj_way *way, struct pj_error **err)
{
    int r = geteuid() == 0 ? pj_way_make(store->path, way, err) : pj_directory_create(store->path, 0700, err);
    if (r == 0)
        return pj_guard_refuse(way, store->path, NULL, err);
    r = pj_error_recode(err, PJ_ERROR_ENVIRONMENT, err && *err ? (*err)->errnum : 0);
    return pj_error_wrap(err, r, "cannot use the cache directory %s", store->path);
}

/* Root's by the descriptor that was judged. Nobody else can exchange what the path means from then on, so
 * workers and the driver can have paths below it. */
static int open_directory(struct pj_store *store, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    int r = make_directory(store, &way, err);
    if (r < 0)
        return r;
    store->cache_fd = way.fd >= 0 ? openat(way.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                  : open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->cache_fd < 0)
        return unusable(store, errno, "it cannot be opened", err);
    if (geteuid() == 0)
        r = pj_guard_look_inside(store->cache_fd, store->path, &way, err);
    if (r == 0)
        r = pj_guard_refuse(&way, store->path, NULL, err);
    if (r < 0)
        return r;
    /* A descriptor of its own, which nobody else is handed: the lock lives as long as it. */
    store->lock_fd = openat(store->cache_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return store->lock_fd < 0 ? unusable(store, errno, "it cannot be opened", err) : 0;
}

static int check_links(const struct pj_store *store, struct pj_error **err)
{
    for (const char *digit = "0123456789abcdef"; *digit; digit++) {
        char name[2] = {*digit, '\0'};
        struct stat status;
        if (fstatat(store->cache_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode))
            return pj_error_set(
                err, PJ_ERROR_ENVIRONMENT,
                "cannot use the cache directory %s: %s in it is %s, not a directory; remove it", store->path,
                name, S_ISLNK(status.st_mode) ? "a symbolic link" : "a file");
    }
    return 0;
}

/* Network file systems may refuse flock on a directory, which is open for reading only. */
static bool is_refusal(int errnum)
{
    return errnum == EBADF || errnum == EINVAL || errnum == ENOLCK || errnum == EOPNOTSUPP ||
           errnum == ENOSYS;
}

static int use_lock_file(struct pj_store *store, struct pj_error **err)
{
    if (mkdirat(store->cache_fd, ".prejit", 0700) != 0 && errno != EEXIST)
        return unusable(store, errno, "the folder .prejit cannot be created in it", err);
    PJ_CLEANUP_CLOSE int folder =
        openat(store->cache_fd, ".prejit", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = folder < 0 ? -1 : openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return unusable(store, errno, "the lock file .prejit/lock cannot be opened", err);
    pj_close(store->lock_fd);
    store->lock_fd = fd;
    return 0;
}

static long find_holder(const struct pj_store *store)
{
    PJ_CLEANUP_CLOSE int folder =
        openat(store->cache_fd, ".prejit", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder < 0 ? 0 : pj_run_find_holder(folder);
}

static int say_busy(const struct pj_store *store, long pid, struct pj_error **err)
{
    char waited[PJ_DURATION_TEXT], ended[64] = "now", holder[32] = "another prejit";
    if (pid > 0)
        (void)snprintf(holder, sizeof holder, "process %ld", pid);
    if (store->options.lock_wait_ms > 0)
        (void)snprintf(ended, sizeof ended, "and did not end within %s",
                       pj_text_from_ms(store->options.lock_wait_ms, waited));
    return pj_error_set(
        err, PJ_ERROR_BUSY,
        "cannot lock the cache %s: %s works on it %s; wait for it, or wait longer with --wait", store->path,
        holder, ended);
}

/* Runs take seconds to minutes, so polling is good enough, and nobody starves for long. */
static int take_run_lock(struct pj_store *store, struct pj_error **err)
{
    static const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    double end = pj_clock_ms() + store->options.lock_wait_ms;
    bool told = false, is_file = false;
    while (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (is_refusal(errno) && !is_file) {
            is_file = true;
            int r = use_lock_file(store, err);
            if (r < 0)
                return r;
            continue;
        }
        if (errno != EWOULDBLOCK)
            return unusable(store, errno, "its file system refuses locks", err);
        long pid = find_holder(store);
        if (pj_clock_ms() >= end)
            return say_busy(store, pid, err);
        if (!told && store->options.on_wait)
            store->options.on_wait(store->options.context, pid);
        told = true;
        if (store->options.is_interrupted && store->options.is_interrupted(store->options.context))
            return pj_error_set(err, PJ_ERROR_INTERRUPTED,
                                "interrupted while waiting for another prejit that works on %s", store->path);
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

/* A folder of this very name is left over from a process that had the same number and start time, or from an
 * earlier store of this process: it is set aside, to be harvested. */
static int set_aside(struct pj_store *store, struct pj_error **err)
{
    enum { NUMBERS = 1000 };
    for (int i = 0; i < NUMBERS; i++) {
        PJ_CLEANUP_FREE char *name = NULL;
        if (asprintf(&name, "%s.%d", store->run_name, i) < 0) {
            name = NULL;
            return pj_error_no_memory(err);
        }
        if (faccessat(store->prejit_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (renameat(store->prejit_fd, store->run_name, store->prejit_fd, name) == 0)
            return 0;
        return unusable(store, errno, "an old run folder cannot be renamed", err);
    }
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s/.prejit holds too many old run folders: remove them",
                        store->path);
}

static int make_prejit_folder(struct pj_store *store, struct pj_error **err)
{
    struct stat cache, folder;
    if (mkdirat(store->cache_fd, ".prejit", 0700) != 0 && errno != EEXIST)
        return unusable(store, errno, "the folder .prejit cannot be created in it", err);
    store->prejit_fd = openat(store->cache_fd, ".prejit", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (store->prejit_fd < 0)
        return unusable(store, errno, "its .prejit cannot be opened as a folder", err);
    if (fstat(store->cache_fd, &cache) != 0 || fstat(store->prejit_fd, &folder) != 0)
        return unusable(store, errno, "its .prejit cannot be looked at", err);
    if (geteuid() == 0 && pj_way_judge(store->prejit_fd, &folder) != PJ_WAY_CLOSED)
        return unusable(store, EPERM, "its .prejit is another user's, or others can write it", err);
    if (cache.st_dev != folder.st_dev)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "cannot use the cache directory %s: its .prejit is on another file system, so "
                            "nothing can be renamed into the cache; remove that mount",
                            store->path);
    return 0;
}

static int make_run_folder(struct pj_store *store, struct pj_error **err)
{
    uint64_t ticks = 0;
    (void)pj_run_start_time((long)getpid(), &ticks);
    if (asprintf(&store->run_name, "run-%ld-%" PRIu64, (long)getpid(), ticks) < 0) {
        store->run_name = NULL;
        return pj_error_no_memory(err);
    }
    int r = make_prejit_folder(store, err);
    if (r < 0)
        return r;
    if (mkdirat(store->prejit_fd, store->run_name, 0700) != 0) {
        r = errno == EEXIST ? set_aside(store, err) : unusable(store, errno, "it cannot be written to", err);
        if (r < 0)
            return r;
        if (mkdirat(store->prejit_fd, store->run_name, 0700) != 0)
            return unusable(store, errno, "it cannot be written to", err);
    }
    store->run_fd =
        openat(store->prejit_fd, store->run_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (store->run_fd < 0 || mkdirat(store->run_fd, "t", 0700) != 0)
        return unusable(store, errno, "it cannot be written to", err);
    pj_store_point(store, "S0.run-folder-made");
    r = pj_directory_open(store->run_fd, "t", false, &store->stage_fd, err);
    return r < 0 ? pj_error_wrap(err, r, "cannot use the cache directory %s", store->path) : 0;
}

static int store_start(struct pj_store *store, struct pj_error **err)
{
    int r = open_directory(store, err);
    if (r == 0)
        r = check_links(store, err);
    if (r == 0)
        r = take_run_lock(store, err);
    if (r == 0)
        r = make_run_folder(store, err);
    return r;
}

int pj_store_open(const struct pj_store_options *options, struct pj_store **ret_store, struct pj_error **err)
{
    if (!options->path || options->path[0] != '/' || !options->check_payload)
        return pj_error_set(err, PJ_ERROR_INTERNAL,
                            "the store needs an absolute path and a check of payloads");
    struct pj_store *store = calloc(1, sizeof *store);
    if (!store)
        return pj_error_no_memory(err);
    store->options = *options;
    store->lock_fd = store->cache_fd = store->prejit_fd = store->run_fd = store->stage_fd = -1;
    store->index_fd = -1;
    store->path = strdup(options->path);
    store->options.path = store->path;
    int r = store->path ? store_start(store, err) : pj_error_no_memory(err);
    if (r < 0) {
        pj_store_close(store, false);
        return r;
    }
    *ret_store = store;
    return 0;
}

static int add_folder(struct pj_store *store, const char *name, const char **ret_path, struct pj_error **err)
{
    for (size_t i = 0; i < store->folders.count; i++) {
        if (strcmp(store->folders.items[i].name, name) == 0) {
            *ret_path = store->folders.items[i].path;
            return 0;
        }
    }
    PJ_CLEANUP_FREE char *copy = strdup(name);
    PJ_CLEANUP_FREE char *path = NULL;
    if (asprintf(&path, "%s/.prejit/%s/%s", store->path, store->run_name, name) < 0)
        path = NULL;
    if (!copy || !path)
        return pj_error_no_memory(err);
    if (mkdirat(store->run_fd, name, 0700) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create the folder %s", path);
    pj_store_point(store, "S1.folder-made");
    struct pj_store_folder *folder = PJ_ARRAY_PUSH(&store->folders);
    if (!folder) {
        (void)unlinkat(store->run_fd, name, AT_REMOVEDIR);
        return pj_error_no_memory(err);
    }
    *folder = (struct pj_store_folder){.name = PJ_STEAL(copy), .path = PJ_STEAL(path)};
    *ret_path = folder->path;
    return 0;
}

int pj_store_private_folder(struct pj_store *store, size_t i, const char **ret_path, struct pj_error **err)
{
    char name[32];
    (void)snprintf(name, sizeof name, "w%zu", i);
    return add_folder(store, name, ret_path, err);
}

int pj_store_named_folder(struct pj_store *store, const char *name, const char **ret_path,
                          struct pj_error **err)
{
    /* One-letter names and w<number> are the store's own. */
    bool own = name[0] == 'w' && name[1 + strspn(name + 1, "0123456789")] == '\0';
    if (own || name[0] == '.' || strlen(name) < 2 || strchr(name, '/') || strcmp(name, "index") == 0)
        return pj_error_set(err, PJ_ERROR_INTERNAL, "\"%s\" cannot be the name of a folder of this run",
                            name);
    return add_folder(store, name, ret_path, err);
}

void pj_store_statistics(const struct pj_store *store, struct pj_store_statistics *ret_statistics)
{
    *ret_statistics = store->statistics;
}

int pj_store_keep(struct pj_store *store, uint64_t hash, struct pj_error **err)
{
    return pj_hashes_add(&store->kept, hash, err);
}

int pj_store_directory(const struct pj_store *store)
{
    return store->cache_fd;
}

int pj_store_remove_run_folder(struct pj_store *store, struct pj_error **err)
{
    if (store->run_fd < 0)
        return 0;
    int r = pj_tree_remove(store->prejit_fd, store->run_name, err);
    if (r < 0)
        return pj_error_wrap(err, r, "cannot remove this run's folder %s/.prejit/%s", store->path,
                             store->run_name);
    pj_close(PJ_STEAL_FD(store->run_fd));
    pj_store_point(store, "S8.run-folder-removed");
    return 0;
}

void pj_store_close(struct pj_store *store, bool keep_folder)
{
    if (!store)
        return;
    if (!keep_folder)
        (void)pj_store_remove_run_folder(store, NULL); /* the next run harvests what stays */
    pj_close(store->index_fd);
    pj_close(store->stage_fd);
    pj_close(store->run_fd);
    pj_close(store->prejit_fd);
    pj_close(store->cache_fd);
    for (size_t i = 0; i < store->folders.count; i++) {
        free(store->folders.items[i].name);
        free(store->folders.items[i].path);
    }
    free(store->folders.items);
    free(store->former.items);
    free(store->fresh);
    pj_hashes_free(&store->kept);
    pj_hashes_free(&store->refused);
    pj_index_free(&store->index);
    pj_buffer_free(&store->index_bytes);
    free(store->run_name);
    free(store->path);
    /* Last: a run that waits may start at once. */
    pj_close(store->lock_fd);
    free(store);
}
