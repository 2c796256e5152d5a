/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulation needs to know of a PTX text: its head, its kernels, its variables, and why it would be
 * refused. */
#ifndef FAKE_PTX_H
#define FAKE_PTX_H

#include "arch.h"
#include "cuda_types.h"
#include "ptx_names.h"

#include <stddef.h>
#include <stdint.h>

/* Who sees a name outside its module. */
enum fake_linkage {
    FAKE_LINKAGE_LOCAL,
    FAKE_LINKAGE_VISIBLE,
    FAKE_LINKAGE_WEAK,
    FAKE_LINKAGE_EXTERN, /* declared here, defined elsewhere */
};

/* A kernel or a device function that is defined here. */
struct fake_ptx_function {
    char *name;
    size_t body_bytes;
    enum fake_linkage linkage;
    uint64_t parameter_bytes; /* of a kernel */
    bool unloadable;          /* a kernel with a parameter with which no load takes the code [77] */
};

struct fake_ptx_variable {
    char *name;
    uint64_t bytes;
    bool initialised;
    enum fake_linkage linkage;
};

struct fake_ptx {
    struct fake_arch target;
    char *target_text;
    struct fake_ptx_function *kernels;
    size_t kernel_count;
    struct fake_ptx_function *functions; /* device functions */
    size_t function_count;
    struct fake_ptx_variable *variables;
    size_t variable_count;
    /* What bodies name and nobody defines here: for a compilation on its own functions are refused, a linker
     * looks for both. */
    struct fake_names undefined_functions;
    struct fake_names undefined_variables;
    bool sampler;        /* a .samplerref with texmode_independent: the code refers to what nobody has [77] */
    bool has_debug_info; /* a .debug_info section */
    /* CUDA_SUCCESS, or how a compiler of `newest_isa` refuses it whatever the architecture, with its log
     * text. */
    CUresult refusal;
    char *refusal_text;
};

/* Reads `length` bytes; `newest_isa` is major * 10 + minor. Always fills `ret_ptx`, as far as the text can be
   followed; free with fake_ptx_free. */
void fake_ptx_read(const char *text, size_t length, unsigned newest_isa, struct fake_ptx *ret_ptx);
void fake_ptx_free(struct fake_ptx *ptx);

#endif
