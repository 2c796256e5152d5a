/* SPDX-License-Identifier: Apache-2.0 */
/* The fallback for an unknown cache format. */
#include "session/in_place.h"

#include <stdlib.h>

#include "session/accept.h"
#include "session/repair.h"
#include "session/run/outcome.h"
#include "session/run/result.h"

/* The driver's format is not ours. Working in place is right only where no store of this driver can delete
 * what lies there [20]: it has just shown that it accepts the index, or there is nothing to lose. */
static int refuse_danger(struct pj_engine *engine, struct pj_error **err)
{
    const struct pj_session *session = engine->session;
    enum pj_acceptance acceptance = PJ_ACCEPT_YES;
    struct pj_snapshot snapshot = {0};
    int r = pj_session_snapshot(session, &snapshot, err);
    size_t files = snapshot.count;
    pj_snapshot_free(&snapshot);
    if (r == 0 && files > 0)
        r = pj_accept_ask(engine, &acceptance, err);
    if (r < 0 || acceptance == PJ_ACCEPT_YES || session->interrupted || session->deadline_passed)
        return r;
    bool deletes = acceptance == PJ_ACCEPT_DELETES;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "%s the index of %s: its next store there %s delete %zu entry files of another "
                        "driver. Nothing was touched. Use "
                        "an empty cache directory, or move this one away",
                        deletes ? "this driver does not accept"
                                : "it could not be learned whether this driver accepts",
                        session->location.path, deletes ? "would" : "could", files);
}

/* That nothing was stored means nothing where stores of this format were not recognised, or were tried in a
 * private cache only. */
static bool is_waiting(const struct pj_outcome *outcome)
{
    return outcome->stage == PJ_STAGE_WAITING || outcome->stage == PJ_STAGE_COMPILING ||
           outcome->stage == PJ_STAGE_COMPILED ||
           (outcome->stage == PJ_STAGE_FAILED && outcome->verdict == PJ_VERDICT_LOST);
}

/* An unknown format: what is there already is found out by asking the driver, the rest is compiled straight
 * into the cache. */
int pj_in_place_work(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    pj_engine_restart_in_place(engine);
    int r = refuse_danger(engine, err);
    if (r == 0)
        r = pj_session_note(
            session, err,
            "this driver's cache format is not known to prejit %s: entries are compiled in place, "
            "without names, commit or checks by file",
            pj_result_tool_version());
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    if (r == 0 && !jobs)
        r = pj_error_no_memory(err);
    if (r < 0)
        return r;
    size_t count = pj_repair_collect(session, is_waiting, jobs);
    for (size_t i = 0; i < count; i++)
        session->outcomes[jobs[i]] =
            (struct pj_outcome){.stage = PJ_STAGE_PRESENT, .origin = PJ_ORIGIN_REUSED};
    r = pj_engine_prove(engine, jobs, count, 1, false, err);
    for (size_t i = 0; i < count && r == 0; i++) {
        struct pj_outcome *outcome = &session->outcomes[jobs[i]];
        if (outcome->evidence.hits == 0 && pj_outcome_is_open(outcome)) {
            outcome->stage = PJ_STAGE_WAITING;
            outcome->origin = PJ_ORIGIN_NONE;
        }
        pj_outcome_forget_evidence(outcome);
    }
    return r == 0 ? pj_repair_compile_and_prove(engine, err) : r;
}
