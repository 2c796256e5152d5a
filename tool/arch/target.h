/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as a manifest or -t writes them: native, all, one architecture, a range, a family, a GPU. */
#ifndef PREJIT_ARCH_TARGET_H
#define PREJIT_ARCH_TARGET_H

#include "arch/arch.h"
#include "base/buffer.h"

enum pj_target_form {
    PJ_TARGET_NATIVE, /* every distinct architecture of the visible GPUs */
    PJ_TARGET_ALL,    /* what the driver takes and the PTX allows */
    PJ_TARGET_ONE,    /* named explicitly: a module that cannot run there is `incompatible` */
    PJ_TARGET_RANGE,  /* sm_80..sm_90 or a family: what does not fit is left out and counted */
};

struct pj_target_spec {
    enum pj_target_form form;
    struct pj_arch first, last; /* ONE: first; RANGE: both inclusive, as numbers */
};

/** Parses `native`, `all`, whatever pj_arch_parse takes, `sm_80..sm_90`, the families turing, ampere, ada,
 * hopper, blackwell (lower case), and the GPUs of arch/gpu.h. Unknown words get a suggestion.
 * PJ_ERROR_FORMAT. */
int pj_target_parse(const char *text, struct pj_target_spec *ret_spec, struct pj_error **err);

/** Is it a list of targets, between `,`, `;` or blanks? Appends them, each as pj_target_parse takes it,
 * between
 * ", ". What is appended to `ret_list` where it is none is of no use. */
bool pj_target_list(const char *text, struct pj_buffer *ret_list);

/** Does `number` lie within a RANGE or ALL, or equal a ONE? (Not for NATIVE: needs the machine.) */
bool pj_target_contains(const struct pj_target_spec *spec, uint16_t number);

#endif
