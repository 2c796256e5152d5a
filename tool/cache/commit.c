/* SPDX-License-Identifier: Apache-2.0 */
/* Commit, S2 to S4: items become steps, steps go through a round, outcomes become results. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/store_private.h"

static int folder_open(struct pj_store *store, size_t number, int *ret_fd, struct pj_error **err)
{
    char name[32];
    (void)snprintf(name, sizeof name, "w%zu", number);
    return pj_directory_open(store->run_fd, name, false, ret_fd, err);
}

/* The steps, and for each the item it belongs to. */
struct batch {
    struct pj_step *steps;
    size_t *items;
    size_t count;
};

static void batch_free(struct batch *batch)
{
    free(batch->steps);
    free(batch->items);
}

/* The same entry twice in one call: the second stays pending and is found present by the next call. */
static bool is_staged(const struct batch *batch, uint64_t hash)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i].hash == hash)
            return true;
    }
    return false;
}

static int stage_items(struct pj_store *store, const char *stamp, struct pj_commit_item *items, size_t count,
                       struct batch *batch, struct pj_error **err)
{
    for (size_t i = 0; i < count; i++) {
        struct pj_commit_item *item = &items[i];
        if (item->result != PJ_COMMIT_PENDING || is_staged(batch, item->hash))
            continue;
        free(PJ_STEAL(item->message));
        PJ_CLEANUP_CLOSE int folder = -1;
        int r = folder_open(store, item->folder, &folder, err);
        if (r == 0)
            r = pj_stage_entry(store, folder, item->hash, stamp, &batch->steps[batch->count], &item->message,
                               err);
        if (r == 0)
            r = pj_hashes_add(&store->kept, item->hash, err);
        if (r < 0)
            return r;
        if (item->message)
            item->result = PJ_COMMIT_REJECTED;
        else
            batch->items[batch->count++] = i;
    }
    return 0;
}

/* Steps that found no room, moved to the front of `ret_short`. */
static size_t gather_short(const struct batch *batch, struct batch *ret_short)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i].outcome != PJ_STEP_NO_ROOM)
            continue;
        ret_short->steps[ret_short->count] = batch->steps[i];
        ret_short->steps[ret_short->count].outcome = PJ_STEP_WAITING;
        ret_short->items[ret_short->count++] = i;
    }
    return ret_short->count;
}

static int batch_make(size_t count, struct batch *ret_batch, struct pj_error **err)
{
    ret_batch->steps = calloc(count > 0 ? count : 1, sizeof *ret_batch->steps);
    ret_batch->items = calloc(count > 0 ? count : 1, sizeof *ret_batch->items);
    return ret_batch->steps && ret_batch->items ? 0 : pj_error_no_memory(err);
}

/* A second round for what did not fit, with the entries that may go: they are looked for only then, since
 * that reads the beginning of every file. */
static int run_short_of_room(struct pj_store *store, const char *stamp, struct batch *batch,
                             struct pj_error **err)
{
    __attribute__((cleanup(batch_free))) struct batch rest = {.count = 0};
    __attribute__((cleanup(pj_room_free))) struct pj_room room = {.stale_gone = 0};
    int r = batch_make(batch->count, &rest, err);
    if (r < 0 || gather_short(batch, &rest) == 0)
        return r;
    r = pj_room_collect(store, stamp, &room, err);
    if (r < 0 || room.stale.count + room.own.count == 0)
        return r;
    r = pj_round_run(store, rest.steps, rest.count, &room, err);
    store->statistics.stale_evicted += room.stale_gone;
    store->statistics.evicted += room.own_gone;
    for (size_t i = 0; i < rest.count; i++)
        batch->steps[rest.items[i]] = rest.steps[i];
    return r;
}

/* The same one again, for another of two links, takes no more room. */
static int refuse(struct pj_store *store, const struct pj_step *step, struct pj_error **err)
{
    for (size_t i = 0; i < store->refused.count; i++) {
        if (store->refused.items[i] == step->hash)
            return 0;
    }
    store->refused_bytes += step->file_bytes - PJ_ENTRY_HEADER_BYTES;
    return pj_hashes_add(&store->refused, step->hash, err);
}

static int set_result(struct pj_store *store, const struct pj_step *step, struct pj_commit_item *item,
                      struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    switch (step->outcome) {
    case PJ_STEP_DONE:
    case PJ_STEP_KEPT:
        item->result = step->outcome == PJ_STEP_DONE ? PJ_COMMIT_STORED : PJ_COMMIT_PRESENT;
        item->file_bytes = step->outcome == PJ_STEP_DONE ? step->file_bytes : (uint64_t)step->seen.st_size;
        item->mtime_seconds = step->mtime_seconds;
        return 0;
    case PJ_STEP_NO_ROOM:
        item->result = PJ_COMMIT_TOO_LARGE;
        return refuse(store, step, err);
    case PJ_STEP_IN_THE_WAY:
        item->result = PJ_COMMIT_REJECTED;
        if (asprintf(&item->message, "%s/%s is no regular file", store->path,
                     pj_entry_path(item->hash, path)) >= 0)
            return 0;
        item->message = NULL;
        return pj_error_no_memory(err);
    case PJ_STEP_WAITING:
    case PJ_STEP_CHANGED:
        break;
    }
    return 0; /* stays pending */
}

/* Foreseen, so that room is made in the order of the items: else later small ones would take what an earlier
 * large one could have had. */
static int foresee_room(struct pj_store *store, const char *stamp, const struct batch *batch,
                        struct pj_room *room, struct pj_error **err)
{
    int r = pj_index_file_acquire(store, false, NULL, err);
    if (r < 0)
        return r;
    uint64_t wanted = store->index.total_bytes;
    pj_index_file_release(store);
    for (size_t i = 0; i < batch->count; i++) {
        if (__builtin_add_overflow(wanted, batch->steps[i].file_bytes, &wanted))
            wanted = UINT64_MAX;
    }
    return wanted > store->options.limit_bytes ? pj_room_collect(store, stamp, room, err) : 0;
}

static int run_rounds(struct pj_store *store, const char *stamp, struct batch *batch, struct pj_error **err)
{
    __attribute__((cleanup(pj_room_free))) struct pj_room room = {.stale_gone = 0};
    if (batch->count == 0)
        return 0;
    int r = foresee_room(store, stamp, batch, &room, err);
    if (r < 0)
        return r;
    bool foreseen = room.stale.count + room.own.count > 0;
    r = pj_round_run(store, batch->steps, batch->count, foreseen ? &room : NULL, err);
    store->statistics.stale_evicted += room.stale_gone;
    store->statistics.evicted += room.own_gone;
    /* Programs may have filled the cache meanwhile. */
    return r == 0 && !foreseen ? run_short_of_room(store, stamp, batch, err) : r;
}

int pj_store_flush(const struct pj_store *store, struct pj_error **err)
{
    if (syncfs(store->cache_fd) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot flush the cache %s to its disk", store->path);
    pj_store_point(store, "S4.flushed");
    return 0;
}

static int commit_once(struct pj_store *store, const char *stamp, struct pj_commit_item *items, size_t count,
                       bool *ret_placed, struct pj_error **err)
{
    __attribute__((cleanup(batch_free))) struct batch batch = {.count = 0};
    int r = batch_make(count, &batch, err);
    if (r == 0)
        r = stage_items(store, stamp, items, count, &batch, err);
    if (r == 0)
        r = run_rounds(store, stamp, &batch, err);
    for (size_t i = 0; i < batch.count; i++)
        pj_stage_remove(store, batch.steps[i].hash);
    *ret_placed = r == 0;
    if (r == 0 && store->rebuild_needed)
        r = pj_store_adopt(store, NULL, err);
    if (r == 0 && batch.count > 0)
        r = pj_store_flush(store, err);
    for (size_t i = 0; i < batch.count && r == 0; i++)
        r = set_result(store, &batch.steps[i], &items[batch.items[i]], err);
    return r < 0 ? pj_error_wrap(err, r, "cannot commit to the cache %s", store->path) : 0;
}

/* An item that did not go in, and whose file takes room in its private folder: the largest one. */
static struct pj_commit_item *largest_pending(struct pj_store *store, struct pj_commit_item *items,
                                              size_t count)
{
    struct pj_commit_item *largest = NULL;
    off_t most = 0;
    for (size_t i = 0; i < count; i++) {
        char name[64], path[PJ_ENTRY_PATH_TEXT];
        struct stat status;
        (void)snprintf(name, sizeof name, "w%zu/%s", items[i].folder, pj_entry_path(items[i].hash, path));
        if (items[i].result == PJ_COMMIT_PENDING &&
            fstatat(store->run_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_nlink == 1 &&
            status.st_size > most) {
            largest = &items[i];
            most = status.st_size;
        }
    }
    return largest;
}

static void give_up(struct pj_store *store, struct pj_commit_item *item)
{
    char name[64], path[PJ_ENTRY_PATH_TEXT];
    (void)snprintf(name, sizeof name, "w%zu/%s", item->folder, pj_entry_path(item->hash, path));
    (void)unlinkat(store->run_fd, name, 0);
    for (char *slash; (slash = strrchr(name, '/')) && slash > strchr(name, '/');) {
        *slash = '\0'; /* its hash directories, where nothing else is in them */
        (void)unlinkat(store->run_fd, name, AT_REMOVEDIR);
    }
    item->result = PJ_COMMIT_DISK_FULL;
}

/* Entries go in by a rename, but hash directories and the index may grow. Where the disk has no room even for
 * that, one entry makes it for the others: else all of them would stay beside the cache and fill the disk. */
int pj_store_commit(struct pj_store *store, const char *stamp, struct pj_commit_item *items, size_t count,
                    struct pj_error **err)
{
    for (;;) {
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        bool placed = false;
        int r = commit_once(store, stamp, items, count, &placed, &problem);
        bool full = r < 0 && !placed && problem && pj_is_disk_full(problem->errnum);
        struct pj_commit_item *item = full ? largest_pending(store, items, count) : NULL;
        if (item) {
            give_up(store, item);
            continue;
        }
        if (r < 0 && err)
            *err = PJ_STEAL(problem);
        return r;
    }
}

static int compare_records(const void *a, const void *b)
{
    const struct pj_index_record *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static int is_listed(const struct pj_store *store, uint64_t hash, bool *ret_listed, struct pj_error **err)
{
    char name[PJ_ENTRY_NAME_TEXT];
    struct stat status;
    PJ_CLEANUP_CLOSE int folder = -1;
    *ret_listed = false;
    int r = pj_entry_folder_open(store->cache_fd, hash, &folder, err);
    if (r < 0 || folder < 0 ||
        fstatat(folder, pj_entry_name(hash, name), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode) || status.st_size < PJ_ENTRY_HEADER_BYTES)
        return r;
    struct pj_index_record wanted = {.hash = hash, .size = (uint64_t)status.st_size - PJ_ENTRY_HEADER_BYTES};
    *ret_listed = store->index.count > 0 && bsearch(&wanted, store->index.records, store->index.count,
                                                    sizeof wanted, compare_records) != NULL;
    return 0;
}

int pj_store_listed(struct pj_store *store, const uint64_t *hashes, size_t count, bool *ret_listed,
                    struct pj_error **err)
{
    int r = pj_index_file_acquire(store, false, NULL, err);
    if (r < 0)
        return r;
    pj_index_file_release(store);
    /* An index that is not valid keeps nothing: its records mean nothing then. The copy in memory is ours. */
    if (store->index_state != PJ_INDEX_VALID)
        store->index.count = 0;
    if (store->index.count > 1)
        qsort(store->index.records, store->index.count, sizeof *store->index.records, compare_records);
    for (size_t i = 0; i < count && r == 0; i++)
        r = is_listed(store, hashes[i], &ret_listed[i], err);
    return r < 0 ? pj_error_wrap(err, r, "cannot look at the cache %s", store->path) : 0;
}

int pj_store_remove(struct pj_store *store, uint64_t hash, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    struct pj_step step = {.hash = hash, .kind = PJ_STEP_REMOVE};
    int r = pj_round_run(store, &step, 1, NULL, err);
    if (r == 0 && store->rebuild_needed)
        r = pj_store_adopt(store, NULL, err);
    return r < 0 ? pj_error_wrap(err, r, "cannot remove the entry %s of the cache %s",
                                 pj_entry_path(hash, path), store->path)
                 : 0;
}
