/* SPDX-License-Identifier: Apache-2.0 */
/* One worker process as the parent sees it: how it is started, with which environment, and how it ended. */
#ifndef PREJIT_JOB_CHILD_H
#define PREJIT_JOB_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/memory.h"

/** The environment a worker gets beyond what is passed on from the caller's. */
struct pj_child_environment {
    const char *cache_path;      /* CUDA_CACHE_PATH; NULL = CUDA_CACHE_DISABLE=1 */
    uint64_t cache_max_bytes;    /* CUDA_CACHE_MAXSIZE */
    bool disable_jit;            /* CUDA_DISABLE_PTX_JIT=1 */
    const char *visible_devices; /* CUDA_VISIBLE_DEVICES; NULL = the caller's */
    const char *library_path;    /* its folder comes first in LD_LIBRARY_PATH; NULL = the loader's rule */
    const char *temporary;       /* TMPDIR; NULL = the caller's */
};

/** NULL-terminated environment in `arena`: the caller's PATH, HOME, TMPDIR, LD_LIBRARY_PATH, NVIDIA_*,
 * CUDA_MPS_*, CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES, LANG=C, and what `wanted` adds. Nothing else
 * reaches the driver. NULL when memory is out. */
char **pj_child_environment(struct pj_arena *arena, char *const *caller,
                            const struct pj_child_environment *wanted);

/** The parent's descriptors of one worker; they do not block. */
struct pj_child_ends {
    int socket; /* messages */
    int words;  /* what it writes to standard error */
};

/** Starts `program` as a worker in `directory` (NULL = the caller's), in a process group of its own whose
 * number is *ret_pid. Its socket end is descriptor 3, everything above is closed. */
int pj_child_spawn(const char *program, char *const *environment, const char *directory, pid_t *ret_pid,
                   struct pj_child_ends *ret_ends, struct pj_error **err);

#endif
