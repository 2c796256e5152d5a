/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what compilers and linkers of device code say about the resources of each kernel. */
#ifndef PREJIT_IMAGE_USAGE_H
#define PREJIT_IMAGE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/memory.h"

/** A number that the text has or has not: what is not said is not zero. */
struct pj_usage_number {
    bool known;
    uint64_t value;
};

/** A kernel, or a function that stayed one. Where a linker speaks of a kernel too, registers, barriers, whole
 * stack and constants are the linker's, which counts what is called. */
struct pj_usage_function {
    const char *name; /* mangled, as it is in the code */
    bool kernel;
    struct pj_arch arch; /* number 0: not said (functions, and kernels that only a linker speaks of) */
    struct pj_usage_number registers, barriers;
    struct pj_usage_number shared_bytes;        /* static; ptxas says it only where there is some */
    struct pj_usage_number linked_shared_bytes; /* as the linker counts: for sm_90, 1,024 more than a kernel's
                                                   own where that has any (13.0) */
    struct pj_usage_number stack_bytes;         /* its own frame */
    struct pj_usage_number whole_stack_bytes;   /* with what it calls; not known where that recurs */
    struct pj_usage_number spill_store_bytes, spill_load_bytes;
    struct pj_usage_number constant_bytes; /* cmem[0]; from sm_90 on the linker alone says it */
};

/** Everything lives in the arena given to pj_usage_read. */
struct pj_usage {
    struct pj_usage_function *functions; /* in the order of the text; one per kernel and architecture */
    size_t count, kernel_count;
    const char **warnings; /* whole lines, escaped */
    size_t warning_count;
};

enum { PJ_USAGE_BYTES_MAX = 64 * 1024 * 1024 };

/** Reads `size` bytes, up to the first NUL, of the text that `ptxas -v`, `nvlink -v`, nvJitLink's `-verbose`
 * or NVRTC's `--ptxas-options=-v` give; lines of other kinds are passed over, so that an empty result is no
 * failure. PJ_ERROR_FORMAT for more than PJ_USAGE_BYTES_MAX; PJ_ERROR_NO_MEMORY. */
int pj_usage_read(const char *text, size_t size, struct pj_arena *arena, struct pj_usage *ret,
                  struct pj_error **err);

#endif
