/* SPDX-License-Identifier: Apache-2.0 */
/* What the jobs of an offline run come to: images to be compiled once each, and the entries that are there.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cache/format.h"
#include "session/offline/private.h"
#include "session/run/outcome.h"

/* One image of one job. */
struct reference {
    size_t job, index;
    const struct pj_job *of;
    const struct pj_plan_image *image;
};

/* By what the key has of the image first: files that differ behind a NUL are one unit. */
static int compare_references(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    int order = memcmp(&x->image->key, &y->image->key, sizeof x->image->key);
    if (order == 0)
        order = (x->of->target > y->of->target) - (x->of->target < y->of->target);
    if (order == 0)
        order = strcmp(x->of->option_text, y->of->option_text);
    if (order == 0)
        order = (x->job > y->job) - (x->job < y->job);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static bool same_unit(const struct reference *a, const struct reference *b)
{
    return memcmp(&a->image->key, &b->image->key, sizeof a->image->key) == 0 &&
           a->of->target == b->of->target && strcmp(a->of->option_text, b->of->option_text) == 0;
}

bool pj_offline_is_ptx(const struct pj_plan_image *image)
{
    return image->form == PJ_FORM_PTX || image->contents.kind == PJ_INPUT_PTX;
}

static int collect(const struct pj_offline *offline, struct reference **ret_references, size_t *ret_count,
                   struct pj_error **err)
{
    const struct pj_plan *plan = offline->session->plan;
    size_t most = 0, count = 0;
    for (size_t i = 0; i < plan->job_count; i++)
        most += plan->jobs[i].image_count;
    struct reference *references = calloc(most + 1, sizeof *references);
    if (!references)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->job_count; i++) {
        const struct pj_job *job = &plan->jobs[i];
        for (size_t k = 0; job->fate == PJ_JOB_OPEN && k < job->image_count; k++) {
            if (pj_offline_is_ptx(job->images[k]))
                references[count++] = (struct reference){i, k, job, job->images[k]};
        }
    }
    qsort(references, count, sizeof *references, compare_references);
    *ret_references = references;
    *ret_count = count;
    return 0;
}

/* Two inputs of a link with the same text are one unit. */
static void add_to_job(struct pj_offline *offline, size_t job, size_t unit)
{
    size_t *units = offline->job_units[job];
    for (size_t i = 0; i < offline->job_unit_counts[job]; i++) {
        if (units[i] == unit)
            return;
    }
    units[offline->job_unit_counts[job]++] = unit;
}

static int make_units(struct pj_offline *offline, const struct reference *references, size_t count,
                      struct pj_error **err)
{
    struct pj_session *session = offline->session;
    const struct pj_plan *plan = session->plan;
    offline->units = pj_arena_calloc(&session->arena, count + 1, sizeof *offline->units);
    offline->job_units = pj_arena_calloc(&session->arena, plan->job_count + 1, sizeof *offline->job_units);
    offline->job_unit_counts =
        pj_arena_calloc(&session->arena, plan->job_count + 1, sizeof *offline->job_unit_counts);
    if (!offline->units || !offline->job_units || !offline->job_unit_counts)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->job_count; i++) {
        offline->job_units[i] =
            pj_arena_calloc(&session->arena, plan->jobs[i].image_count + 1, sizeof *offline->job_units[i]);
        if (!offline->job_units[i])
            return pj_error_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        const struct reference *reference = &references[i];
        if (i == 0 || !same_unit(reference, &references[i - 1])) {
            struct pj_offline_unit *unit = &offline->units[offline->unit_count++];
            *unit = (struct pj_offline_unit){
                .job = reference->job,
                .index = reference->index,
                .image = reference->image,
                .target = reference->of->target,
                .option_text = reference->of->option_text,
                .entries = pj_arena_calloc(&session->arena, offline->profile_count, sizeof *unit->entries),
            };
            if (!unit->entries)
                return pj_error_no_memory(err);
        }
        add_to_job(offline, reference->job, offline->unit_count - 1);
    }
    return 0;
}

int pj_offline_read_image(struct pj_offline *offline, const struct pj_offline_unit *unit, bool *ret_same,
                          struct pj_error **err)
{
    const struct pj_job *job = &offline->session->plan->jobs[unit->job];
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    PJ_CLEANUP_CLOSE int fd = -1;
    struct pj_sha256 digest;
    pj_buffer_reset(&offline->image_bytes);
    int r = pj_job_open_image(job, unit->index, &fd, &problem);
    if (r == 0)
        r = pj_file_read_fd(fd, unit->image->path, unit->image->size_bytes, &offline->image_bytes, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    pj_sha256_of(pj_buffer_text(&offline->image_bytes), offline->image_bytes.size, &digest);
    *ret_same = r == 0 && memcmp(&digest, &unit->image->sha256, sizeof digest) == 0;
    return 0;
}

/* What the compiler gets: the file, or a copy of what stands before a NUL in it, which is all that a driver
 * reads [3]. */
static int make_part(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_error **err)
{
    const struct pj_plan_image *image = unit->image;
    const char *text = pj_buffer_text(&offline->image_bytes);
    size_t size = strnlen(text, offline->image_bytes.size);
    unit->part = (struct pj_making_part){.name = image->path,
                                         .path = image->path,
                                         .bytes = image->bytes,
                                         .size_bytes = image->size_bytes,
                                         .sha256 = image->sha256};
    if (size == offline->image_bytes.size)
        return 0;
    unit->part.bytes = pj_arena_strndup(&offline->session->arena, text, size);
    unit->part.size_bytes = size;
    pj_sha256_of(text, size, &unit->part.sha256);
    return unit->part.bytes ? 0 : pj_error_no_memory(err);
}

static void name_entries(const struct pj_offline *offline, struct pj_offline_unit *unit)
{
    for (size_t i = 0; i < offline->profile_count; i++)
        unit->entries[i].entry.hash =
            pj_cache_key_hash(offline->profiles[i].stamp, unit->target, pj_buffer_text(&offline->image_bytes),
                              offline->image_bytes.size, unit->option_text);
    unit->named = true;
}

/* One that a driver would believe and could not load is never replaced by it [22]. */
static int look(struct pj_offline *offline, struct pj_offline_entry *entry, struct pj_error **err)
{
    struct pj_store *store = offline->session->store;
    char stamp[PJ_STAMP_MAX + 1], path[PJ_ENTRY_PATH_TEXT];
    PJ_CLEANUP_FREE char *message = NULL;
    enum pj_entry_state state;
    struct stat status;
    uint64_t hash = entry->entry.hash;
    int cache = pj_store_directory(store);
    int r = pj_entry_check(cache, hash, pj_check_payload, &state, stamp, &message, err);
    if (r == 0 && state == PJ_ENTRY_PAYLOAD_WRONG)
        r = pj_store_remove(store, hash, err);
    if (r < 0 || state != PJ_ENTRY_SOUND ||
        fstatat(cache, pj_entry_path(hash, path), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return r;
    entry->there = true;
    entry->entry.file_bytes = (uint64_t)status.st_size;
    entry->entry.mtime_seconds = status.st_mtim.tv_sec;
    return pj_store_keep(store, hash, err);
}

static int look_for_entries(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < offline->profile_count && r == 0; i++)
        r = look(offline, &unit->entries[i], err);
    return r < 0 ? pj_error_wrap(err, r, "looking at the cache %s", offline->session->location.path) : 0;
}

bool pj_offline_is_missing(const struct pj_offline *offline, const struct pj_offline_unit *unit)
{
    for (size_t i = 0; i < offline->profile_count; i++) {
        if (!unit->entries[i].there)
            return true;
    }
    return false;
}

/* What the last offline run said of a job's entries is looked up by its id. */
static void remember(struct pj_session *session)
{
    const struct pj_receipt *receipt = session->receipt;
    for (size_t i = 0; receipt && receipt->offline.profile_count > 0 && i < session->plan->job_count; i++) {
        const struct pj_job *job = &session->plan->jobs[i];
        /* Mostly the jobs are the same ones, in the same order. */
        for (size_t k = 0; k < receipt->job_count; k++) {
            const struct pj_receipt_job *before = &receipt->jobs[(i + k) % receipt->job_count];
            if (strcmp(before->row.id, job->id) != 0)
                continue;
            if (memcmp(&before->content, &job->content, sizeof job->content) == 0)
                session->outcomes[i].before = before;
            break;
        }
    }
}

int pj_offline_find(struct pj_offline *offline, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct reference *references = NULL;
    size_t count = 0;
    int r = collect(offline, &references, &count, err);
    if (r == 0)
        r = make_units(offline, references, count, err);
    bool same = false;
    for (size_t i = 0; i < offline->unit_count && r == 0; i++) {
        struct pj_offline_unit *unit = &offline->units[i];
        if (i == 0 || memcmp(&unit->image->sha256, &unit[-1].image->sha256, sizeof unit->image->sha256) != 0)
            r = pj_offline_read_image(offline, unit, &same, err);
        if (r == 0 && !same) {
            unit->failure = PJ_VERDICT_REJECTED;
            unit->reason_code = "image-changed";
            unit->reason = PJ_FILE_CHANGED;
            continue;
        }
        if (r == 0)
            r = make_part(offline, unit, err);
        if (r == 0) {
            name_entries(offline, unit);
            r = look_for_entries(offline, unit, err);
        }
    }
    remember(offline->session);
    return r;
}
