/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code in a cubin: which functions have some, and whether two cubins have the same. */
#ifndef PREJIT_IMAGE_CODE_H
#define PREJIT_IMAGE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum pj_code_equality {
    PJ_CODE_SAME,      /* the same sections with the same bytes */
    PJ_CODE_BYTES,     /* `section` has other bytes in b, from `offset` on */
    PJ_CODE_SIZE,      /* `section` has a_bytes in a and b_bytes in b; what both have is the same */
    PJ_CODE_ONLY_IN_A, /* `section` is missing in b */
    PJ_CODE_ONLY_IN_B,
    PJ_CODE_UNREADABLE_A, /* a is no cubin whose sections can be read; nothing was compared */
    PJ_CODE_UNREADABLE_B,
};

enum { PJ_CODE_SECTION_TEXT = 256 };

/** What pj_code_compare found: the first difference, in the order of a's sections. */
struct pj_code_difference {
    enum pj_code_equality equality;
    char section[PJ_CODE_SECTION_TEXT]; /* ".text.saxpy", cut where longer; "" for SAME and UNREADABLE */
    uint64_t offset;                    /* in the section */
    uint64_t a_bytes, b_bytes;          /* the section's sizes; 0 where it is missing */
    size_t section_count;               /* how many sections with code a has; two without any are the SAME */
};

/** Compares the sections `.text` and `.text.*` of two cubins by name and bytes, whatever their order; where a
 * name occurs several times, the first with the first and so on. All else, such as the compiler's own notes,
 * is not looked at: ptxas and the driver differ there [cache-model 33]. Gives 1 where the code is the same,
 * else 0; PJ_ERROR_NO_MEMORY is the only failure. The bytes may lie at any address, every offset in them is
 * checked. */
int pj_code_compare(const void *a, size_t a_size, const void *b, size_t b_size,
                    struct pj_code_difference *ret_difference, struct pj_error **err);

/** Gives, in *ret_index, the index of the first of `wanted` (mangled) names of which the cubin has no kernel
 * with code, or `count` where it has them all; functions that kernels call do not count, and what cannot be
 * read as a cubin has none. The cubin is walked once, however many names there are. PJ_ERROR_NO_MEMORY is the
 * only failure. */
int pj_code_missing_kernel(const void *cubin, size_t size, const char *const *wanted, size_t count,
                           size_t *ret_index, struct pj_error **err);

/** Gives, in *ret_name, the first kernel (by name) with code in the cubin that is not among `names`, or NULL
 * where there is none; the text lies in the cubin. PJ_ERROR_NO_MEMORY is the only failure. */
int pj_code_other_kernel(const void *cubin, size_t size, const char *const *names, size_t count,
                         const char **ret_name, struct pj_error **err);

#endif
