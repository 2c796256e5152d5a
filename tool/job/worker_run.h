/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel run in a worker: what was loaded is not only accepted, but computes. */
#ifndef PREJIT_JOB_WORKER_RUN_H
#define PREJIT_JOB_WORKER_RUN_H

#include "job/worker_call.h"
#include "job/worker_driver.h"

/** Loads the one part, or links all of them and loads the result, with a context, which is made where there
 * is none, and launches `load->run_kernel` as the message's description says. What it wrote goes to the
 * descriptor behind those of the parts; where anything failed nothing is written.
 *
 * `result` is that of the first call that failed, whose name is the last line of the log where it is a call
 * behind the load; call_ms is that of the load, or of the link and the load, and the wall time, which a link
 * has none of, that of the load. After a launch that failed (700, 719) the context is good for nothing: the
 * worker is to be replaced. PJ_ERROR_WORKER for an order that is not one. */
int pj_worker_run(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                  const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                  struct pj_worker_call *call, struct pj_arena *arena, struct pj_wire_loaded *ret_loaded,
                  struct pj_error **err);

#endif
