/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of compiling and proving, until nothing that can be mended is missed. */
#include "session/repair.h"

#include <stdlib.h>

#include "session/run/outcome.h"

size_t pj_repair_collect(const struct pj_session *session, bool (*wanted)(const struct pj_outcome *),
                         size_t *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (wanted(&session->outcomes[i]))
            jobs[count++] = i;
    }
    return count;
}

static int judge_open(struct pj_session *session, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        if (pj_outcome_is_open(&session->outcomes[i]))
            r = pj_outcome_judge(session, i, err);
    }
    return r;
}

static bool repairable(const struct pj_outcome *outcome)
{
    /* COMPILED: it lies in a private folder, and no commit took it. */
    return (outcome->stage == PJ_STAGE_PRESENT || outcome->stage == PJ_STAGE_COMPILED) &&
           (outcome->verdict == PJ_VERDICT_MISSED || outcome->verdict == PJ_VERDICT_EVICTED);
}

/* What the driver did not find is compiled once more; an entry that it believes and cannot load must go
 * first, it would never be replaced [22]. Of a link's entries nobody tells which one it is: all go, and all
 * come back. */
static int send_back(struct pj_session *session, const size_t *jobs, size_t count, struct pj_error **err)
{
    for (size_t i = 0; i < count; i++) {
        struct pj_outcome *outcome = &session->outcomes[jobs[i]];
        bool poisoned = outcome->evidence.poisoned > 0 && session->format == PJ_FORMAT_KNOWN;
        for (size_t k = 0; poisoned && k < outcome->entry_count; k++) {
            int r = pj_store_remove(session->store, outcome->entries[k].hash, err);
            if (r < 0)
                return r;
        }
        outcome->evidence.entry_present = PJ_WITNESS_UNKNOWN;
        pj_outcome_forget_evidence(outcome);
        outcome->stage = PJ_STAGE_WAITING;
        outcome->attempts = outcome->proof_deaths = 0;
    }
    return 0;
}

enum { REPAIR_ROUNDS = 1, REPAIR_ROUNDS_IN_PLACE = 3 };

int pj_repair_compile_and_prove(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    if (!jobs)
        return pj_error_no_memory(err);
    for (unsigned round = 0;; round++) {
        int r = pj_engine_compile_and_prove(engine, session->manifest->verify_samples, err);
        if (r == 0 && session->format == PJ_FORMAT_OTHER && !engine->compile.in_place)
            return 0; /* the caller goes on in place */
        if (r == 0 && !session->interrupted && !session->deadline_passed)
            r = pj_engine_prove_missed_alone(engine, err);
        if (r == 0)
            r = judge_open(session, err);
        size_t count = pj_repair_collect(session, repairable, jobs);
        unsigned rounds = engine->compile.in_place ? REPAIR_ROUNDS_IN_PLACE : REPAIR_ROUNDS;
        if (r < 0 || count == 0 || round >= rounds || session->interrupted || session->deadline_passed)
            return r;
        r = send_back(session, jobs, count, err);
        if (r < 0)
            return r;
    }
}
