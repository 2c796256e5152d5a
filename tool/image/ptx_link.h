/* SPDX-License-Identifier: Apache-2.0 */
/* What a link of PTX texts lacks. */
#ifndef PREJIT_IMAGE_PTX_LINK_H
#define PREJIT_IMAGE_PTX_LINK_H

#include <stddef.h>

#include "base/error.h"
#include "image/ptx.h"

/** A call of a function that no text of a link defines. The functions are the texts'. */
struct pj_ptx_lack {
    size_t text;                           /* index of the text in which the call is */
    const struct pj_ptx_function *caller;  /* a kernel, or a function that kernels reach through calls */
    const struct pj_ptx_function *missing; /* as that text declares it */
};

/** Follows calls from the kernels of all texts, through functions and from text to text, in the order of the
 * texts, of their kernels and of their calls, the shortest ways first. Gives 1 and the first call of what no
 * text defines, or 0 where there is none. What kernels do not reach is not looked at: linkers drop it, and
 * with it what it misses [cache-model 70]. Of a weak kernel, and of a function that several texts define, the
 * first definition is followed; but a function that no other text sees is its own text's. What is reached by
 * its address alone is not followed. PJ_ERROR_NO_MEMORY is the only failure. */
int pj_ptx_find_lack(const struct pj_ptx *const *texts, size_t count, struct pj_ptx_lack *ret_lack,
                     struct pj_error **err);

#endif
