/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which architecture a cubin (an ELF file for a GPU) was compiled for. */
#ifndef PREJIT_IMAGE_CUBIN_H
#define PREJIT_IMAGE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** What a cubin's ELF header tells. The letters a and f are not recorded in it. */
struct pj_cubin {
    uint16_t arch_number; /* 90 */
    int relocatable;      /* 1: compiled with -c, to be linked, not loadable */
};

/** Checks that `bytes` is a whole ELF file for the CUDA machine (header, section headers and sections inside
 * `size`), in one of the two known layouts; PJ_ERROR_FORMAT otherwise ("layout not known", never a wrong
 * number). */
int pj_cubin_read(const void *bytes, size_t size, struct pj_cubin *ret_cubin, struct pj_error **err);

/** Has a section of this type bytes in the file? Memory that starts empty has none. */
bool pj_cubin_section_has_bytes(uint32_t type);

#endif
