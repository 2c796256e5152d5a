/* SPDX-License-Identifier: Apache-2.0 */
/* From private folders into the cache; and jobs whose entry is there already. */
#include <stdlib.h>

#include "base/memory.h"
#include "session/compile_private.h"
#include "session/outcome.h"

static void take_commit(struct pj_session *session, size_t job, struct pj_commit_item *item)
{
    struct pj_outcome *outcome = &session->outcomes[job];
    const char *message = item->message ? pj_arena_strdup(&session->arena, item->message) : NULL;
    switch (item->result) {
    case PJ_COMMIT_STORED:
    case PJ_COMMIT_PRESENT:
        outcome->stage = PJ_STAGE_PRESENT;
        outcome->entry_file_bytes = item->file_bytes;
        outcome->entry_mtime_seconds = item->mtime_seconds;
        outcome->evidence.entry_present = PJ_WITNESS_YES;
        outcome->evidence.entry_listed_before = true;
        break;
    case PJ_COMMIT_REJECTED:
        pj_outcome_fail(outcome, PJ_VERDICT_LOST, "entry-unsound",
                        message ? message : "what the driver stored is not sound");
        break;
    case PJ_COMMIT_TOO_LARGE:
        pj_outcome_fail(outcome, PJ_VERDICT_TOO_LARGE, "too-large",
                        message ? message : "it does not fit under the cap");
        break;
    case PJ_COMMIT_PENDING:
        break;
    }
    free(item->message);
    item->message = NULL;
}

int pj_compile_commit(struct pj_compile *compile, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    size_t count = session->plan ? session->plan->job_count : 0, used = 0;
    compile->ready_since_ms = 0;
    if (!session->outcomes || compile->in_place || session->format != PJ_FORMAT_KNOWN)
        return 0;
    PJ_CLEANUP_FREE struct pj_commit_item *items = calloc(count + 1, sizeof *items);
    PJ_CLEANUP_FREE size_t *jobs = calloc(count + 1, sizeof *jobs);
    if (!items || !jobs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (session->outcomes[i].stage != PJ_STAGE_COMPILED)
            continue;
        jobs[used] = i;
        items[used++] = (struct pj_commit_item){.hash = session->outcomes[i].entry_hash,
                                                .folder = session->outcomes[i].folder};
    }
    int r = used > 0 ? pj_store_commit(session->store, session->stamp, items, used, err) : 0;
    for (size_t i = 0; i < used; i++)
        take_commit(session, jobs[i], &items[i]);
    return r;
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

int pj_compile_find_present(struct pj_compile *compile, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    int r = pj_plan_name(session->plan, session->stamp, err);
    bool called_off = false, waiting = false;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        const struct pj_job *job = &session->plan->jobs[i];
        bool compiling = outcome->stage == PJ_STAGE_COMPILING;
        if (!job->has_name || (outcome->stage != PJ_STAGE_WAITING && !compiling))
            continue;
        outcome->has_entry = true;
        outcome->entry_hash = job->entry_hash;
        enum pj_entry_state state;
        r = pj_outcome_check_entry(session, i, pj_store_directory(session->store), &state, err);
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
        } else if (state == PJ_ENTRY_PAYLOAD_WRONG) {
            r = pj_store_remove(session->store, outcome->entry_hash,
                                err); /* no load would ever replace it [22] */
        }
        waiting |= outcome->stage == PJ_STAGE_WAITING;
    }
    return r == 0 && called_off && waiting ? pj_compile_start(compile, compile->seat_count, err) : r;
}
