/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does with the driver: start it, load an image, describe what happened. */
#ifndef PREJIT_JOB_WORKER_DRIVER_H
#define PREJIT_JOB_WORKER_DRIVER_H

#include "base/memory.h"
#include "cuda/driver.h"
#include "job/wire.h"
#include "job/worker_parts.h"

/** A worker's driver once it was started. */
struct pj_worker_driver {
    struct pj_cuda cuda;
    CUdevice device;
    bool has_context;
    bool told_files; /* the mapped files were told after the first load */
};

/** Opens the driver and initialises it as `start` says, telling its steps to `socket`; the answer goes to
 * *ret_started (strings in `arena`), whose texts are "" before. Failures of the driver are part of the
 * answer; negative only for out of memory.
 */
int pj_worker_start(struct pj_worker_driver *driver, const struct pj_wire_start *start, int socket,
                    struct pj_arena *arena, struct pj_wire_started *ret_started, struct pj_error **err);

/** Makes the primary context of device `ordinal` current. */
CUresult pj_worker_make_context(struct pj_worker_driver *driver, int ordinal);

/** Loads the image, or links the parts, or runs a kernel, as `load` says and fills *ret_loaded but for the
 * entries. `descriptors` are those of the order. */
int pj_worker_load(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                   const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                   struct pj_arena *arena, struct pj_wire_loaded *ret_loaded, struct pj_error **err);

/** The library's files that are mapped into this process now, itself first, then its helpers. `opened`: the
 * path, links resolved, that it was opened by, whose name may be any; NULL where its name tells what it is.
 */
int pj_worker_list_files(enum pj_wire_library library, const char *opened, struct pj_arena *arena,
                         struct pj_wire_file **ret_files, uint32_t *ret_count, struct pj_error **err);

/** The most memory that this process has had; 0 = not known. */
uint64_t pj_worker_peak_rss_bytes(void);

#endif
