/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the entries of a fatbin where its bytes lie; nothing is unpacked. */
#ifndef PREJIT_IMAGE_FATBIN_H
#define PREJIT_IMAGE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"

/** What device code can be. */
enum pj_code_kind {
    PJ_CODE_PTX,
    PJ_CODE_CUBIN,
    PJ_CODE_LTOIR,
    PJ_CODE_OTHER, /* an entry of a kind that this version does not know */
};

enum pj_packing {
    PJ_PACKING_NONE,
    PJ_PACKING_LZ4,   /* one LZ4 block without a frame */
    PJ_PACKING_ZSTD,  /* one zstd frame */
    PJ_PACKING_OTHER, /* a flag that this version does not know */
};

/** One entry. Offsets count from the first byte given to pj_fatbin_start; sizes are in bytes. */
struct pj_fatbin_entry {
    enum pj_code_kind kind;
    uint16_t kind_number;  /* as recorded: 1 PTX, 2 cubin, 8 LTO-IR */
    struct pj_arch arch;   /* letter a or f as recorded; LTO-IR and cubins have theirs too */
    uint16_t major, minor; /* PTX: ISA version; cubin: version of its kind of file (1.8 from CUDA 13.0);
                              LTO-IR: container version */
    uint64_t flags;        /* as recorded */
    enum pj_packing packing;
    bool scrambled; /* LTO-IR is stored scrambled after it was packed */
    size_t header_offset;
    size_t payload_offset;
    size_t payload_size; /* packed: the exact size; otherwise the size with its padding */
    size_t padded_size;  /* what the entry takes up behind its header */
    uint64_t plain_size; /* packed: the size unpacked; otherwise payload_size */
    const char *options; /* the compiler options recorded for the driver, not terminated, in the given bytes;
                            NULL where the entry has no room for any */
    size_t options_size;
    const char *name; /* the source file's name (debug and line information), likewise */
    size_t name_size;
    bool bad_shape; /* the size is no multiple of 8 and padding follows inside the container: the driver hangs
                       or crashes on it [14] */
};

/** A place in a fatbin. */
struct pj_fatbin {
    const unsigned char *bytes;
    size_t size;
    size_t at;            /* the next entry or container */
    size_t container;     /* where the current container starts */
    size_t container_end; /* where its entries end */
    size_t containers;    /* how many were entered */
};

/** Begins to walk `size` bytes that start with a container. PJ_ERROR_FORMAT where they do not. */
int pj_fatbin_start(const void *bytes, size_t size, struct pj_fatbin *ret, struct pj_error **err);

/** 1 and *ret_entry, 0 at the end, or PJ_ERROR_FORMAT with the byte offset, what is there and what is
 * allowed. Containers may follow one another, with NULs between them up to the next multiple of 8 (an ELF
 * section of several objects); bytes behind the last container that start no further one end the walk. */
int pj_fatbin_next(struct pj_fatbin *fatbin, struct pj_fatbin_entry *ret_entry, struct pj_error **err);

#endif
