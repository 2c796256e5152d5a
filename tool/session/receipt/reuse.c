/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the receipt with the files it speaks of. */
#include "session/receipt/reuse.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/entry.h"
#include "session/receipt/identity.h"
#include "session/receipt/reuse_inputs.h"
#include "session/run/outcome.h"
#include "session/run/unreadable.h"

/* What root proved in an image layer may be closed to the user who runs there. Root itself reads everything.
 */
static bool is_readable(int cache_fd, uint64_t hash)
{
    char path[PJ_ENTRY_PATH_TEXT];
    return geteuid() == 0 || faccessat(cache_fd, pj_entry_path(hash, path), R_OK, AT_EACCESS) == 0;
}

/* What was proven was this content: an entry that was stored anew since may hold another compiler's. */
static bool same_content(const struct pj_receipt_entry *then, int cache_fd)
{
    uint64_t checksum = 0;
    int64_t ctime_ns;
    return then->checksum != 0 && pj_entry_peek_checksum(cache_fd, then->hash, &checksum, &ctime_ns) &&
           checksum == then->checksum;
}

/* No write and no rename leaves an inode's time as it was. */
static bool is_untouched(const struct pj_receipt_entry *then, const struct pj_snapshot_entry *now)
{
    return then->ctime_ns != 0 && now->ctime_ns == then->ctime_ns &&
           now->mtime_seconds == then->mtime_seconds;
}

/* Listed, readable, of the same size, and untouched. Where a time moved, the file is read, key and payload: a
 * write that gives the old mtime back, and a copy that was damaged on the way, leave size, header and mtime
 * as they were. */
static int same_entry(const struct pj_receipt_entry *then, const struct pj_snapshot *snapshot, int cache_fd,
                      bool *ret_same, struct pj_error **err)
{
    const struct pj_snapshot_entry *entry = pj_snapshot_find(snapshot, then->hash);
    *ret_same = false;
    if (!entry || entry->index_position == PJ_NOT_LISTED || entry->size != then->size_bytes ||
        !is_readable(cache_fd, then->hash))
        return 0;
    if (is_untouched(then, entry)) {
        *ret_same = true;
        return 0;
    }
    if (!same_content(then, cache_fd))
        return 0;
    enum pj_entry_state state;
    char stamp[PJ_STAMP_MAX + 1];
    PJ_CLEANUP_FREE char *message = NULL;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_entry_check(cache_fd, then->hash, pj_check_payload, &state, stamp, &message, &problem);
    /* One that cannot be read is none to rely on. */
    *ret_same = r == 0 && state == PJ_ENTRY_SOUND;
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

static int same_entries(const struct pj_receipt_job *job, const struct pj_snapshot *snapshot, int cache_fd,
                        bool *ret_same, struct pj_error **err)
{
    int r = 0;
    *ret_same = job->entry_count > 0;
    for (size_t i = 0; i < job->entry_count && *ret_same && r == 0; i++)
        r = same_entry(&job->entries[i], snapshot, cache_fd, ret_same, err);
    return r;
}

/* Another try would end as the last one did: proven; or not required, and the same driver refused the same
 * image. */
static bool is_settled(const struct pj_report_job *row)
{
    bool refused = row->verdict == PJ_VERDICT_REJECTED || row->verdict == PJ_VERDICT_INCOMPATIBLE;
    return row->verdict == PJ_VERDICT_PROVEN || row->verdict == PJ_VERDICT_SKIPPED ||
           (refused && !row->required);
}

static int all_entries_same(const struct pj_session *session, bool *ret_same, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    struct pj_snapshot snapshot = {0};
    int r = pj_session_snapshot(session, &snapshot, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    *ret_same = snapshot.exists && snapshot.index_state == PJ_INDEX_VALID &&
                pj_session_open_cache(session, &cache_fd, &ignored) == 0;
    for (size_t i = 0; i < receipt->job_count && *ret_same && r == 0; i++) {
        if (receipt->jobs[i].row.verdict == PJ_VERDICT_PROVEN) /* the others have no entry */
            r = same_entries(&receipt->jobs[i], &snapshot, cache_fd, ret_same, err);
    }
    pj_snapshot_free(&snapshot);
    return r;
}

/* Those that are needed. */
static bool same_compilers(const struct pj_session *session)
{
    const struct pj_receipt *receipt = session->receipt;
    bool nvrtc =
        !session->nvrtc.search || pj_identity_same_compiler(&session->nvrtc, receipt->nvrtc_search,
                                                            receipt->nvrtc_files, receipt->nvrtc_file_count);
    bool nvjitlink = !session->nvjitlink.search ||
                     pj_identity_same_compiler(&session->nvjitlink, receipt->nvjitlink_search,
                                               receipt->nvjitlink_files, receipt->nvjitlink_file_count);
    return nvrtc && nvjitlink;
}

int pj_reuse_everything(struct pj_session *session, bool *ret_nothing_to_do, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    *ret_nothing_to_do = false;
    if (session->options->check_stable && (session->nvrtc.search || session->nvjitlink.search))
        return 0; /* PTX is to be made all the same */
    if (!receipt || receipt->job_count == 0 || !session->same_driver || !session->same_gpus ||
        !session->same_request || !same_compilers(session))
        return 0;
    for (size_t i = 0; i < receipt->job_count; i++) {
        if (!is_settled(&receipt->jobs[i].row) || receipt->jobs[i].inputs_unknown)
            return 0;
    }
    bool same = false, usable = false;
    if (pj_store_has_dead_run(session->location.path)) /* somebody must clear up */
        return 0;
    int r = pj_unreadable_ask(session, &usable, err);
    if (r < 0 || !usable)
        return r;
    r = pj_reuse_inputs(session, &same, err);
    if (r == 0 && same)
        r = all_entries_same(session, &same, err);
    if (r == 0)
        *ret_nothing_to_do = same;
    return r;
}

static int compare_ids(const void *a, const void *b)
{
    const struct pj_receipt_job *x = *(const struct pj_receipt_job *const *)a;
    const struct pj_receipt_job *y = *(const struct pj_receipt_job *const *)b;
    return strcmp(x->row.id, y->row.id);
}

static int find_by_id(const void *key, const void *item)
{
    return strcmp(key, (*(const struct pj_receipt_job *const *)item)->row.id);
}

/* The evidence is the receipt's, what to make of it the manifest's: its thresholds may have changed. */
static int carry(struct pj_session *session, struct pj_outcome *outcome, const struct pj_receipt_job *job,
                 struct pj_error **err)
{
    outcome->stage = PJ_STAGE_CARRIED;
    outcome->verdict = PJ_VERDICT_PROVEN;
    outcome->origin = PJ_ORIGIN_REUSED;
    outcome->entry_count = job->entry_count;
    outcome->entries = pj_arena_calloc(&session->arena, job->entry_count + 1, sizeof *outcome->entries);
    if (!outcome->entries)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < job->entry_count; i++) {
        outcome->entries[i] = (struct pj_outcome_entry){.hash = job->entries[i].hash,
                                                        .file_bytes = job->entries[i].size_bytes,
                                                        .mtime_seconds = job->entries[i].mtime_seconds,
                                                        .checksum = job->entries[i].checksum,
                                                        .ctime_ns = job->entries[i].ctime_ns};
    }
    outcome->has_cold_ms = job->row.has_cold_ms;
    outcome->cold_ms = job->row.cold_ms;
    outcome->cold_from_receipt = true;
    outcome->warm = job->row.warm;
    outcome->witnesses = job->row.witnesses;
    int r = pj_outcome_keep_entries(session, outcome, err);
    return r == 0 ? pj_outcome_check_thresholds(session, outcome, err) : r;
}

/* What is known of a job's compile from an earlier run stays worth telling, even where the proof is made
 * anew. */
static void remember_cold(struct pj_outcome *outcome, const struct pj_receipt_job *job)
{
    outcome->before = job;
    if (!job->row.has_cold_ms || job->row.offline_compiler || outcome->stage == PJ_STAGE_FAILED)
        return; /* what another compiler took is not what the program would have waited */
    outcome->has_cold_ms = true;
    outcome->cold_ms = job->row.cold_ms;
    outcome->cold_from_receipt = true;
}

static int try_carry(struct pj_session *session, size_t i, const struct pj_receipt_job *then,
                     const struct pj_snapshot *snapshot, int cache_fd, struct pj_error **err)
{
    const struct pj_job *job = &session->plan->jobs[i];
    struct pj_outcome *outcome = &session->outcomes[i];
    if (memcmp(&then->content, &job->content, sizeof then->content) != 0 ||
        !pj_jit_options_equal(&then->row.options, &job->options))
        return 0;
    remember_cold(outcome, then);
    bool same = false;
    if (!session->same_driver || !session->same_gpus || then->row.verdict != PJ_VERDICT_PROVEN ||
        snapshot->index_state != PJ_INDEX_VALID || job->fate != PJ_JOB_OPEN ||
        session->now.samples != session->receipt->samples)
        return 0;
    int r = same_entries(then, snapshot, cache_fd, &same, err);
    return r == 0 && same ? carry(session, outcome, then, err) : r;
}

int pj_reuse_jobs(struct pj_session *session, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    if (!receipt || receipt->job_count == 0)
        return 0;
    PJ_CLEANUP_FREE struct pj_receipt_job **sorted = calloc(receipt->job_count + 1, sizeof *sorted);
    if (!sorted)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < receipt->job_count; i++)
        sorted[i] = &receipt->jobs[i];
    qsort(sorted, receipt->job_count, sizeof *sorted, compare_ids);
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    struct pj_snapshot snapshot = {0};
    int r = pj_session_snapshot(session, &snapshot, err);
    if (r < 0)
        return r;
    (void)pj_session_open_cache(session, &cache_fd, &ignored);
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        struct pj_receipt_job *const *found =
            bsearch(session->plan->jobs[i].id, sorted, receipt->job_count, sizeof *sorted, find_by_id);
        if (found)
            r = try_carry(session, i, *found, &snapshot, cache_fd, err);
    }
    pj_snapshot_free(&snapshot);
    return r;
}
