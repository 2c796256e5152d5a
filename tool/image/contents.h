/* SPDX-License-Identifier: Apache-2.0 */
/* What an input for a linker holds: PTX, cubins and LTO-IR, also inside fatbins, host objects and archives.
 */
#ifndef PREJIT_IMAGE_CONTENTS_H
#define PREJIT_IMAGE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/memory.h"
#include "image/fatbin.h"
#include "image/ltoir.h"

/** What the input is for a linker: CUjitInputType and nvJitLinkInputType have one value for each. */
enum pj_input_kind {
    PJ_INPUT_PTX,
    PJ_INPUT_CUBIN,
    PJ_INPUT_FATBIN,
    PJ_INPUT_OBJECT,  /* an ELF file for a CPU */
    PJ_INPUT_ARCHIVE, /* CUDA says library */
    PJ_INPUT_LTOIR,   /* the driver's cuLink does not take it [47] */
};

/** One piece of device code. */
struct pj_content {
    enum pj_code_kind kind;
    struct pj_arch arch;  /* number 0: not recorded; letter 0 says "none" only where has_letter */
    bool has_letter;      /* the letters a and f would be recorded here: PTX and fatbin entries */
    uint16_t major,       /* PTX: its ISA version; LTO-IR: the container version; cubin: the version word */
        minor;            /* of its fatbin entry. major 0: not recorded */
    bool has_relocatable; /* a cubin that lies here unpacked, so that the next line is known */
    bool relocatable;     /* made to be linked (-c, -rdc=true); a finished one can only be loaded */
    bool whole_program;   /* in an object: compiled without -rdc=true, to be loaded as it is; nvJitLink 13.0
                             passes over it in silence */
    bool packed;          /* its bytes are compressed or scrambled */
    bool bad_shape;      /* its fatbin entry is of the shape that hangs the driver [14]: never hand it over */
    const char *options; /* options that its fatbin entry records, blanks and all, for the key [45]; "" where
                            it records none; NULL outside of fatbins */
    const char *member;  /* of an archive: the member's name, escaped; NULL otherwise */
    uint64_t offset, size; /* its bytes inside the input, without padding where that is known */
};

/** Strings and items live in the arena given to pj_contents_read. */
struct pj_contents {
    enum pj_input_kind kind;
    struct pj_content *items; /* in the order in which they lie there */
    size_t count;
    bool has_ptx, has_cubin, has_ltoir;
    bool has_linkable;     /* an item that is no whole program */
    bool nothing;          /* an object, archive or fatbin without any device code */
    struct pj_ltoir ltoir; /* kind PJ_INPUT_LTOIR: what its header says; container.major 0 otherwise */
};

/** Largest input that is read: 4 GiB. */
#define PJ_CONTENTS_BYTES_MAX (UINT64_C(4) << 30)

/** Lists what `size` bytes hold. Of an archive only the members that are objects are looked into, as
 * nvJitLink does. Nothing is unpacked, and PTX is read no further than its header (ask pj_ptx_read for more;
 * a bad header leaves arch and version 0). PJ_ERROR_FORMAT for what no linker takes (text of another kind, a
 * compressed file, a thin archive, a CPU program without device code) and for what is cut or damaged: the
 * message says what it is, where (byte offset or archive member), and what to do. PJ_ERROR_NO_MEMORY. `bytes`
 * need no alignment and are not kept. */
int pj_contents_read(const void *bytes, size_t size, struct pj_arena *arena, struct pj_contents *ret,
                     struct pj_error **err);

/** "ptx", "cubin", "fatbin", "object", "library", "ltoir": for reports. */
const char *pj_input_kind_name(enum pj_input_kind kind);

#endif
