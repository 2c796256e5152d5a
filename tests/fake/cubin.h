/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins: writes the emulation's own (layout of CUDA 13), reads any (of ptxas too). */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H

#include "base.h"
#include "cuda_types.h"
#include "ptx.h"

/* A cubin for `arch` with one .text section a kernel, its bytes determined by `seed`. Kernel code is half as
   long as its text, as the real one's roughly is, and together at least `least_bytes`. */
void fake_cubin_write(const struct fake_ptx *ptx, unsigned arch, uint64_t seed, size_t least_bytes,
                      struct fake_buffer *ret_cubin);

struct fake_cubin_symbol {
    char *name;
    uint64_t bytes;
};

/* What a cubin offers. Free with fake_cubin_free. */
struct fake_cubin {
    unsigned arch;
    struct fake_cubin_symbol *kernels;
    size_t kernel_count;
    struct fake_cubin_symbol *variables;
    size_t variable_count;
};

/* Bytes an ELF image says it has: for images handed over without a length. */
size_t fake_cubin_extent(const unsigned char *image);

/* False where the bytes are no whole cubin: cut, random, another kind of ELF. */
bool fake_cubin_read(const unsigned char *bytes, size_t length, struct fake_cubin *ret_cubin);
void fake_cubin_free(struct fake_cubin *cubin);

#endif
