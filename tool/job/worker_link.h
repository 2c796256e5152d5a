/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's linker in a worker. */
#ifndef PREJIT_JOB_WORKER_LINK_H
#define PREJIT_JOB_WORKER_LINK_H

#include "job/worker_call.h"
#include "job/worker_driver.h"

/** Links all parts as `load` says, with a context, which is made where there is none. COMPILE and PROVE make
 * the same calls: what differs is whether the environment forbids JIT [27]. call_ms is cuLinkCreate to
 * cuLinkComplete; there is no wall time, because the final link takes some on a hit too [30]. */
int pj_worker_link(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                   const struct pj_worker_parts *parts, struct pj_worker_call *call, struct pj_arena *arena,
                   struct pj_wire_loaded *ret_loaded, struct pj_error **err);

/** Links all parts with the options in `call`, and copies the cubin to *ret_cubin, unless that is NULL; a
 * buffer that failed tells of no memory. Needs a context. */
CUresult pj_worker_link_parts(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                              const struct pj_worker_parts *parts, struct pj_worker_call *call,
                              struct pj_buffer *ret_cubin);

#endif
