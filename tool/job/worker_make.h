/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers in a worker: NVRTC, nvJitLink and ptxas behind one interface. */
#ifndef PREJIT_JOB_WORKER_MAKE_H
#define PREJIT_JOB_WORKER_MAKE_H

#include <limits.h>

#include "cuda/nvjitlink.h"
#include "cuda/nvrtc.h"
#include "job/worker_parts.h"
#include "job/worker_ptxas.h"

/** A worker's compiler once it was started. */
struct pj_worker_maker {
    enum pj_wire_library library;
    struct pj_nvrtc nvrtc;
    struct pj_nvjitlink linker;
    struct pj_worker_ptxas ptxas;
    char path[PATH_MAX]; /* the file that was opened, links resolved; "" = by the loader's rule */
    bool told_files;     /* the mapped files were told after the first order */
};

/** Opens the first of start->paths that is a usable library, or ptxas, telling its steps to `socket`. The
 * answer, failures of all of them among it, goes to *ret_started (strings in `arena`), whose texts are ""
 * before. */
int pj_worker_maker_start(struct pj_worker_maker *maker, const struct pj_wire_start *start, int socket,
                          struct pj_arena *arena, struct pj_wire_started *ret_started, struct pj_error **err);

/** Makes what the order asks for and writes it to the descriptors behind those of the parts. What the library
 * refuses is part of the answer. */
int pj_worker_make(struct pj_worker_maker *maker, const struct pj_wire_make *make,
                   const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                   struct pj_arena *arena, struct pj_wire_made *ret_made, struct pj_error **err);

/** The descriptor that `output` is to be written to; -1 where it was not asked for. */
int pj_worker_output(const struct pj_wire_make *make, const struct pj_wire_descriptors *descriptors,
                     enum pj_wire_output output);

/** Writes `bytes` to where `output` goes; nothing where it was not asked for. */
int pj_worker_write_output(const struct pj_wire_make *make, const struct pj_wire_descriptors *descriptors,
                           enum pj_wire_output output, const void *bytes, size_t size, struct pj_error **err);

/** The two libraries' part of pj_worker_make. */
int pj_worker_nvrtc_make(const struct pj_nvrtc *nvrtc, const struct pj_wire_make *make,
                         const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                         struct pj_wire_made *made, struct pj_error **err);
int pj_worker_nvjitlink_make(const struct pj_nvjitlink *linker, const struct pj_wire_make *make,
                             const struct pj_worker_parts *parts,
                             const struct pj_wire_descriptors *descriptors, struct pj_arena *arena,
                             struct pj_wire_made *made, struct pj_error **err);

#endif
