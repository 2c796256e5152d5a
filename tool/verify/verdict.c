/* SPDX-License-Identifier: Apache-2.0 */
/* Names of verdicts, and the exit statuses they stand for. */
#include "verify/verdict.h"

static const char *const verdict_names[PJ_VERDICT_COUNT] = {
    [PJ_VERDICT_NONE] = "",
    [PJ_VERDICT_PROVEN] = "proven",
    [PJ_VERDICT_STORED] = "stored",
    [PJ_VERDICT_SKIPPED] = "skipped",
    [PJ_VERDICT_REJECTED] = "rejected",
    [PJ_VERDICT_INCOMPATIBLE] = "incompatible",
    [PJ_VERDICT_CRASHED] = "crashed",
    [PJ_VERDICT_TIMED_OUT] = "timed-out",
    [PJ_VERDICT_OUT_OF_MEMORY] = "out-of-memory",
    [PJ_VERDICT_MISSED] = "missed",
    [PJ_VERDICT_LOST] = "lost",
    [PJ_VERDICT_EVICTED] = "evicted",
    [PJ_VERDICT_TOO_LARGE] = "too-large",
    [PJ_VERDICT_INCONCLUSIVE] = "inconclusive",
};

const char *pj_verdict_name(enum pj_verdict verdict)
{
    return verdict < PJ_VERDICT_COUNT ? verdict_names[verdict] : "";
}

static enum pj_exit verdict_exit(enum pj_verdict verdict, bool passing)
{
    switch (verdict) {
    case PJ_VERDICT_NONE:
    case PJ_VERDICT_PROVEN:
    case PJ_VERDICT_STORED:
    case PJ_VERDICT_SKIPPED:
        return PJ_EXIT_OK;
    case PJ_VERDICT_REJECTED:
    case PJ_VERDICT_INCOMPATIBLE:
    case PJ_VERDICT_CRASHED:
    case PJ_VERDICT_TIMED_OUT:
    case PJ_VERDICT_OUT_OF_MEMORY:
        return PJ_EXIT_FAILED;
    case PJ_VERDICT_MISSED:
    case PJ_VERDICT_LOST:
    case PJ_VERDICT_EVICTED:
        return PJ_EXIT_COLD;
    case PJ_VERDICT_TOO_LARGE:
        return PJ_EXIT_ENVIRONMENT;
    case PJ_VERDICT_INCONCLUSIVE:
        return passing ? PJ_EXIT_RETRY : PJ_EXIT_COLD;
    case PJ_VERDICT_COUNT:
        break;
    }
    return PJ_EXIT_FAILED;
}

enum pj_exit pj_verdict_exit(enum pj_verdict verdict, bool passing, bool slow, bool required)
{
    if (!required)
        return PJ_EXIT_OK;
    return pj_exit_combine(verdict_exit(verdict, passing), slow ? PJ_EXIT_COLD : PJ_EXIT_OK);
}

/* Lower comes first. A status that is not in the list (of a signal, of a wrapped program) is never hidden by
 * one that is. */
static int exit_rank(enum pj_exit status)
{
    switch (status) {
    case PJ_EXIT_USAGE:
        return 1;
    case PJ_EXIT_ENVIRONMENT:
        return 2;
    case PJ_EXIT_FAILED:
        return 3;
    case PJ_EXIT_RETRY:
        return 4;
    case PJ_EXIT_COLD:
        return 5;
    case PJ_EXIT_OK:
        return 6;
    }
    return 0;
}

enum pj_exit pj_exit_combine(enum pj_exit a, enum pj_exit b)
{
    return exit_rank(a) <= exit_rank(b) ? a : b;
}
