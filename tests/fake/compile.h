/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated JIT: takes its time, does what the scenario wants, makes a cubin or refuses. */
#ifndef FAKE_COMPILE_H
#define FAKE_COMPILE_H

#include "base.h"
#include "options.h"
#include "ptx.h"

struct fake_compilation {
    const char *text; /* PTX without its NUL */
    size_t bytes;
    unsigned arch;
    bool relocatable; /* for the linker */
    const struct fake_buffer *key;
};

/* On success `ret_payload` is what the program gets, and `ret_stored` what goes into the cache: the same,
   unless the scenario spoils it. A refusal leaves its reason in the options' error log. */
CUresult fake_compile(const struct fake_compilation *compilation, struct fake_options *options,
                      struct fake_buffer *ret_payload, struct fake_buffer *ret_stored);

/* Dies here where the scenario says that this module kills a prover. */
void fake_compile_prove_crash(const struct fake_compilation *compilation);

#endif
