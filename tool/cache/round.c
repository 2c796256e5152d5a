/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: steps on index and files under the lock, in holds of limited time (S3). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/store_private.h"

/* So many files are touched in one hold. Taking records without a file out of the index touches none. */
enum { CHUNK = 64, CHUNK_OF_DROPS = 16384 };

/** After holds that took more than PJ_STORE_HOLD_MS together the lock is free for so long that whoever tries
 * every 10 ms, as the driver does [23], finds it free once. */
static const struct timespec pause_between = {.tv_nsec = 11 * 1000 * 1000};

enum { KIND_NONE = 0, KIND_STEP, KIND_STALE, KIND_OWN };

/* Open addressing: what the round wants to know of a hash, found in one pass over the index. */
struct slot {
    uint64_t hash;
    uint32_t kind, number;
};

struct table {
    struct slot *slots;
    size_t mask;
};

struct round {
    struct pj_store *store;
    struct table table;
    struct pj_room *room;
    /* positions of the entries that may go, in the order of the index */
    size_t *stale, *own;
    size_t stale_count, own_count, stale_next, own_next, positions_capacity;
    bool *gone; /* per record of store->fresh */
    size_t gone_capacity;
    size_t count;   /* records in store->fresh */
    uint64_t total; /* their sum without the gone ones */
};

static void round_free(struct round *round)
{
    free(round->table.slots);
    free(round->stale);
    free(round->own);
    free(round->gone);
}

static struct slot *table_find(const struct table *table, uint64_t hash)
{
    size_t i = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 20) & table->mask;
    while (table->slots[i].kind != KIND_NONE && table->slots[i].hash != hash)
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

static int table_make(struct round *round, const struct pj_step *steps, size_t count, struct pj_error **err)
{
    size_t wanted = count;
    if (round->room)
        wanted += round->room->stale.count + round->room->own.count;
    size_t size = 64;
    while (size < wanted * 2)
        size *= 2;
    round->table = (struct table){.slots = calloc(size, sizeof *round->table.slots), .mask = size - 1};
    if (!round->table.slots)
        return pj_error_no_memory(err);
    /* Steps come last and win: what this round is about does not go to make room. */
    for (int kind = KIND_STALE; round->room && kind <= KIND_OWN; kind++) {
        const struct pj_hashes *hashes = kind == KIND_STALE ? &round->room->stale : &round->room->own;
        for (size_t i = 0; i < hashes->count; i++)
            *table_find(&round->table, hashes->items[i]) =
                (struct slot){.hash = hashes->items[i], .kind = (uint32_t)kind};
    }
    for (size_t i = 0; i < count; i++)
        *table_find(&round->table, steps[i].hash) =
            (struct slot){.hash = steps[i].hash, .kind = KIND_STEP, .number = (uint32_t)i};
    return 0;
}

static int make_room_in_memory(struct round *round, struct pj_error **err)
{
    struct pj_store *store = round->store;
    size_t needed = store->index.count + CHUNK;
    if (needed > store->fresh_capacity) {
        void *grown = reallocarray(store->fresh, needed, sizeof *store->fresh);
        if (!grown)
            return pj_error_no_memory(err);
        store->fresh = grown;
        store->fresh_capacity = needed;
    }
    if (needed > round->gone_capacity) {
        void *grown = reallocarray(round->gone, needed, sizeof *round->gone);
        if (!grown)
            return pj_error_no_memory(err);
        round->gone = grown;
        round->gone_capacity = needed;
    }
    if (round->room && needed > round->positions_capacity) {
        void *stale = reallocarray(round->stale, needed, sizeof *round->stale);
        if (stale)
            round->stale = stale;
        void *own = reallocarray(round->own, needed, sizeof *round->own);
        if (own)
            round->own = own;
        if (!stale || !own)
            return pj_error_no_memory(err);
        round->positions_capacity = needed;
    }
    memset(round->gone, 0, needed * sizeof *round->gone);
    return 0;
}

/* One pass: copies the records, notes where the steps' entries and the ones that may go stand, and leaves out
 * those to drop, each of which may stand there several times. */
static int read_positions(struct round *round, struct pj_step *steps, size_t count, struct pj_error **err)
{
    struct pj_store *store = round->store;
    int r = make_room_in_memory(round, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        steps[i].position = PJ_STEP_UNLISTED;
        steps[i].listed_twice = false;
    }
    uint64_t dropped = 0;
    round->stale_count = round->own_count = round->stale_next = round->own_next = 0;
    for (size_t i = 0; i < store->index.count; i++) {
        store->fresh[i] = store->index.records[i];
        const struct slot *slot = table_find(&round->table, store->fresh[i].hash);
        if (slot->kind == KIND_STEP && steps[slot->number].kind == PJ_STEP_DROP)
            round->gone[i] = steps[slot->number].outcome != PJ_STEP_CHANGED;
        else if (slot->kind == KIND_STEP && steps[slot->number].position == PJ_STEP_UNLISTED)
            steps[slot->number].position = i;
        else if (slot->kind == KIND_STEP)
            steps[slot->number].listed_twice = true;
        else if (slot->kind == KIND_STALE)
            round->stale[round->stale_count++] = i;
        else if (slot->kind == KIND_OWN)
            round->own[round->own_count++] = i;
        if (round->gone[i])
            dropped += store->fresh[i].size;
    }
    round->count = store->index.count;
    round->total = store->index.total_bytes - dropped;
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file of a step now: 1 there, 0 absent. */
static int look(const struct pj_step *step, struct stat *ret_status)
{
    char name[PJ_ENTRY_NAME_TEXT];
    return step->folder >= 0 &&
           fstatat(step->folder, pj_entry_name(step->hash, name), ret_status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Records whose file is still missing. That is asked before the lock is taken: what a program stores in
 * between becomes unlisted at worst, which harms nothing [20], and the next run lists it. */
static void look_for_dropped(const struct pj_store *store, struct pj_step *steps, size_t count)
{
    for (size_t i = 0; i < count && steps[i].kind == PJ_STEP_DROP; i++) {
        char path[PJ_ENTRY_PATH_TEXT];
        struct stat ignored;
        bool gone = fstatat(store->cache_fd, pj_entry_path(steps[i].hash, path), &ignored,
                            AT_SYMLINK_NOFOLLOW) != 0 &&
                    (errno == ENOENT || errno == ENOTDIR);
        steps[i].outcome = gone ? PJ_STEP_WAITING : PJ_STEP_CHANGED;
    }
}

static uint64_t listed_size(const struct round *round, const struct pj_step *step)
{
    return step->position == PJ_STEP_UNLISTED ? 0 : round->store->fresh[step->position].size;
}

static void list(struct round *round, struct pj_step *step, uint64_t file_bytes)
{
    uint64_t size = file_bytes - PJ_ENTRY_HEADER_BYTES;
    round->total = round->total - listed_size(round, step) + size;
    if (step->position == PJ_STEP_UNLISTED) {
        step->position = round->count++;
        round->gone[step->position] = false;
    }
    round->store->fresh[step->position] = (struct pj_index_record){.hash = step->hash, .size = size};
}

static void unlist(struct round *round, size_t position)
{
    if (round->gone[position])
        return;
    round->gone[position] = true;
    round->total -= round->store->fresh[position].size;
}

/* Removes the file first: killed before the record goes, the next prepare drops the record. */
static int evict(struct round *round, size_t position, struct pj_error **err)
{
    char name[PJ_ENTRY_NAME_TEXT];
    uint64_t hash = round->store->fresh[position].hash;
    PJ_CLEANUP_CLOSE int folder = -1;
    int r = pj_entry_folder_open(round->store->cache_fd, hash, &folder, err);
    if (r < 0)
        return r;
    if (folder >= 0 && unlinkat(folder, pj_entry_name(hash, name), 0) != 0 && errno != ENOENT) {
        char path[PJ_ENTRY_PATH_TEXT];
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove the entry %s",
                              pj_entry_path(hash, path));
    }
    unlist(round, position);
    pj_store_point(round->store, "S3.evicted");
    return 0;
}

static uint64_t sum_at(const struct round *round, const size_t *positions, size_t first, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = first; i < count; i++)
        sum += round->store->fresh[positions[i]].size;
    return sum;
}

enum fit { FITS, FITS_NOT, FITS_LATER };

/* Makes room for `size` in place of `old`; nothing goes where even all of it would not help. */
static int make_room(struct round *round, uint64_t size, uint64_t old, enum fit *ret_fit,
                     struct pj_error **err)
{
    uint64_t limit = round->store->options.limit_bytes;
    uint64_t others = round->total - old;
    if (size <= limit && others <= limit - size) {
        *ret_fit = FITS;
        return 0;
    }
    uint64_t spare = sum_at(round, round->stale, round->stale_next, round->stale_count) +
                     sum_at(round, round->own, round->own_next, round->own_count);
    if (!round->room || size > limit || others - spare > limit - size) {
        *ret_fit = FITS_NOT;
        return 0;
    }
    for (size_t evicted = 0; round->total - old > limit - size; evicted++) {
        if (evicted > 0 && pj_index_file_held_ms(round->store) > PJ_STORE_HOLD_MS) {
            *ret_fit = FITS_LATER;
            return 0;
        }
        bool stale = round->stale_next < round->stale_count;
        size_t position = stale ? round->stale[round->stale_next++] : round->own[round->own_next++];
        int r = evict(round, position, err);
        if (r < 0)
            return r;
        if (stale)
            round->room->stale_gone++;
        else
            round->room->own_gone++;
    }
    *ret_fit = FITS;
    return 0;
}

static int put_in_place(struct round *round, struct pj_step *step, struct pj_error **err)
{
    char staged[PJ_STAGE_NAME_TEXT], name[PJ_ENTRY_NAME_TEXT], path[PJ_ENTRY_PATH_TEXT];
    if (step->folder < 0)
        return pj_error_set(err, PJ_ERROR_IO, "the hash directory of the entry %s was removed meanwhile",
                            pj_entry_path(step->hash, path));
    if (renameat(round->store->stage_fd, pj_stage_name(step->hash, staged), step->folder,
                 pj_entry_name(step->hash, name)) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot rename the new entry to %s",
                              pj_entry_path(step->hash, path));
    pj_store_point(round->store, "S3.renamed");
    return 0;
}

static int install(struct round *round, struct pj_step *step, enum fit *ret_fit, struct pj_error **err)
{
    struct stat now;
    bool there = look(step, &now);
    bool ours = there && now.st_ino == step->staged_inode && (uint64_t)now.st_size == step->file_bytes;
    bool keep = !ours && there && step->seen_sound && same_file(&now, &step->seen);
    uint64_t file_bytes = keep ? (uint64_t)now.st_size : step->file_bytes;
    *ret_fit = FITS;
    if (there && !S_ISREG(now.st_mode) && !S_ISLNK(now.st_mode)) {
        step->outcome = PJ_STEP_IN_THE_WAY;
        return 0;
    }
    if (keep && listed_size(round, step) == file_bytes - PJ_ENTRY_HEADER_BYTES) {
        step->mtime_seconds = now.st_mtim.tv_sec;
        step->outcome = PJ_STEP_KEPT;
        return 0;
    }
    int r = make_room(round, file_bytes - PJ_ENTRY_HEADER_BYTES, listed_size(round, step), ret_fit, err);
    if (r < 0 || *ret_fit == FITS_LATER)
        return r;
    if (*ret_fit == FITS_NOT) {
        step->outcome = PJ_STEP_NO_ROOM;
        return 0;
    }
    if (!ours && !keep) {
        r = put_in_place(round, step, err);
        if (r < 0)
            return r;
        if (!look(step, &now)) { /* removed by somebody who does not lock */
            step->outcome = PJ_STEP_CHANGED;
            return 0;
        }
    }
    step->mtime_seconds = now.st_mtim.tv_sec;
    list(round, step, file_bytes);
    step->outcome = keep ? PJ_STEP_KEPT : PJ_STEP_DONE;
    return 0;
}

static void list_present(struct round *round, struct pj_step *step)
{
    struct stat now;
    uint64_t size = (uint64_t)step->seen.st_size - PJ_ENTRY_HEADER_BYTES;
    if (!look(step, &now) || !same_file(&now, &step->seen)) {
        step->outcome = PJ_STEP_CHANGED;
        return;
    }
    uint64_t limit = round->store->options.limit_bytes;
    uint64_t others = round->total - listed_size(round, step);
    if (size > limit || others > limit - size) {
        step->outcome = PJ_STEP_NO_ROOM;
        return;
    }
    list(round, step, size + PJ_ENTRY_HEADER_BYTES);
    step->outcome = PJ_STEP_DONE;
}

/* A hash can stand there twice. */
static void unlist_all(struct round *round, const struct pj_step *step)
{
    size_t end = step->listed_twice ? round->count : step->position + 1;
    for (size_t i = step->position; step->position != PJ_STEP_UNLISTED && i < end; i++) {
        if (round->store->fresh[i].hash == step->hash)
            unlist(round, i);
    }
}

/* SWEEP, REMOVE. */
static int take_out(struct round *round, struct pj_step *step, struct pj_error **err)
{
    char name[PJ_ENTRY_NAME_TEXT], path[PJ_ENTRY_PATH_TEXT];
    struct stat now;
    bool there = look(step, &now);
    step->outcome = PJ_STEP_CHANGED;
    if (step->kind == PJ_STEP_SWEEP && (!there || !S_ISREG(now.st_mode) || now.st_size != 0))
        return 0;
    if (there && unlinkat(step->folder, pj_entry_name(step->hash, name), 0) != 0 && errno != ENOENT)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove the entry %s",
                              pj_entry_path(step->hash, path));
    if (there)
        pj_store_point(round->store, "S3.removed");
    unlist_all(round, step);
    step->outcome = PJ_STEP_DONE;
    return 0;
}

/* The hash directory is open for one step at a time: how many descriptors are left is not known here. */
static int apply_to_file(struct round *round, struct pj_step *step, enum fit *ret_fit, struct pj_error **err)
{
    int r = pj_entry_folder_open(round->store->cache_fd, step->hash, &step->folder, err);
    if (r == 0 && step->kind == PJ_STEP_INSTALL)
        r = install(round, step, ret_fit, err);
    else if (r == 0 && step->kind == PJ_STEP_LIST)
        list_present(round, step);
    else if (r == 0)
        r = take_out(round, step, err);
    pj_close(step->folder);
    step->folder = -1;
    return r;
}

static int apply(struct round *round, struct pj_step *step, enum fit *ret_fit, struct pj_error **err)
{
    *ret_fit = FITS;
    step->folder = -1;
    if (step->kind != PJ_STEP_DROP)
        return apply_to_file(round, step, ret_fit, err);
    if (step->outcome != PJ_STEP_CHANGED) /* read_positions left its records out */
        step->outcome = PJ_STEP_DONE;
    return 0;
}

static size_t close_gaps(struct round *round)
{
    size_t kept = 0;
    for (size_t i = 0; i < round->count; i++) {
        if (!round->gone[i])
            round->store->fresh[kept++] = round->store->fresh[i];
    }
    return kept;
}

/* Under the lock: as many of the steps as the time allows, one at least. The index is written also where a
 * step failed: it must list what the steps before it did. */
static int hold(struct round *round, struct pj_step *steps, size_t count, size_t *ret_through,
                struct pj_error **err)
{
    struct pj_store *store = round->store;
    int r = read_positions(round, steps, count, err);
    if (r < 0)
        return r;
    size_t through = 0;
    while (through < count && (through == 0 || steps[through].kind == PJ_STEP_DROP ||
                               pj_index_file_held_ms(store) < PJ_STORE_HOLD_MS)) {
        enum fit fit = FITS;
        r = apply(round, &steps[through], &fit, err);
        if (r < 0 || fit == FITS_LATER)
            break;
        through++;
    }
    int written = pj_index_file_replace(store, close_gaps(round), r < 0 ? NULL : err);
    *ret_through = through;
    return r < 0 ? r : written;
}

/* Exclusive lock, a valid index, and a file long enough for `more` records. */
static int acquire_with_room(struct pj_store *store, size_t more, struct pj_error **err)
{
    int r = pj_index_file_acquire(store, true, NULL, err);
    if (r < 0)
        return r;
    r = pj_index_file_make_valid(store, err);
    if (r == 0) {
        r = pj_index_file_grow(store, store->index.count + more, err);
        if (r < 0)
            return r; /* the lock is gone */
        /* It was given back where the file grew, and anything may have happened. */
        r = pj_index_file_make_valid(store, err);
    }
    if (r < 0)
        pj_index_file_release(store);
    return r;
}

/* One hold, from the lock to its return. Where the name `index` meant another file at the end, what was done
 * is done again on that one: every step finds its work in place. */
static int locked_hold(struct round *round, struct pj_step *steps, size_t count, size_t *ret_through,
                       struct pj_error **err)
{
    enum { TRIES = 8 };
    struct pj_store *store = round->store;
    for (int i = 0; i < TRIES; i++) {
        int r = acquire_with_room(store, steps[0].kind == PJ_STEP_DROP ? 0 : count, err);
        if (r < 0)
            return r;
        pj_store_point(store, "S3.locked");
        r = hold(round, steps, count, ret_through, err);
        bool same = pj_index_file_is_same(store);
        pj_index_file_release(store);
        pj_store_point(store, "S3.unlocked");
        if (r < 0 || same)
            return r;
    }
    return pj_error_set(err, PJ_ERROR_BUSY, "%s/index was replaced by another file %d times in a row",
                        store->path, TRIES);
}

/* As many of the steps as one hold takes: records to drop by themselves, which make the index no longer. */
static size_t next_chunk(const struct pj_step *steps, size_t count)
{
    size_t drops = 0;
    while (drops < count && drops < CHUNK_OF_DROPS && steps[drops].kind == PJ_STEP_DROP)
        drops++;
    return drops > 0 ? drops : count > CHUNK ? CHUNK : count;
}

int pj_round_run(struct pj_store *store, struct pj_step *steps, size_t count, struct pj_room *room,
                 struct pj_error **err)
{
    __attribute__((cleanup(round_free))) struct round round = {.store = store, .room = room};
    double begun_ms = pj_clock_ms();
    for (size_t first = 0, through = 0; first < count; first += through) {
        size_t chunk = next_chunk(steps + first, count - first);
        if (pj_clock_ms() - begun_ms > PJ_STORE_HOLD_MS) {
            (void)nanosleep(&pause_between, NULL);
            begun_ms = pj_clock_ms();
        }
        free(PJ_STEAL(round.table.slots));
        look_for_dropped(store, steps + first, chunk);
        int r = table_make(&round, steps + first, chunk, err);
        if (r == 0)
            r = locked_hold(&round, steps + first, chunk, &through, err);
        if (r < 0)
            return r;
    }
    return 0;
}
