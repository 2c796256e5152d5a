/* SPDX-License-Identifier: Apache-2.0 */
/* Proves what the cache holds; compiles nothing, writes nothing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cache/guard.h"
#include "session/against.h"
#include "session/engine/engine.h"
#include "session/frame/as_user.h"
#include "session/frame/opening.h"
#include "session/frame/request.h"
#include "session/receipt/other_build.h"
#include "session/receipt/reuse.h"
#include "session/run/outcome.h"
#include "session/run/result.h"
#include "session/run/unreadable.h"

/* What a job's entries were before a driver saw them: the state of the first that is not sound, and what is
 * wrong with it. */
struct seen {
    enum pj_entry_state state;
    const char *problem; /* NULL = nothing, or the file is not there, or its name is not known */
};

/* A load would hang in a named pipe, and read a file to its end however large it is. What the driver does
 * with a file whose size is not its header's is known: it compiles anew [21]. */
static bool is_not_for_loading(enum pj_entry_state state)
{
    return state == PJ_ENTRY_IN_THE_WAY || state == PJ_ENTRY_TRUNCATED;
}

/* Names and files: entries that can be named are looked at by file as well. `seen` has one for each job. */
static int check_entries(struct pj_session *session, struct seen *seen, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    int r = 0;
    if (session->format != PJ_FORMAT_KNOWN)
        return pj_session_note(session, err,
                               "entries are proven by loading alone; which files they are, and how large, is "
                               "told once `prejit warm` ran here with this driver");
    r = pj_plan_name(session->plan, session->stamp, err);
    if (r == 0)
        r = pj_reuse_links(session, err);
    (void)pj_session_open_cache(session, &cache_fd, &ignored);
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        const struct pj_job *job = &session->plan->jobs[i];
        struct pj_outcome *outcome = &session->outcomes[i];
        if (!pj_outcome_is_open(outcome))
            continue;
        if (job->has_names)
            r = pj_outcome_set_entries(session, outcome, job->entries, job->entry_count, err);
        if (r < 0 || outcome->entry_count == 0)
            continue;
        r = pj_outcome_check_entry(session, i, cache_fd, &seen[i].state, &seen[i].problem, err);
        if (r == 0 && seen[i].problem && is_not_for_loading(seen[i].state))
            pj_outcome_fail(outcome, PJ_VERDICT_MISSED, pj_outcome_damage_code(seen[i].state),
                            seen[i].problem);
        if (r == 0 && seen[i].state == PJ_ENTRY_ABSENT)
            outcome->evidence.entry_present = PJ_WITNESS_NO;
    }
    return r;
}

static void remember_colds(struct pj_session *session)
{
    const struct pj_receipt *receipt = session->receipt;
    for (size_t k = 0; receipt && k < receipt->job_count && k < session->plan->job_count; k++) {
        /* The receipt's jobs stand in the plan's order; one that does not is simply not remembered. */
        const struct pj_report_job *row = &receipt->jobs[k].row;
        struct pj_outcome *outcome = &session->outcomes[k];
        if (!row->has_cold_ms || row->offline_compiler) /* that is not what the driver would have taken */
            continue;
        if (strcmp(row->id, session->plan->jobs[k].id) != 0)
            continue;
        outcome->has_cold_ms = outcome->cold_from_receipt = true;
        outcome->cold_ms = row->cold_ms;
    }
}

static int prove_all(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    if (!jobs)
        return pj_error_no_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (pj_outcome_is_open(&session->outcomes[i]))
            jobs[count++] = i;
    }
    int r = pj_engine_prove(engine, jobs, count, session->manifest->verify_samples, false, err);
    if (r == 0 && !session->interrupted && !session->deadline_passed)
        r = pj_engine_prove_missed_alone(engine, err);
    for (size_t i = 0; i < count && r == 0; i++) {
        struct pj_outcome *outcome = &session->outcomes[jobs[i]];
        if (!pj_outcome_is_open(outcome))
            continue;
        outcome->stage = PJ_STAGE_PRESENT;
        outcome->origin =
            outcome->evidence.hits > 0 && outcome->evidence.misses == 0 ? PJ_ORIGIN_REUSED : PJ_ORIGIN_NONE;
        r = pj_outcome_judge(session, jobs[i], err);
    }
    return r;
}

static void fail_open_jobs(struct pj_session *session, const char *reason_code, const char *reason)
{
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (pj_outcome_is_open(&session->outcomes[i]))
            pj_outcome_fail(&session->outcomes[i], PJ_VERDICT_MISSED, reason_code, reason);
    }
}

/* Where a load could only miss, or do harm, none is made: the driver's open of a short index deletes every
 * entry [20], and in an empty cache it leaves an index behind, although verify writes nothing. */
static int settle_without_loading(struct pj_session *session, struct pj_error **err)
{
    struct pj_snapshot snapshot = {0};
    PJ_CLEANUP_ERROR struct pj_error *unreadable = NULL; /* for the driver, too: pj_unreadable_explain */
    int r = pj_session_snapshot(session, &snapshot, &unreadable);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    /* An index of another format may stand for entries that lie elsewhere: then the driver is asked. */
    bool readable = snapshot.index_state == PJ_INDEX_ABSENT || snapshot.index_state == PJ_INDEX_VALID;
    bool empty = r == 0 && snapshot.count == 0 && (!snapshot.exists || readable);
    bool danger = r == 0 && snapshot.count > 0 && snapshot.index_state == PJ_INDEX_SHORT;
    r = pj_guard_entries(&snapshot, session->location.path, err);
    pj_snapshot_free(&snapshot);
    if (r < 0)
        return r;
    if (empty)
        fail_open_jobs(session, "entry-absent", "no entry in the cache");
    if (danger)
        fail_open_jobs(session, "index-dangerous",
                       "not loaded: the cache's index is shorter than its count says, so the driver deletes "
                       "every entry when it next opens it");
    return 0;
}

/* An entry that is there and not sound is a miss of another kind than one that is not there. One that is
 * wrong loads, and gives the program another module's code. */
static void explain_damage(struct pj_session *session, const struct seen *seen)
{
    for (size_t i = 0; i < session->plan->job_count; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        bool wrong = seen[i].state == PJ_ENTRY_PAYLOAD_WRONG;
        bool missed = outcome->verdict == PJ_VERDICT_MISSED || outcome->verdict == PJ_VERDICT_EVICTED;
        if (!seen[i].problem || seen[i].state == PJ_ENTRY_ABSENT ||
            !(missed || (wrong && outcome->stage == PJ_STAGE_PRESENT)))
            continue;
        outcome->verdict = PJ_VERDICT_MISSED;
        outcome->reason_code = pj_outcome_damage_code(seen[i].state);
        outcome->reason = seen[i].problem;
    }
}

/* Not there, as far as anybody knows. */
static bool is_missing(const struct pj_outcome *outcome, const struct seen *seen)
{
    return outcome->verdict == PJ_VERDICT_MISSED && !seen->problem &&
           outcome->evidence.entry_present != PJ_WITNESS_YES;
}

/* After an upgrade all entries are another build's: that is the cause, which is said in place of its effect.
 */
static int explain_other_build(struct pj_session *session, const struct seen *seen, struct pj_error **err)
{
    const char *text = NULL;
    int r = pj_other_build(session, &text, err);
    for (size_t i = 0; i < session->plan->job_count && r == 0 && text; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        if (!is_missing(outcome, &seen[i]))
            continue;
        outcome->reason_code = "other-driver";
        outcome->reason = text;
    }
    return r;
}

/* What is missing may be on its way. */
static int blame_other_run(struct pj_session *session, const struct seen *seen, long pid,
                           struct pj_error **err)
{
    bool missing = false;
    for (size_t i = 0; i < session->plan->job_count; i++)
        missing |= is_missing(&session->outcomes[i], &seen[i]) && session->plan->jobs[i].required;
    if (!missing || pid == 0)
        return 0;
    const char *reason =
        pj_arena_printf(&session->arena, "another prejit (process %ld) works on this cache", pid);
    if (!reason)
        return pj_error_no_memory(err);
    pj_session_blame(session, PJ_EXIT_RETRY, reason);
    return 0;
}

static int prove_what_is_there(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE struct seen *seen = calloc(session->plan->job_count + 1, sizeof *seen);
    if (!seen)
        return pj_error_no_memory(err);
    long other_run = 0;
    if (!session->cache_absent)
        (void)pj_store_has_live_run(session->location.path, &other_run);
    remember_colds(session);
    int r = check_entries(session, seen, err);
    if (r == 0)
        r = settle_without_loading(session, err);
    if (r == 0)
        r = prove_all(engine, err);
    if (r == 0)
        explain_damage(session, seen);
    if (r == 0)
        r = explain_other_build(session, seen, err);
    if (r == 0)
        r = blame_other_run(session, seen, other_run, err);
    return r == 0 ? pj_unreadable_explain(session, err) : r;
}

int pj_verify(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    int r = pj_request_open(options, "verify", &session, err);
    if (r == 0)
        r = pj_opening_note_environment(session, err);
    if (r == 0)
        r = pj_as_user_refuse_foreign_cache(session, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_ENGINE struct pj_engine *engine = NULL;
    r = pj_engine_new(session, &engine, err);
    if (r == 0)
        r = pj_engine_meet_driver_to_prove(engine, err);
    if (r == 0 && session->outcomes)
        r = prove_what_is_there(engine, err);
    if (r == 0 && session->outcomes && (options->against_driver || options->measure_cold))
        r = pj_against_driver(session, err);
    if (r < 0)
        return r;
    pj_session_settle_early_end(session);
    pj_engine_free(PJ_STEAL(engine));
    return pj_result_from_session(&session, ret_result, err);
}
