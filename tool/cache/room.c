/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries may go when room is short: those of other driver builds, then with --evict those of this one,
 * each oldest stored first. */
#include <stdlib.h>

#include "cache/store_private.h"

int pj_hashes_add(struct pj_hashes *hashes, uint64_t hash, struct pj_error **err)
{
    uint64_t *item = PJ_ARRAY_PUSH(hashes);
    if (!item)
        return pj_error_no_memory(err);
    *item = hash;
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void pj_hashes_sort(struct pj_hashes *hashes)
{
    if (hashes->count > 1)
        qsort(hashes->items, hashes->count, sizeof *hashes->items, compare);
}

bool pj_hashes_contain(const struct pj_hashes *hashes, uint64_t hash)
{
    return hashes->count > 0 &&
           bsearch(&hash, hashes->items, hashes->count, sizeof *hashes->items, compare) != NULL;
}

void pj_hashes_free(struct pj_hashes *hashes)
{
    free(hashes->items);
    *hashes = (struct pj_hashes){.items = NULL};
}

void pj_room_free(struct pj_room *room)
{
    pj_hashes_free(&room->stale);
    pj_hashes_free(&room->own);
}

int pj_index_file_hashes(struct pj_store *store, struct pj_hashes *ret_hashes, struct pj_error **err)
{
    struct pj_hashes hashes = {.items = NULL};
    int r = pj_index_file_acquire(store, false, NULL, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < store->index.count && r == 0; i++)
        r = pj_hashes_add(&hashes, store->index.records[i].hash, err);
    pj_index_file_release(store);
    if (r < 0) {
        pj_hashes_free(&hashes);
        return r;
    }
    *ret_hashes = hashes;
    return 0;
}

/* Entries of NVRTC and nvJitLink carry other stamps by nature; they are no more stale than this build's own.
 * What cannot be told is treated as this build's: it goes only where the user said so. */
int pj_room_collect(struct pj_store *store, const char *stamp, struct pj_room *ret_room,
                    struct pj_error **err)
{
    struct pj_room room = {.stale_gone = 0};
    __attribute__((cleanup(pj_hashes_free))) struct pj_hashes listed = {.items = NULL};
    int r = pj_index_file_hashes(store, &listed, err);
    pj_hashes_sort(&store->kept);
    for (size_t i = 0; i < listed.count && r == 0; i++) {
        uint64_t hash = listed.items[i];
        if (pj_hashes_contain(&store->kept, hash))
            continue;
        enum pj_entry_origin origin = pj_entry_peek(store->cache_fd, hash, stamp);
        if (origin == PJ_ENTRY_ORIGIN_STALE || origin == PJ_ENTRY_ORIGIN_ABSENT)
            r = pj_hashes_add(&room.stale, hash, err);
        else if (store->options.evict)
            r = pj_hashes_add(&room.own, hash, err);
    }
    if (r < 0) {
        pj_room_free(&room);
        return r;
    }
    *ret_room = room;
    return 0;
}
