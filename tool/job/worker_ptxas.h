/* SPDX-License-Identifier: Apache-2.0 */
/* ptxas in a worker: a program that is started once for each order, and dies with the worker. */
#ifndef PREJIT_JOB_WORKER_PTXAS_H
#define PREJIT_JOB_WORKER_PTXAS_H

#include <limits.h>

#include "job/wire.h"
#include "job/worker_parts.h"

enum { PJ_PTXAS_BUILD_TEXT = 32, PJ_PTXAS_LABEL_TEXT = 96 };

/** A ptxas that said who it is. Nothing is to be freed. */
struct pj_worker_ptxas {
    char program[PATH_MAX];          /* as it was named: a link may lead to what looks at its name */
    char build[PJ_PTXAS_BUILD_TEXT]; /* "13.0.88" */
    char label[PJ_PTXAS_LABEL_TEXT]; /* "cuda_13.0.r13.0/compiler.36424714_0"; "" = it tells none */
    int cuda_version;                /* 13000 */
    const char *descriptors; /* "/proc/self/fd": what is below it names open files; where it is not there,
                                private files in TMPDIR (else /tmp) take their place */
};

/** Runs `path --version`. PJ_ERROR_ENVIRONMENT where it cannot be started, fails, or does not answer as ptxas
 * does. Only the environment's PJ_ERROR_NO_MEMORY and PJ_ERROR_IO beside. */
int pj_worker_ptxas_open(const char *path, struct pj_worker_ptxas *ret_ptxas, struct pj_error **err);

/** Compiles the order's one part, PTX up to its first NUL, with the order's arguments, and writes what was
 * asked for of LOG (standard output and standard error together) and CUBIN. `made` tells how ptxas ended: 0,
 * or its exit status ("exit status 255"), 128 and the signal ("killed by signal 11"), or -1 where it could
 * not be started or said it was done without having made anything.
 *
 * The program gets the worker's environment, the PTX as its standard input, and no file that it could leave
 * behind, unless /proc is missing. A program that starts others is the only one that sees to them. */
int pj_worker_ptxas_make(const struct pj_worker_ptxas *ptxas, const struct pj_wire_make *make,
                         const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                         struct pj_arena *arena, struct pj_wire_made *made, struct pj_error **err);

#endif
