/* SPDX-License-Identifier: Apache-2.0 */
/* GPU architectures: their spelling, the ones that exist, and which code runs on which. Pure code over
 * tables. */
#ifndef PREJIT_ARCH_ARCH_H
#define PREJIT_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** An architecture as in `sm_90a`. number 0 = none. */
struct pj_arch {
    uint16_t number; /* 90 for sm_90a: ten times major plus minor */
    char letter;     /* 'a', 'f', or 0 */
};

enum { PJ_ARCH_TEXT = 16 };

/** Parses `sm_90a`, `90a`, `9.0a` (case as CUDA writes it). Errors (PJ_ERROR_FORMAT) say what was read and
 * what is allowed; `compute_90` asks whether sm_90 was meant; architectures that do not exist (8.0a, 12.10,
 * sm_91) say so. */
int pj_arch_parse(const char *text, struct pj_arch *ret_arch, struct pj_error **err);

/** The architecture that a text which pj_arch_parse refuses probably means: its letters made small,
 * `compute_90` made `sm_90`, `9.0+PTX` and `90-real` without what follows the number. */
bool pj_arch_guess(const char *text, struct pj_arch *ret_arch);

/** Reads what PTX writes behind `.target`: `sm_90a`, or `compute_80`, which means the same there. Whether it
 * exists is not looked at: see pj_arch_exists. */
bool pj_arch_parse_ptx(const char *text, size_t size, struct pj_arch *ret_arch);

/** Is it an architecture that this version of prejit knows, letter included? */
bool pj_arch_exists(struct pj_arch arch);

/** "sm_90a"; gives `ret_text`. */
char *pj_arch_text(struct pj_arch arch, char ret_text[PJ_ARCH_TEXT]);

/** Orders by number, then letter. */
int pj_arch_compare(struct pj_arch a, struct pj_arch b);

/** The architectures that the CUDA 13 driver takes as CU_JIT_TARGET and that `all` stands for without a
 * driver at hand, ascending, without letters (75 80 86 87 89 90 100 103 110 120 121). */
const uint16_t *pj_arch_all(size_t *ret_count);

/** May PTX whose `.target` is `ptx_target` be compiled for a *device* of number `device` (which has all
 * letters)? CUDA 13 renamed 10.1 to 11.0: sm_101a and sm_101f code goes there. */
bool pj_arch_ptx_runs_on(struct pj_arch ptx_target, uint16_t device);

/** May PTX of `ptx_target` be compiled by ptxas for exactly `output` (letters count)? Whether a toolkit still
 * makes code for `output` is another question: that of CUDA 13 begins at sm_75. */
bool pj_arch_ptx_compiles_for(struct pj_arch ptx_target, struct pj_arch output);

/** Where such code runs, to follow the word "runs": "on compute capability 9.0 alone". Never NULL. */
const char *pj_arch_runs_where(struct pj_arch ptx_target);

#endif
