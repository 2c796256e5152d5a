/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an order, read into memory of the worker's own. */
#ifndef PREJIT_JOB_WORKER_PARTS_H
#define PREJIT_JOB_WORKER_PARTS_H

#include "base/buffer.h"
#include "job/wire.h"

struct pj_worker_parts {
    struct pj_buffer *items; /* each NUL-terminated behind its size */
    size_t count;
    bool same; /* all are what the parent hashed */
};

/** Reads every part from the descriptor at its place, so that nobody can change it under a compiler's eyes.
 * PJ_ERROR_WORKER where a descriptor is missing or a part is longer than it may be; `ret_parts` is to be
 * freed in any case. */
int pj_worker_parts_read(const struct pj_wire_part *parts, uint32_t count,
                         const struct pj_wire_descriptors *descriptors, struct pj_worker_parts *ret_parts,
                         struct pj_error **err);

void pj_worker_parts_free(struct pj_worker_parts *parts);
#define PJ_CLEANUP_PARTS __attribute__((cleanup(pj_worker_parts_free)))

#endif
