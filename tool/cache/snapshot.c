/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a cache directory: the index and the files in the hash directories. */
#include "cache/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/way.h"
#include "cache/scan.h"

/* Value of a lower-case hex digit, -1 for anything else: the driver writes no other. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_name(const char *name, size_t digits, uint64_t *hash)
{
    uint64_t value = *hash;
    size_t i = 0;
    for (; i < digits && digit_value(name[i]) >= 0; i++)
        value = value << 4 | (uint64_t)digit_value(name[i]);
    if (i != digits || name[i] != '\0')
        return false;
    *hash = value;
    return true;
}

/* Of interest to root alone: who else decides what is in the file? `folder` is the mode of its directory:
 * where nobody else can pass that, nobody else reaches the file. */
static void judge_owner(const struct stat *status, mode_t folder, uint64_t hash, struct pj_snapshot *snapshot)
{
    bool open = (status->st_mode & S_IWOTH) || ((status->st_mode & S_IWGRP) && status->st_gid != 0);
    bool reached = (folder & (S_IXGRP | S_IXOTH)) != 0;
    if (geteuid() != 0 || (pj_way_trusts(status->st_uid) && !(open && reached)))
        return;
    if (snapshot->foreign_count++ > 0)
        return;
    snapshot->foreign_hash = hash;
    snapshot->foreign_uid = status->st_uid;
}

static int add_file(int fd, const char *name, mode_t folder, uint64_t hash, struct pj_snapshot *snapshot,
                    struct pj_error **err)
{
    struct stat status;
    if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) /* evicted a moment ago */
            return 0;
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat the entry %s", name);
    }
    if (!S_ISREG(status.st_mode))
        return 0;
    if (!pj_array_reserve((void **)&snapshot->entries, snapshot->count, &snapshot->capacity,
                          sizeof *snapshot->entries))
        return pj_error_no_memory(err);
    snapshot->entries[snapshot->count++] =
        (struct pj_snapshot_entry){.hash = hash,
                                   .size = (uint64_t)status.st_size,
                                   .mtime_seconds = status.st_mtim.tv_sec,
                                   .ctime_ns = pj_clock_ns(&status.st_ctim),
                                   .index_position = PJ_NOT_LISTED};
    snapshot->bytes += (uint64_t)status.st_size;
    judge_owner(&status, folder, hash, snapshot);
    return 0;
}

/* One folder without its permissions, in a directory of this user's own: its entries are not there for the
 * driver either, and the others are. Where the directory is somebody else's, the whole cache may be closed.
 */
static bool is_own_and_closed(int parent, int errnum)
{
    struct stat status;
    return errnum == EACCES && fstat(parent, &status) == 0 && status.st_uid == geteuid();
}

/* Takes over `fd`. Depth 0 is the cache, 1 and 2 are hash directories. */
static int scan(int fd, int depth, uint64_t hash, struct pj_snapshot *snapshot, struct pj_error **err)
{
    enum { FILE_DIGITS = 14, FOLDER_LEVELS = 2 };
    struct stat folder;
    PJ_CLEANUP_CLOSEDIR DIR *directory = fstat(fd, &folder) == 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        int saved = errno;
        pj_close(fd);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot list a hash directory");
    }
    for (;;) {
        errno = 0;
        const struct dirent *item = readdir(directory);
        if (!item)
            return errno ? pj_error_errno(err, PJ_ERROR_IO, errno, "cannot list a hash directory") : 0;
        uint64_t below = hash;
        if (!read_name(item->d_name, depth < FOLDER_LEVELS ? 1 : FILE_DIGITS, &below))
            continue;
        int r = 0;
        if (depth == FOLDER_LEVELS) {
            r = add_file(fd, item->d_name, folder.st_mode, below, snapshot, err);
        } else {
            int child = openat(fd, item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (child >= 0)
                r = scan(child, depth + 1, below, snapshot, err);
            else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && !is_own_and_closed(fd, errno))
                r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open the hash directory %s",
                                   item->d_name);
        }
        if (r < 0)
            return r;
    }
}

static int compare_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct pj_snapshot_entry *)a)->hash;
    uint64_t y = ((const struct pj_snapshot_entry *)b)->hash;
    return (x > y) - (x < y);
}

int pj_scan_entries(int cache_fd, struct pj_snapshot *snapshot, struct pj_error **err)
{
    int fd = -1;
    int r = pj_directory_open(cache_fd, ".", false, &fd, err);
    if (r == 0)
        r = scan(fd, 0, 0, snapshot, err);
    if (r == 0 && snapshot->count > 1)
        qsort(snapshot->entries, snapshot->count, sizeof *snapshot->entries, compare_hash);
    return r;
}

void pj_scan_positions(struct pj_snapshot *snapshot, const struct pj_index *index)
{
    for (size_t i = 0; i < index->count; i++) {
        struct pj_snapshot_entry key = {.hash = index->records[i].hash};
        struct pj_snapshot_entry *entry =
            snapshot->count > 0
                ? bsearch(&key, snapshot->entries, snapshot->count, sizeof *snapshot->entries, compare_hash)
                : NULL;
        if (entry && entry->index_position == PJ_NOT_LISTED)
            entry->index_position = i;
    }
}

/* A store in progress looks like a damaged index. A reader that was kept out for a while reads all the same:
 * somebody who holds the lock for seconds must not stop a report. */
static void lock_shared(int fd)
{
    enum { TRIES = 100 };
    static const struct timespec pause = {.tv_nsec = 1000 * 1000};
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    for (int i = 0; i < TRIES && fcntl(fd, F_OFD_SETLK, &lock) != 0; i++) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return;
        (void)nanosleep(&pause, NULL);
    }
}

static int read_index(int cache_fd, const char *path, struct pj_snapshot *snapshot, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *why = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    PJ_CLEANUP_CLOSE int fd = -1;
    struct stat status;
    int r = pj_index_open(cache_fd, path, false, &fd, &status, &why);
    if (r < 0 && why && why->errnum == ENOENT)
        return pj_index_read(NULL, 0, &snapshot->index, &snapshot->index_state, err);
    if (r < 0) {
        if (err)
            *err = PJ_STEAL(why);
        return r;
    }
    lock_shared(fd);
    r = pj_file_read_fd(fd, "index", PJ_INDEX_MAX_BYTES, &bytes, err);
    if (r < 0)
        return r;
    return pj_index_read(pj_buffer_text(&bytes), bytes.size, &snapshot->index, &snapshot->index_state, err);
}

int pj_snapshot_take(const char *path, struct pj_snapshot *ret_snapshot, struct pj_error **err)
{
    struct pj_snapshot snapshot = {.exists = false, .index_state = PJ_INDEX_ABSENT};
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open the cache directory %s", path);
    int r = 0;
    if (fd >= 0) {
        snapshot.exists = true;
        r = read_index(fd, path, &snapshot, err);
        if (r == 0)
            r = pj_scan_entries(fd, &snapshot, err);
    }
    if (r < 0) {
        pj_snapshot_free(&snapshot);
        return pj_error_wrap(err, r, "cannot read the cache %s", path);
    }
    pj_scan_positions(&snapshot, &snapshot.index);
    *ret_snapshot = snapshot;
    return 0;
}

const struct pj_snapshot_entry *pj_snapshot_find(const struct pj_snapshot *snapshot, uint64_t hash)
{
    struct pj_snapshot_entry key = {.hash = hash};
    return snapshot->count > 0
               ? bsearch(&key, snapshot->entries, snapshot->count, sizeof *snapshot->entries, compare_hash)
               : NULL;
}

void pj_snapshot_free(struct pj_snapshot *snapshot)
{
    pj_index_free(&snapshot->index);
    free(snapshot->entries);
    *snapshot = (struct pj_snapshot){.exists = false, .index_state = PJ_INDEX_ABSENT};
}
