/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's options, as far as they decide what comes out: read as NVRTC 13.0 reads them. Pure code. */
#ifndef PREJIT_ARCH_NVRTC_OPTIONS_H
#define PREJIT_ARCH_NVRTC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/arch.h"

/** What an option is about. */
enum pj_nvrtc_kind {
    PJ_NVRTC_OTHER,        /* any other, also what NVRTC does not know: NVRTC itself says so */
    PJ_NVRTC_ARCHITECTURE, /* value: `compute_90`, `sm_90a` */
    PJ_NVRTC_INCLUDE,      /* value: a folder */
    PJ_NVRTC_RELOCATABLE,  /* -dc, -rdc=true */
    PJ_NVRTC_LTO,          /* -dlto: LTO-IR and no PTX */
    PJ_NVRTC_OPTIX,        /* OptiX IR and no PTX */
    PJ_NVRTC_SYNTAX_ONLY,  /* PTX without any code */
    PJ_NVRTC_NO_CACHE,
    PJ_NVRTC_PCH,    /* makes or uses precompiled headers, or goes with them */
    PJ_NVRTC_WRITES, /* writes a file of times */
    PJ_NVRTC_PRINTS,
};

/** One option: one text, or two where the value stands in a text of its own. */
struct pj_nvrtc_option {
    enum pj_nvrtc_kind kind;
    size_t index;      /* of its first text */
    size_t text_count; /* 1 or 2 */
    const char *value; /* within the texts, `value_size` bytes; NULL where there is none */
    size_t value_size;
    bool value_missing; /* it takes a value, and the list ends */
    bool one_text;      /* name and value with a blank between, in one text: NVRTC does not take it */
};

/** Reads the option that starts at *index and moves *index behind it; false at the end of the list. Blanks
 * around a text do not count. */
bool pj_nvrtc_option_next(const char *const *options, size_t count, size_t *index,
                          struct pj_nvrtc_option *ret_option);

/** What an option of kind PJ_NVRTC_ARCHITECTURE names: false where it is neither `compute_` nor `sm_` with an
 * architecture that exists. Whether an NVRTC can compile for it, only that NVRTC knows. */
bool pj_nvrtc_architecture(const struct pj_nvrtc_option *option, struct pj_arch *ret_arch, bool *ret_real);

/** What a list of options makes NVRTC give out. */
struct pj_nvrtc_options {
    bool has_architecture;       /* given by an option, and an architecture; the last one counts */
    bool real;                   /* `sm_90a`: a cubin, nothing left for the driver to compile */
    struct pj_arch architecture; /* number 0 = none given */
    bool lto;                    /* LTO-IR and no PTX, whatever the architecture */
    bool relocatable;            /* to be linked: -rdc=true, -dc, and with LTO-IR always */
    bool optix, syntax_only;     /* no PTX of use */
    bool pch;                    /* uses or makes precompiled headers */
    size_t include_count;        /* folders for headers, in the order of pj_nvrtc_option_next */
};

/** Reads `count` options. Those that are wrong count as far as they can be read: NVRTC refuses them. */
void pj_nvrtc_options_read(const char *const *options, size_t count, struct pj_nvrtc_options *ret_options);

#endif
