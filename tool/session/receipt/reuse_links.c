/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver keeps of a link is not always foreseen; what the last run saw still holds for the same
 * inputs and the same driver. */
#include <string.h>

#include "session/receipt/reuse.h"
#include "session/run/outcome.h"

static const struct pj_receipt_job *find(const struct pj_session *session, const struct pj_job *job)
{
    const struct pj_receipt *receipt = session->receipt;
    for (size_t i = 0; receipt && session->same_driver && i < receipt->job_count; i++) {
        const struct pj_receipt_job *then = &receipt->jobs[i];
        if (memcmp(&then->content, &job->content, sizeof then->content) == 0 &&
            strcmp(then->row.id, job->id) == 0 && pj_jit_options_equal(&then->row.options, &job->options))
            return then;
    }
    return NULL;
}

static int take_over(struct pj_session *session, struct pj_outcome *outcome,
                     const struct pj_receipt_job *then, struct pj_error **err)
{
    if (then->row.verdict == PJ_VERDICT_SKIPPED) {
        pj_outcome_fail(outcome, PJ_VERDICT_SKIPPED, then->row.reason_code, then->row.reason);
        return 0;
    }
    uint64_t *hashes = pj_arena_calloc(&session->arena, then->entry_count + 1, sizeof *hashes);
    if (!hashes)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < then->entry_count; i++)
        hashes[i] = then->entries[i].hash;
    return pj_outcome_set_entries(session, outcome, hashes, then->entry_count, err);
}

int pj_reuse_links(struct pj_session *session, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        const struct pj_job *job = &session->plan->jobs[i];
        struct pj_outcome *outcome = &session->outcomes[i];
        if (!job->link || !pj_outcome_is_open(outcome) || (job->has_names && job->entry_count > 0))
            continue;
        const struct pj_receipt_job *then = find(session, job);
        if (job->has_names)
            pj_outcome_fail(outcome, PJ_VERDICT_SKIPPED, "nothing-to-warm", PJ_NOTHING_TO_WARM);
        else if (then)
            r = take_over(session, outcome, then, err);
    }
    return r;
}
