/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulation needs to know of a PTX text: its head, its kernels, its variables, and why it would be
 * refused. */
#ifndef FAKE_PTX_H
#define FAKE_PTX_H

#include "arch.h"
#include "cuda_types.h"

#include <stddef.h>
#include <stdint.h>

struct fake_ptx_kernel {
    char *name;
    size_t body_bytes;
};

struct fake_ptx_variable {
    char *name;
    uint64_t bytes;
    bool initialised;
};

struct fake_ptx {
    struct fake_arch target;
    char *target_text;
    struct fake_ptx_kernel *kernels;
    size_t kernel_count;
    struct fake_ptx_variable *variables;
    size_t variable_count;
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
