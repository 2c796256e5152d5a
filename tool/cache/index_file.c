/* SPDX-License-Identifier: Apache-2.0 */
/* The live `index`: made, opened, locked, read, written in place. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/lock.h"
#include "cache/scan.h"
#include "cache/store_private.h"

static const char index_name[] = "index";

/* Mode of the entries that are there, so that whoever could read the cache still can; the driver's 0666 less
 * the umask where there are none [cache-model 19]. */
static int stage_index(const struct pj_store *store, int *ret_fd, struct pj_error **err)
{
    unsigned char bytes[PJ_INDEX_HEADER_BYTES];
    pj_index_header_write(0, 0, bytes);
    (void)unlinkat(store->run_fd, index_name, 0);
    PJ_CLEANUP_CLOSE int fd =
        openat(store->run_fd, index_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create an index for %s", store->path);
    int r = pj_file_pwrite(fd, index_name, bytes, sizeof bytes, 0, err);
    if (r < 0)
        return r;
    pj_stage_like_entries(store, fd);
    *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}

/* The name appears with the header in it, so no moment leaves an index that makes the driver delete. Where
 * the file system has no hard links, the name is made first and is empty until the header is written under
 * the lock. */
static int create_index(struct pj_store *store, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int staged = -1;
    int r = stage_index(store, &staged, err);
    if (r < 0)
        return r;
    pj_store_point(store, "S0.index-staged");
    r = linkat(store->run_fd, index_name, store->cache_fd, index_name, 0) == 0 ? 0 : errno;
    (void)unlinkat(store->run_fd, index_name, 0);
    if (r != 0 && r != EEXIST) {
        PJ_CLEANUP_CLOSE int fd =
            openat(store->cache_fd, index_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        r = fd >= 0 ? 0 : errno;
    }
    if (r != 0 && r != EEXIST)
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, r, "cannot create %s/index", store->path);
    pj_store_point(store, "S0.index-created");
    return 0;
}

static int open_failed(const struct pj_store *store, int errnum, struct pj_error **err)
{
    struct stat status;
    if (errnum == ENOENT && fstatat(store->cache_fd, index_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(status.st_mode))
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "%s/index is a symbolic link to a file that does not exist: make that file or "
                            "remove the link",
                            store->path);
    return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errnum,
                          "cannot open %s/index to write; programs of this user find nothing in the cache "
                          "either",
                          store->path);
}

static int open_index(struct pj_store *store, struct pj_error **err)
{
    enum { TRIES = 3 };
    pj_close(store->index_fd);
    store->index_fd = -1;
    for (int i = 0; i < TRIES; i++) {
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        int r = pj_index_open(store->cache_fd, store->path, true, &store->index_fd, &store->index_status,
                              &problem);
        if (r == PJ_ERROR_IO && problem->errnum == EINVAL)
            return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                                "%s/index is no regular file: remove it, the driver makes another",
                                store->path);
        if (r < 0 && r != PJ_ERROR_IO && err)
            *err = PJ_STEAL(problem);
        if (r != PJ_ERROR_IO)
            return r;
        if (problem->errnum != ENOENT || i + 1 == TRIES)
            return open_failed(store, problem->errnum, err);
        r = create_index(store, err);
        if (r < 0)
            return r;
    }
    return open_failed(store, ENOENT, err);
}

bool pj_index_file_is_same(const struct pj_store *store)
{
    struct stat status;
    return store->index_fd >= 0 && fstatat(store->cache_fd, index_name, &status, 0) == 0 &&
           status.st_dev == store->index_status.st_dev && status.st_ino == store->index_status.st_ino;
}

double pj_index_file_held_ms(const struct pj_store *store)
{
    return pj_clock_ms() - store->held_since_ms;
}

/* A shared lock comes by waiting. An exclusive one may never come while programs read without pause. */
static int take_lock(struct pj_store *store, bool exclusive, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *starved = NULL;
    PJ_CLEANUP_ERROR struct pj_error *kept_out = NULL;
    if (!exclusive)
        return pj_lock_take(store->index_fd, false, PJ_STORE_INDEX_WAIT_MS, err);
    int r = pj_lock_take(store->index_fd, true, PJ_STORE_STARVED_MS, &starved);
    if (r == 0)
        return 0;
    if (r == PJ_ERROR_BUSY && pj_index_file_take_over(store, &kept_out) == 0)
        return 0;
    return pj_lock_take(store->index_fd, true, PJ_STORE_INDEX_WAIT_MS, err);
}

static int lock_and_read(struct pj_store *store, bool exclusive, struct pj_error **err)
{
    double asked = pj_clock_ms();
    int r = take_lock(store, exclusive, err);
    store->held_since_ms = pj_clock_ms();
    if (r < 0)
        return r;
    double waited = store->held_since_ms - asked;
    if (waited > store->statistics.longest_wait_ms)
        store->statistics.longest_wait_ms = waited;
    pj_buffer_reset(&store->index_bytes);
    r = pj_file_read_fd(store->index_fd, index_name, PJ_INDEX_MAX_BYTES, &store->index_bytes, err);
    if (r == 0)
        r = pj_index_reread(pj_buffer_text(&store->index_bytes), store->index_bytes.size, &store->index,
                            &store->index_state, err);
    if (r < 0)
        pj_index_file_release(store);
    return r;
}

int pj_index_file_acquire(struct pj_store *store, bool exclusive, enum pj_index_state *ret_found,
                          struct pj_error **err)
{
    enum { TRIES = 8 };
    bool absent = faccessat(store->cache_fd, index_name, F_OK, 0) != 0 && errno == ENOENT;
    for (int i = 0; i < TRIES; i++) {
        int r = pj_index_file_is_same(store) ? 0 : open_index(store, err);
        if (r == 0)
            r = lock_and_read(store, exclusive, err);
        if (r < 0)
            return pj_error_wrap(err, r, "cannot use the index of the cache %s", store->path);
        if (pj_index_file_is_same(store)) {
            if (absent)
                store->rebuild_needed = true;
            if (ret_found)
                *ret_found = absent ? PJ_INDEX_ABSENT : store->index_state;
            return 0;
        }
        pj_index_file_release(store); /* the name means another file by now */
    }
    return pj_error_set(err, PJ_ERROR_BUSY, "%s/index was replaced by another file %d times in a row",
                        store->path, TRIES);
}

void pj_index_file_release(struct pj_store *store)
{
    pj_lock_drop(store->index_fd);
    struct pj_store_statistics *statistics = &store->statistics;
    double held = pj_index_file_held_ms(store);
    if (held > statistics->longest_hold_ms)
        statistics->longest_hold_ms = held;
    statistics->lock_holds++;
    statistics->entries = store->index.count;
    statistics->total_bytes = store->index.total_bytes;
}

static int write_header(struct pj_store *store, size_t count, uint64_t total, struct pj_error **err)
{
    unsigned char bytes[PJ_INDEX_HEADER_BYTES];
    pj_index_header_write((uint32_t)count, total, bytes);
    int r = pj_file_pwrite(store->index_fd, index_name, bytes, sizeof bytes, 0, err);
    if (r < 0)
        return r;
    store->index.format = PJ_CACHE_FORMAT;
    store->index.count = count;
    store->index.total_bytes = total;
    store->index_state = PJ_INDEX_VALID;
    return 0;
}

int pj_index_file_make_valid(struct pj_store *store, struct pj_error **err)
{
    if (store->index_state == PJ_INDEX_VALID)
        return 0;
    if (store->index_state == PJ_INDEX_UNKNOWN_FORMAT)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "%s/index has the format number %u by now, and this version of prejit writes %d "
                            "alone; run again, which begins with the new one",
                            store->path, (unsigned)store->index.format, PJ_CACHE_FORMAT);
    /* What was readable gives the order of storing. */
    free(store->former.items);
    store->former.items = PJ_STEAL(store->index.records);
    store->former.count = store->index.count;
    store->index = (struct pj_index){.format = 0};
    int r = write_header(store, 0, 0, err);
    if (r < 0)
        return r;
    store->rebuild_needed = true;
    pj_store_point(store, "S0.index-made-valid");
    return 0;
}

int pj_index_file_grow(struct pj_store *store, size_t records, struct pj_error **err)
{
    size_t needed = PJ_INDEX_HEADER_BYTES + records * PJ_INDEX_RECORD_BYTES;
    if (store->no_preallocation || needed <= store->index_bytes.size)
        return 0;
    if (fallocate(store->index_fd, 0, 0, (off_t)needed) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) {
            store->no_preallocation = true;
            return 0;
        }
        int saved = errno;
        pj_index_file_release(store);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot make room in %s/index for %zu records",
                              store->path, records);
    }
    pj_index_file_release(store);
    (void)fdatasync(store->index_fd); /* a file that is too short after a power cut loses everything */
    pj_store_point(store, "S3.index-grown");
    return pj_index_file_acquire(store, true, NULL, err);
}

static int write_records(struct pj_store *store, const struct pj_index_record *records, size_t first,
                         size_t count, struct pj_error **err)
{
    pj_buffer_reset(&store->index_bytes);
    for (size_t i = first; i < count; i++) {
        unsigned char bytes[PJ_INDEX_RECORD_BYTES];
        pj_index_record_write(&records[i], bytes);
        pj_buffer_append(&store->index_bytes, bytes, sizeof bytes);
    }
    int r = pj_buffer_check(&store->index_bytes, err);
    if (r < 0 || count == first)
        return r;
    return pj_file_pwrite(store->index_fd, index_name, store->index_bytes.data, store->index_bytes.size,
                          PJ_INDEX_HEADER_BYTES + (uint64_t)first * PJ_INDEX_RECORD_BYTES, err);
}

/* After a write that failed: what was listed before shall be listed again. Nothing becomes longer by it, so
 * a full disk is not in the way; where the disk itself fails, entries stay unlisted, hit all the same, and
 * are listed by the next run. */
static void write_back(struct pj_store *store, size_t first, size_t count, uint64_t total)
{
    if (write_records(store, store->index.records, first, count, NULL) == 0)
        (void)write_header(store, count, total, NULL);
}

static int write_behind(struct pj_store *store, size_t first, size_t count, uint64_t total,
                        struct pj_error **err)
{
    int r = write_records(store, store->fresh, first, count, err);
    if (r < 0)
        return r;
    pj_store_point(store, "S3.records-written");
    r = write_header(store, count, total, err);
    if (r == 0)
        pj_store_point(store, "S3.header-written");
    return r;
}

int pj_index_file_replace(struct pj_store *store, size_t count, struct pj_error **err)
{
    const struct pj_index *index = &store->index;
    size_t first = 0;
    while (first < count && first < index->count && store->fresh[first].hash == index->records[first].hash &&
           store->fresh[first].size == index->records[first].size)
        first++;
    if (first == count && first == index->count)
        return 0;
    uint64_t before, total;
    if (count > UINT32_MAX || !pj_index_sum(store->fresh, first, &before) ||
        !pj_index_sum(store->fresh, count, &total))
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "the records of %s/index give a sum over 64 bits",
                            store->path);
    size_t listed = index->count;
    uint64_t listed_total = index->total_bytes;
    int r = 0;
    /* Records that the header counts are not touched: first it counts fewer. Entries behind that are not
     * listed for a moment, which harms none of them. */
    if (first < index->count) {
        r = write_header(store, first, before, err);
        if (r < 0)
            return r;
        pj_store_point(store, "S3.header-shortened");
    }
    r = write_behind(store, first, count, total, err);
    if (r < 0 && first < listed)
        write_back(store, first, listed, listed_total);
    return r;
}
