/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which evidence becomes a verdict. */
#include "verify/judge.h"

#include <stddef.h>

/* CUresult numbers, pinned by CUDA's ABI; this module includes no CUDA header. */
enum {
    RESULT_SUCCESS = 0,
    RESULT_OUT_OF_MEMORY = 2,
    RESULT_INVALID_IMAGE = 200,
    RESULT_NO_BINARY_FOR_GPU = 209,
    RESULT_JIT_COMPILATION_DISABLED = 223,
    RESULT_INVALID_SOURCE = 300,
    RESULT_NOT_FOUND = 500,
};

enum pj_load_answer pj_load_read(int result, bool foreign)
{
    switch (result) {
    case RESULT_SUCCESS:
        return foreign ? PJ_LOAD_ODD : PJ_LOAD_HIT;
    case RESULT_INVALID_SOURCE:
        return foreign ? PJ_LOAD_HIT : PJ_LOAD_POISON;
    case RESULT_JIT_COMPILATION_DISABLED:
        return PJ_LOAD_MISS;
    case RESULT_INVALID_IMAGE:
    case RESULT_NO_BINARY_FOR_GPU:
        return PJ_LOAD_POISON;
    case RESULT_NOT_FOUND: /* what the code refers to */
        return foreign ? PJ_LOAD_ODD : PJ_LOAD_POISON;
    case RESULT_OUT_OF_MEMORY:
        return PJ_LOAD_MEMORY;
    default:
        return PJ_LOAD_ODD;
    }
}

static enum pj_witness jit_disabled_witness(const struct pj_evidence *evidence)
{
    if (evidence->misses || evidence->poisoned)
        return PJ_WITNESS_NO;
    return evidence->hits ? PJ_WITNESS_YES : PJ_WITNESS_UNKNOWN;
}

static void decide(const struct pj_evidence *evidence, struct pj_judgement *judgement)
{
    const struct {
        bool holds;
        enum pj_verdict verdict;
        const char *reason_code;
        bool passing;
    } rules[] = {
        /* Where the control fails, neither hits nor misses mean anything. */
        {evidence->canary == PJ_WITNESS_NO, PJ_VERDICT_INCONCLUSIVE, "control-failed", false},
        {evidence->poisoned > 0 && evidence->driver_made_it && evidence->entry_present != PJ_WITNESS_NO,
         PJ_VERDICT_REJECTED, "cannot-be-loaded", false},
        {evidence->poisoned > 0, PJ_VERDICT_MISSED, "entry-unusable", false},
        {evidence->misses > 0 && evidence->entry_present == PJ_WITNESS_NO && evidence->entry_listed_before,
         PJ_VERDICT_EVICTED, "evicted", false},
        {evidence->misses > 0 && evidence->entry_present == PJ_WITNESS_NO, PJ_VERDICT_MISSED, "entry-absent",
         false},
        {evidence->misses > 0, PJ_VERDICT_MISSED, "not-found-by-driver", false},
        {evidence->memory > 0, PJ_VERDICT_INCONCLUSIVE, "gpu-memory", true},
        {evidence->hits == 0 && evidence->passing_obstacle, PJ_VERDICT_INCONCLUSIVE, "no-context", true},
        {evidence->hits == 0 && evidence->lasting_obstacle, PJ_VERDICT_INCONCLUSIVE, "no-context", false},
        {evidence->odd > 0, PJ_VERDICT_INCONCLUSIVE, "unexpected-answer", false},
        {evidence->hits == 0, PJ_VERDICT_INCONCLUSIVE, "not-tried", true},
        {evidence->canary != PJ_WITNESS_YES, PJ_VERDICT_INCONCLUSIVE, "control-missing", false},
        {evidence->walls_not_zero > 0, PJ_VERDICT_INCONCLUSIVE, "wall-time-not-zero", false},
        {evidence->entry_present == PJ_WITNESS_NO, PJ_VERDICT_INCONCLUSIVE, "entry-unsound", false},
        {true, PJ_VERDICT_PROVEN, NULL, false},
    };
    size_t i = 0;
    while (!rules[i].holds)
        i++;
    judgement->verdict = rules[i].verdict;
    judgement->reason_code = rules[i].reason_code;
    judgement->passing = rules[i].passing;
}

void pj_judge(const struct pj_evidence *evidence, struct pj_judgement *ret_judgement)
{
    struct pj_judgement judgement = {.witnesses = {
                                         .jit_disabled = jit_disabled_witness(evidence),
                                         .canary = evidence->canary,
                                         .wall_time_zero = evidence->walls == 0           ? PJ_WITNESS_UNKNOWN
                                                           : evidence->walls_not_zero > 0 ? PJ_WITNESS_NO
                                                                                          : PJ_WITNESS_YES,
                                         .entry_present = evidence->entry_present,
                                         .faster = PJ_WITNESS_UNKNOWN,
                                     }};
    decide(evidence, &judgement);
    *ret_judgement = judgement;
}
