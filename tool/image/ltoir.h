/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the version words in the header of an LTO-IR file (NVVM in NVIDIA's container). */
#ifndef PREJIT_IMAGE_LTOIR_H
#define PREJIT_IMAGE_LTOIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** A version of one byte each side. */
struct pj_ltoir_version {
    uint8_t major, minor;
};

/** What the header says. The names of the words are not NVIDIA's: it documents none of this. */
struct pj_ltoir {
    struct pj_ltoir_version container; /* 1.65 from CUDA 13.0 */
    struct pj_ltoir_version ir;        /* of the intermediate language: 2.98 from CUDA 13.0 */
    struct pj_ltoir_version debug;     /* of its debug information */
    struct pj_ltoir_version llvm;      /* of the bitcode: 7.0 up to sm_90, 20.0 from sm_100 (CUDA 13.0) */
    uint16_t arch_number;              /* that it was compiled for: 90; 0 where not recorded */
};

/** Reads the header of `size` bytes. PJ_ERROR_FORMAT for anything else, LLVM bitcode without a container
 * included. */
int pj_ltoir_read(const void *bytes, size_t size, struct pj_ltoir *ret_ltoir, struct pj_error **err);

#endif
