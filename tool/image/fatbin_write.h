/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a fatbin that holds one piece of PTX, as NVIDIA's fatbinary does. */
#ifndef PREJIT_IMAGE_FATBIN_WRITE_H
#define PREJIT_IMAGE_FATBIN_WRITE_H

#include "arch/isa.h"
#include "base/buffer.h"
#include "image/fatbin.h"

/** Largest PTX that is written, in bytes. */
#define PJ_FATBIN_WRITE_MAX (UINT64_C(64) << 20)

/** PTX for a fatbin. It is taken as it is: fatbinary removes indentation and comments before. */
struct pj_fatbin_ptx {
    const char *text; /* not terminated, without NULs */
    size_t size;
    uint16_t arch;         /* its `.target`, 75 for sm_75; no letter */
    struct pj_isa version; /* its `.version` */
    enum pj_packing packing;
};

/** Appends one container with one entry: PTX, one NUL, that packed as `packing` says, and NULs up to a
 * multiple of 8 [14]. The headers are those of fatbinary 13.0 with --64. PJ_ERROR_FORMAT for PTX that is
 * empty, too long or has a NUL; PJ_ERROR_INTERNAL for a packing that is none; else *ret_fatbin is as it was
 * but for PJ_ERROR_NO_MEMORY. */
int pj_fatbin_write(const struct pj_fatbin_ptx *ptx, struct pj_buffer *ret_fatbin, struct pj_error **err);

#endif
