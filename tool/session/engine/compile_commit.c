/* SPDX-License-Identifier: Apache-2.0 */
/* From private folders into the cache; and jobs whose entry is there already. */
#include <stdlib.h>

#include "base/memory.h"
#include "session/engine/compile_private.h"
#include "session/run/obstacle.h"
#include "session/run/outcome.h"

/* One entry of one job. */
struct owner {
    size_t job, entry;
};

static void take_item(struct pj_session *session, const struct owner *owner, struct pj_commit_item *item)
{
    struct pj_outcome *outcome = &session->outcomes[owner->job];
    struct pj_outcome_entry *entry = &outcome->entries[owner->entry];
    const char *message = item->message ? pj_obstacle_explain(session, item->hash, item->message) : NULL;
    switch (item->result) {
    case PJ_COMMIT_STORED:
    case PJ_COMMIT_PRESENT:
        entry->file_bytes = item->file_bytes;
        entry->mtime_seconds = item->mtime_seconds;
        pj_outcome_note_content(pj_store_directory(session->store), entry);
        break;
    case PJ_COMMIT_REJECTED:
        pj_outcome_fail(outcome, PJ_VERDICT_LOST, "entry-unsound",
                        message ? message : "what the driver stored is not sound");
        break;
    case PJ_COMMIT_TOO_LARGE:
        pj_outcome_fail(outcome, PJ_VERDICT_TOO_LARGE, "too-large", NULL); /* explain_too_large says why */
        break;
    case PJ_COMMIT_DISK_FULL:
        pj_outcome_fail(outcome, PJ_VERDICT_LOST, "disk-full",
                        "the disk is full, so it cannot go into the cache");
        break;
    case PJ_COMMIT_PENDING:
        break;
    }
    free(PJ_STEAL(item->message));
}

/* A job is in the cache when all its entries are; `items` and `owners` stand job by job. */
static void take_items(struct pj_session *session, const struct owner *owners, struct pj_commit_item *items,
                       size_t count)
{
    for (size_t i = 0; i < count;) {
        struct pj_outcome *outcome = &session->outcomes[owners[i].job];
        size_t job = owners[i].job;
        bool pending = false;
        for (; i < count && owners[i].job == job; i++) {
            pending |= items[i].result == PJ_COMMIT_PENDING;
            take_item(session, &owners[i], &items[i]);
        }
        if (pending || outcome->stage != PJ_STAGE_COMPILED)
            continue;
        outcome->stage = PJ_STAGE_PRESENT;
        outcome->evidence.entry_present = PJ_WITNESS_YES;
        outcome->evidence.entry_listed_before = true;
    }
}

static size_t collect_items(const struct pj_session *session, struct owner *owners,
                            struct pj_commit_item *items)
{
    size_t used = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_outcome *outcome = &session->outcomes[i];
        for (size_t k = 0; outcome->stage == PJ_STAGE_COMPILED && k < outcome->entry_count; k++) {
            owners[used] = (struct owner){.job = i, .entry = k};
            items[used++] =
                (struct pj_commit_item){.hash = outcome->entries[k].hash, .folder = outcome->folder};
        }
    }
    return used;
}

/* An entry that links share is in the cache for all of them as soon as it is for one; only the first of them
 * has been asked for. True where something is still pending beside what is not. */
static bool follow_twins(struct pj_commit_item *items, size_t count)
{
    bool some_pending = false, some_done = false;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; items[i].result == PJ_COMMIT_PENDING && k < count; k++) {
            if (items[k].hash != items[i].hash ||
                (items[k].result != PJ_COMMIT_STORED && items[k].result != PJ_COMMIT_PRESENT))
                continue;
            items[i].result = PJ_COMMIT_PRESENT;
            items[i].file_bytes = items[k].file_bytes;
            items[i].mtime_seconds = items[k].mtime_seconds;
        }
        some_pending |= items[i].result == PJ_COMMIT_PENDING;
        some_done |= items[i].result != PJ_COMMIT_PENDING;
    }
    return some_pending && some_done;
}

/* The reason is one for all of them, and the last commit knows it best. */
static int explain_too_large(struct pj_session *session, struct pj_error **err)
{
    const char *reason = NULL;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        if (outcome->verdict != PJ_VERDICT_TOO_LARGE)
            continue;
        int r = reason ? 0 : pj_outcome_why_too_large(session, &reason, err);
        if (r < 0)
            return r;
        outcome->reason = reason;
    }
    return 0;
}

int pj_compile_commit(struct pj_compile *compile, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    size_t count = 0;
    compile->ready_since_ms = 0;
    if (!session->plan || !session->outcomes || compile->in_place || session->format != PJ_FORMAT_KNOWN)
        return 0;
    for (size_t i = 0; i < session->plan->job_count; i++)
        count += session->outcomes[i].entry_count;
    PJ_CLEANUP_FREE struct pj_commit_item *items = calloc(count + 1, sizeof *items);
    PJ_CLEANUP_FREE struct owner *owners = calloc(count + 1, sizeof *owners);
    if (!items || !owners)
        return pj_error_no_memory(err);
    size_t used = collect_items(session, owners, items);
    int r = used > 0 ? pj_store_commit(session->store, session->stamp, items, used, err) : 0;
    /* Where the first of several was no good, the next one's may be. */
    if (r == 0 && follow_twins(items, used))
        r = pj_store_commit(session->store, session->stamp, items, used, err);
    if (r == 0)
        (void)follow_twins(items, used);
    for (size_t i = 0; i < used && r == 0; i++) {
        if (items[i].result == PJ_COMMIT_DISK_FULL)
            r = pj_outcome_blame_disk(session, err);
    }
    take_items(session, owners, items, used);
    return r == 0 && used > 0 ? explain_too_large(session, err) : r;
}

/* A worker that compiles what is in the cache already: it was given the job before the stamp was known. The
 * largest jobs come first, so what a killed run had compiled for minutes would else be waited for once more.
 */
static void call_off(struct pj_compile *compile, size_t job)
{
    for (size_t i = 0; i < compile->seat_count; i++) {
        struct pj_compile_seat *seat = &compile->seats[i];
        if (seat->state != PJ_SEAT_BUSY || seat->job != job)
            continue;
        pj_pool_stop(compile->pool, PJ_STEAL(seat->worker));
        seat->state = PJ_SEAT_EMPTY;
        compile->running--;
    }
}

/* No load would ever replace them [22]. */
static int remove_wrong(struct pj_session *session, const struct pj_outcome *outcome, struct pj_error **err)
{
    for (size_t i = 0; i < outcome->entry_count; i++) {
        char stamp[PJ_STAMP_MAX + 1];
        PJ_CLEANUP_FREE char *message = NULL;
        enum pj_entry_state state;
        int r = pj_entry_check(pj_store_directory(session->store), outcome->entries[i].hash, pj_check_payload,
                               &state, stamp, &message, err);
        if (r == 0 && state == PJ_ENTRY_PAYLOAD_WRONG)
            r = pj_store_remove(session->store, outcome->entries[i].hash, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int pj_compile_find_present(struct pj_compile *compile, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    int r = pj_plan_name(session->plan, session->stamp, err);
    bool called_off = false, waiting = false;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        const struct pj_job *job = &session->plan->jobs[i];
        bool compiling = outcome->stage == PJ_STAGE_COMPILING;
        if (!job->has_names || job->entry_count == 0 || (outcome->stage != PJ_STAGE_WAITING && !compiling))
            continue;
        enum pj_entry_state state;
        r = pj_outcome_set_entries(session, outcome, job->entries, job->entry_count, err);
        if (r == 0)
            r = pj_outcome_check_entry(session, i, pj_store_directory(session->store), &state, NULL, err);
        if (r < 0)
            return r;
        if (state == PJ_ENTRY_SOUND) {
            if (compiling)
                call_off(compile, i);
            called_off |= compiling;
            outcome->stage = PJ_STAGE_PRESENT;
            outcome->origin = PJ_ORIGIN_REUSED;
            if (compile->queue) /* else nobody was told of the job so far */
                pj_compile_tell(compile, i, "in the cache already", false);
            r = pj_outcome_keep_entries(session, outcome, err);
        } else {
            r = remove_wrong(session, outcome, err);
        }
        waiting |= outcome->stage == PJ_STAGE_WAITING;
    }
    return r == 0 && called_off && waiting ? pj_compile_start(compile, compile->seat_count, err) : r;
}
