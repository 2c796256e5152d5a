/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins: writes the emulation's own (layout of CUDA 13), reads any (of ptxas too). */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H

#include "base.h"
#include "cuda_types.h"
#include "ptx.h"

/* A cubin for `arch` with one .text section a kernel, its bytes determined by `seed`. Kernel code is half as
   long as its text, as the real one's roughly is, and together at least `least_bytes`. A relocatable one has
   the device functions too, and undefined symbols for what it lacks. */
void fake_cubin_write(const struct fake_ptx *ptx, unsigned arch, bool relocatable, uint64_t seed,
                      size_t least_bytes, struct fake_buffer *ret_cubin);

/* In `st_other`: a kernel, not a device function. In the emulation's own cubins its symbol's value, 0 in real
   ones, tells how many bytes its parameters have; real ones tell it in .nv.info. */
enum { FAKE_CUBIN_ENTRY = 0x10 };

/* Beside it: no load takes a cubin with this kernel [77]. Of real cubins only pointers are known, from
 * .nv.info. */
enum { FAKE_CUBIN_UNLOADABLE = 0x20, FAKE_CUBIN_NO_SAMPLER = 0x40 };

struct fake_cubin_symbol {
    char *name;
    uint64_t bytes;
    bool weak;                /* or local: a link may have several */
    uint64_t parameter_bytes; /* of a kernel; 0 = not known */
};

struct fake_cubin_symbols {
    struct fake_cubin_symbol *list;
    size_t count;
};

/* What a cubin offers, and what it lacks. Free with fake_cubin_free. */
struct fake_cubin {
    unsigned arch;
    struct fake_cubin_symbols kernels;
    struct fake_cubin_symbols functions; /* of the device */
    struct fake_cubin_symbols variables;
    struct fake_cubin_symbols undefined;
    bool unloadable; /* compiled, and CUDA_ERROR_INVALID_IMAGE at each load: a kernel's parameter [77] */
    bool no_sampler; /* the same with CUDA_ERROR_NOT_FOUND */
};

/* Bytes an ELF image says it has: for images handed over without a length. */
size_t fake_cubin_extent(const unsigned char *image);

/* False where the bytes are no whole cubin: cut, random, another kind of ELF. */
bool fake_cubin_read(const unsigned char *bytes, size_t length, struct fake_cubin *ret_cubin);
void fake_cubin_free(struct fake_cubin *cubin);

#endif
