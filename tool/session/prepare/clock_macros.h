/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a source asks when it is compiled. */
#ifndef PREJIT_SESSION_PREPARE_CLOCK_MACROS_H
#define PREJIT_SESSION_PREPARE_CLOCK_MACROS_H

#include "job/plan.h"

/** The first of `files` that has __TIME__ or __TIMESTAMP__ in it, in a comment or not, and the first with
 * __DATE__; NULL = none. A file that cannot be read has neither. */
int pj_clock_macros_find(const struct pj_plan_file *files, size_t count, const char **ret_time,
                         const char **ret_date, struct pj_error **err);

#endif
