/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what became of a module that is built, and what they add up to. */
#include "report/build.h"

static const char *const verdict_names[PJ_BUILD_VERDICT_COUNT] = {
    [PJ_BUILD_NOT_TRIED] = "not-tried",
    [PJ_BUILD_BUILT] = "built",
    [PJ_BUILD_REJECTED] = "rejected",
    [PJ_BUILD_INCOMPATIBLE] = "incompatible",
    [PJ_BUILD_CRASHED] = "crashed",
    [PJ_BUILD_TIMED_OUT] = "timed-out",
    [PJ_BUILD_OUT_OF_MEMORY] = "out-of-memory",
};

const char *pj_build_verdict_name(enum pj_build_verdict verdict)
{
    return verdict < PJ_BUILD_VERDICT_COUNT ? verdict_names[verdict] : "";
}

enum pj_exit pj_build_exit(const struct pj_build_report *report)
{
    enum pj_exit status = report->ended_by ? PJ_EXIT_RETRY : PJ_EXIT_OK;
    for (size_t i = 0; i < report->unit_count; i++) {
        const struct pj_build_unit *unit = &report->units[i];
        /* What an early end left untried is no failure of the module. */
        bool failed =
            unit->verdict == PJ_BUILD_NOT_TRIED ? !report->ended_by : unit->verdict != PJ_BUILD_BUILT;
        if (failed && unit->required)
            status = pj_exit_combine(status, PJ_EXIT_FAILED);
    }
    return status;
}
