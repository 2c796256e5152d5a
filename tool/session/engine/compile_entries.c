/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the entries in a private cache are a job's. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/entry.h"
#include "cache/format.h"
#include "session/engine/compile_private.h"

/* The hashes of the entries that are new; a path that is none of an entry does not count. */
static size_t read_new(const struct pj_wire_loaded *loaded, uint64_t *ret_hashes)
{
    size_t count = 0;
    for (uint32_t i = 0; i < loaded->entry_count; i++)
        count += pj_entry_path_read(loaded->entries[i].path, &ret_hashes[count]);
    return count;
}

static bool contains(const uint64_t *hashes, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (hashes[i] == hash)
            return true;
    }
    return false;
}

/* A first try that died behind the store left its entry, a link before this one that of an input they share:
 * the driver hits it and makes no new one. */
static bool was_stored_before(const struct pj_compile *compile, const struct pj_compile_seat *seat,
                              uint64_t hash)
{
    char path[PJ_ENTRY_PATH_TEXT];
    struct stat status;
    if (compile->in_place)
        return false;
    PJ_CLEANUP_FREE char *full = pj_path_join(seat->folder_path, pj_entry_path(hash, path));
    return full && stat(full, &status) == 0 && status.st_size > PJ_ENTRY_HEADER_BYTES;
}

/* All that were predicted: new, or there before. */
static void check_predicted(const struct pj_compile *compile, const struct pj_compile_seat *seat,
                            const struct pj_job *job, const uint64_t *fresh, size_t fresh_count,
                            struct pj_compile_entries *entries)
{
    entries->complete = entries->fresh = job->entry_count > 0;
    for (size_t i = 0; i < job->entry_count; i++) {
        uint64_t hash = job->entries[i];
        bool is_new = contains(fresh, fresh_count, hash);
        entries->fresh &= is_new;
        entries->complete &= is_new || was_stored_before(compile, seat, hash);
        entries->hashes[entries->count++] = hash;
    }
}

/* What is new is this job's, whatever was predicted. */
static void take_new(const uint64_t *fresh, size_t fresh_count, struct pj_compile_entries *entries)
{
    for (size_t i = 0; i < fresh_count; i++) {
        if (!contains(entries->hashes, entries->count, fresh[i]))
            entries->hashes[entries->count++] = fresh[i];
    }
}

int pj_compile_find_entries(const struct pj_compile *compile, const struct pj_compile_seat *seat,
                            const struct pj_job *job, const struct pj_wire_loaded *loaded,
                            struct pj_compile_entries *ret_entries, struct pj_error **err)
{
    PJ_CLEANUP_FREE uint64_t *fresh = calloc((size_t)loaded->entry_count + 1, sizeof *fresh);
    struct pj_compile_entries entries = {
        .hashes = calloc((size_t)loaded->entry_count + job->entry_count + 1, sizeof *entries.hashes)};
    if (!fresh || !entries.hashes) {
        free(entries.hashes);
        return pj_error_no_memory(err);
    }
    size_t fresh_count = read_new(loaded, fresh);
    check_predicted(compile, seat, job, fresh, fresh_count, &entries);
    bool several = job->link && !job->has_names;
    size_t expected = job->entry_count ? job->entry_count : 1;
    if (several && (entries.complete || job->entry_count == 0)) {
        take_new(fresh, fresh_count, &entries);
        entries.complete = entries.count > 0;
        entries.fresh |= job->entry_count == 0;
    } else if (!entries.complete && fresh_count == expected) {
        entries.count = 0;
        take_new(fresh, fresh_count, &entries);
        entries.fresh = entries.complete = true;
    }
    if (!entries.complete)
        entries.count = 0;
    *ret_entries = entries;
    return 0;
}

bool pj_compile_may_store_nothing(const struct pj_job *job)
{
    if (!job->link || job->entry_count > 0)
        return false;
    for (size_t i = 0; i < job->image_count; i++) {
        if (job->images[i]->contents.kind == PJ_INPUT_PTX)
            return false;
    }
    return true;
}
