/* SPDX-License-Identifier: Apache-2.0 */
/* The option arrays of one driver call: the job's own options, and those that only observe. */
#ifndef PREJIT_JOB_WORKER_CALL_H
#define PREJIT_JOB_WORKER_CALL_H

#include "base/memory.h"
#include "cuda/driver.h"
#include "job/wire.h"

enum { PJ_CALL_LOG_BYTES = PJ_WIRE_LOG_MAX_BYTES / 2 };

struct pj_worker_call {
    CUjit_option names[PJ_WIRE_OPTIONS_MAX + 8];
    void *values[PJ_WIRE_OPTIONS_MAX + 8];
    unsigned count, wall_time;
    char error_log[PJ_CALL_LOG_BYTES], info_log[PJ_CALL_LOG_BYTES];
};

/** Exactly what a program passes: the job's options, and CU_JIT_TARGET where the order has a target. */
void pj_call_own_options(struct pj_worker_call *call, const struct pj_wire_load *load);

/** Adds wall time and logs, which add nothing to the key [4], and empties the logs. */
void pj_call_observe(struct pj_worker_call *call);

/** CU_JIT_WALL_TIME in milliseconds, after a call that was observed. */
double pj_call_wall_ms(const struct pj_worker_call *call);

/** Both logs, the error log first, into *ret_log. */
int pj_call_take_log(const struct pj_worker_call *call, struct pj_arena *arena, const char **ret_log,
                     struct pj_error **err);

#endif
