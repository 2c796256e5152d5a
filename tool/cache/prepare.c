/* SPDX-License-Identifier: Apache-2.0 */
/* S0: the index becomes valid, rubbish goes, sound files that nobody lists are listed. */
#include <stdlib.h>
#include <string.h>

#include "cache/guard.h"
#include "cache/scan.h"
#include "cache/store_private.h"

/* A step of the adoption with what decides its place: entries go in the order in which they were stored. */
struct candidate {
    struct pj_step step;
    size_t rank; /* position in the former index, SIZE_MAX where it was not there */
    bool was_listed;
};

struct adoption {
    struct pj_store *store;
    struct pj_snapshot files;
    struct {
        struct pj_step *items;
        size_t count, capacity;
    } removals;
    struct {
        struct candidate *items;
        size_t count, capacity;
    } candidates;
    uint64_t listed_bytes; /* sum of the records that stay */
};

static void adoption_free(struct adoption *adoption)
{
    pj_snapshot_free(&adoption->files);
    free(adoption->removals.items);
    free(adoption->candidates.items);
}

static int add_removal(struct adoption *adoption, enum pj_step_kind kind, uint64_t hash,
                       struct pj_error **err)
{
    struct pj_step *step = PJ_ARRAY_PUSH(&adoption->removals);
    if (!step)
        return pj_error_no_memory(err);
    *step = (struct pj_step){.hash = hash, .kind = kind};
    return 0;
}

/* Reads the whole file: a listing is a promise that later runs build on without looking again. */
static int add_candidate(struct adoption *adoption, const struct pj_snapshot_entry *file,
                         struct pj_store_preparation *done, struct pj_error **err)
{
    struct pj_store *store = adoption->store;
    PJ_CLEANUP_ENTRY struct pj_entry_contents entry = {.fd = -1};
    int r = pj_entry_load(store->cache_fd, file->hash, store->options.check_payload, &entry, err);
    if (r < 0)
        return r;
    if (entry.state == PJ_ENTRY_PAYLOAD_WRONG) {
        done->entries_dangerous++;
        done->dangerous_hash = file->hash;
    }
    if (entry.state != PJ_ENTRY_SOUND) {
        done->entries_unsound += entry.state != PJ_ENTRY_ABSENT && entry.state != PJ_ENTRY_PAYLOAD_WRONG;
        return 0;
    }
    struct candidate *candidate = PJ_ARRAY_PUSH(&adoption->candidates);
    if (!candidate)
        return pj_error_no_memory(err);
    *candidate = (struct candidate){
        .step = {.hash = file->hash, .kind = PJ_STEP_LIST, .seen = entry.status},
        .rank = SIZE_MAX,
        .was_listed = file->index_position != PJ_NOT_LISTED,
    };
    return 0;
}

/* Records whose file is gone only make the total larger than the cache [cache-model 43]. */
static int find_missing(struct adoption *adoption, struct pj_error **err)
{
    const struct pj_index *index = &adoption->store->index;
    for (size_t i = 0; i < index->count; i++) {
        if (pj_snapshot_find(&adoption->files, index->records[i].hash)) {
            adoption->listed_bytes += index->records[i].size;
            continue;
        }
        int r = add_removal(adoption, PJ_STEP_DROP, index->records[i].hash, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int find_files(struct adoption *adoption, struct pj_store_preparation *done, struct pj_error **err)
{
    const struct pj_index *index = &adoption->store->index;
    for (size_t i = 0; i < adoption->files.count; i++) {
        const struct pj_snapshot_entry *file = &adoption->files.entries[i];
        bool listed = file->index_position != PJ_NOT_LISTED;
        uint64_t size = listed ? index->records[file->index_position].size : 0;
        int r = 0;
        if (file->size == 0)
            r = add_removal(adoption, PJ_STEP_SWEEP, file->hash, err);
        else if (!listed || size != file->size - PJ_ENTRY_HEADER_BYTES)
            r = add_candidate(adoption, file, done, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    const struct timespec *s = &x->step.seen.st_mtim, *t = &y->step.seen.st_mtim;
    if (s->tv_sec != t->tv_sec)
        return s->tv_sec < t->tv_sec ? -1 : 1;
    if (s->tv_nsec != t->tv_nsec)
        return s->tv_nsec < t->tv_nsec ? -1 : 1;
    return (x->step.hash > y->step.hash) - (x->step.hash < y->step.hash);
}

static int compare_former(const void *a, const void *b)
{
    const struct pj_index_record *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* The former records become a table from hash to position. */
static void rank_candidates(struct adoption *adoption)
{
    struct pj_store *store = adoption->store;
    struct pj_index_record *former = store->former.items;
    size_t count = store->former.count;
    for (size_t i = 0; i < count; i++)
        former[i].size = i;
    if (count > 1)
        qsort(former, count, sizeof *former, compare_former);
    for (size_t i = 0; i < adoption->candidates.count && count > 0; i++) {
        struct candidate *candidate = &adoption->candidates.items[i];
        struct pj_index_record key = {.hash = candidate->step.hash};
        const struct pj_index_record *found = bsearch(&key, former, count, sizeof *former, compare_former);
        if (found) {
            candidate->rank = (size_t)found->size;
            candidate->was_listed = true;
        }
    }
    if (adoption->candidates.count > 1)
        qsort(adoption->candidates.items, adoption->candidates.count, sizeof *adoption->candidates.items,
              compare_candidates);
}

/* Listed above the limit they would only push out others at the next store; unlisted they still hit. So the
 * oldest stay out. */
static size_t first_that_fits(const struct adoption *adoption)
{
    uint64_t limit = adoption->store->options.limit_bytes;
    uint64_t sum = adoption->listed_bytes;
    size_t first = adoption->candidates.count;
    while (first > 0) {
        uint64_t file_bytes = (uint64_t)adoption->candidates.items[first - 1].step.seen.st_size;
        uint64_t size = file_bytes - PJ_ENTRY_HEADER_BYTES;
        if (size > limit || sum > limit - size)
            break;
        sum += size;
        first--;
    }
    return first;
}

static int run_adoption(struct adoption *adoption, struct pj_store_preparation *done, struct pj_error **err)
{
    size_t removals = adoption->removals.count;
    size_t first = first_that_fits(adoption);
    size_t count = removals + adoption->candidates.count - first;
    if (count == 0)
        return 0;
    PJ_CLEANUP_FREE struct pj_step *steps = calloc(count, sizeof *steps);
    if (!steps)
        return pj_error_no_memory(err);
    if (removals > 0)
        memcpy(steps, adoption->removals.items, removals * sizeof *steps);
    for (size_t i = removals; i < count; i++)
        steps[i] = adoption->candidates.items[first + i - removals].step;
    int r = pj_round_run(adoption->store, steps, count, NULL, err);
    for (size_t i = 0; i < count && r == 0; i++) {
        if (steps[i].outcome != PJ_STEP_DONE)
            continue;
        done->rubbish_removed += steps[i].kind == PJ_STEP_SWEEP;
        done->records_dropped += steps[i].kind == PJ_STEP_DROP;
        done->entries_adopted +=
            steps[i].kind == PJ_STEP_LIST && !adoption->candidates.items[first + i - removals].was_listed;
    }
    return r;
}

int pj_store_adopt(struct pj_store *store, struct pj_store_preparation *done, struct pj_error **err)
{
    struct pj_store_preparation ignored = {.can_commit = true};
    __attribute__((cleanup(adoption_free))) struct adoption adoption = {.store = store};
    if (!done)
        done = &ignored;
    /* The index before the files: what a program stores in between is then a file that is not listed, which
     * is looked at, and never a record that seems to have no file. */
    int r = pj_index_file_acquire(store, false, NULL, err);
    if (r < 0)
        return r;
    pj_index_file_release(store);
    if (store->index_state != PJ_INDEX_VALID)
        store->index.count = 0;
    r = pj_scan_entries(store->cache_fd, &adoption.files, err);
    if (r < 0)
        return r;
    pj_scan_positions(&adoption.files, &store->index);
    r = find_missing(&adoption, err);
    if (r == 0)
        r = find_files(&adoption, done, err);
    if (r == 0) {
        rank_candidates(&adoption);
        r = run_adoption(&adoption, done, err);
    }
    if (r < 0)
        return r;
    store->rebuild_needed = false;
    free(PJ_STEAL(store->former.items));
    store->former.count = 0;
    return 0;
}

static int count_files(struct pj_store *store, size_t *ret_count, struct pj_error **err)
{
    struct pj_snapshot files = {.exists = true};
    int r = pj_scan_entries(store->cache_fd, &files, err);
    if (r == 0)
        r = pj_guard_entries(&files, store->path, err);
    size_t count = files.count;
    pj_snapshot_free(&files);
    if (r == 0)
        *ret_count = count;
    return r;
}

/* A valid index, the usual case, is found so under a shared lock, which no reader keeps out. */
static int find_state(struct pj_store *store, struct pj_store_preparation *done, bool *ret_valid,
                      struct pj_error **err)
{
    int r = pj_index_file_acquire(store, false, &done->index_found, err);
    if (r < 0)
        return r;
    done->can_commit = store->index_state != PJ_INDEX_UNKNOWN_FORMAT;
    *ret_valid = store->index_state == PJ_INDEX_VALID;
    pj_index_file_release(store);
    return 0;
}

static int make_valid(struct pj_store *store, struct pj_error **err)
{
    int r = pj_index_file_acquire(store, true, NULL, err);
    if (r < 0)
        return r;
    r = pj_index_file_make_valid(store, err);
    pj_index_file_release(store);
    return r;
}

static int prepare(struct pj_store *store, struct pj_store_preparation *done, struct pj_error **err)
{
    int r = count_files(store, &done->in_place_danger, err);
    if (r < 0)
        return r;
    bool valid = false;
    r = find_state(store, done, &valid, err);
    if (r < 0 || !done->can_commit)
        return r; /* the danger stands */
    done->index_repaired = done->index_found != PJ_INDEX_VALID && done->in_place_danger > 0;
    done->in_place_danger = 0;
    if (!valid)
        r = make_valid(store, err);
    if (r == 0)
        r = pj_store_adopt(store, done, err);
    if (r == 0)
        r = pj_store_harvest(store, done, err);
    return r;
}

int pj_store_prepare(struct pj_store *store, struct pj_store_preparation *ret_done, struct pj_error **err)
{
    struct pj_store_preparation done = {.can_commit = false};
    int r = prepare(store, &done, err);
    if (r < 0)
        return pj_error_wrap(err, r, "cannot prepare the cache %s", store->path);
    *ret_done = done;
    return 0;
}
