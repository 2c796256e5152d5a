/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a job, in the classes that the last line names and the table shows first. Internal. */
#ifndef PREJIT_REPORT_TROUBLE_H
#define PREJIT_REPORT_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model.h"

/** In the order in which the last line names them. */
enum pj_trouble {
    PJ_TROUBLE_NONE,
    PJ_TROUBLE_TOO_LARGE,
    PJ_TROUBLE_FAILED,
    PJ_TROUBLE_PASSING, /* could not be proven now; the cause passes */
    PJ_TROUBLE_WRONG,   /* missed, with an entry that the driver believes and that is none of the module's */
    PJ_TROUBLE_COLD,    /* missed, lost, evicted */
    PJ_TROUBLE_UNDONE,  /* the run ended before it was decided */
    PJ_TROUBLE_UNPROVEN,
    PJ_TROUBLE_SLOW,
    PJ_TROUBLE_COUNT,
};

/** Does `report` come from a command that decides nothing about the cache? */
bool pj_report_is_plan(const struct pj_report *report);

/** The class of `job`, required or not. */
enum pj_trouble pj_report_trouble(const struct pj_report *report, const struct pj_report_job *job);

/** Does a visible GPU compile a required module at first use, because the manifest has no target for it? */
bool pj_report_is_unserved(const struct pj_report *report);

/** `has`, and a time that can be one: finite, not negative. */
bool pj_report_ms_known(bool has, double ms);

/** cold / warm median; false where either is not known or warm is 0. */
bool pj_report_speedup(const struct pj_report_job *job, double *ret_speedup);

#endif
