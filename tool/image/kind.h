/* SPDX-License-Identifier: Apache-2.0 */
/* What a file really is, judged by its bytes before anything else sees it. */
#ifndef PREJIT_IMAGE_KIND_H
#define PREJIT_IMAGE_KIND_H

#include <stddef.h>

enum pj_image_kind {
    PJ_IMAGE_PTX,
    PJ_IMAGE_EMPTY,    /* no bytes, or nothing but white space and NULs */
    PJ_IMAGE_BOM,      /* starts with a byte-order mark (UTF-8, UTF-16 either way) */
    PJ_IMAGE_GZIP,     /* and other compressors: zstd, xz, bzip2, LZ4 frame, zip; see pj_image_kind_detail */
    PJ_IMAGE_CUBIN,    /* ELF for the CUDA machine type */
    PJ_IMAGE_HOST_ELF, /* ELF for a CPU */
    PJ_IMAGE_FATBIN,
    PJ_IMAGE_LTOIR,        /* LTO-IR or LLVM bitcode */
    PJ_IMAGE_ARCHIVE,      /* ar archive */
    PJ_IMAGE_SOURCE,       /* text that looks like CUDA C++ */
    PJ_IMAGE_UNKNOWN_TEXT, /* text, but no PTX header in it */
    PJ_IMAGE_UNKNOWN,
};

/** Looks at the first bytes only; never reads past `size`. */
enum pj_image_kind pj_image_kind_of(const void *bytes, size_t size);

/** What it is, for people: "a cubin (ELF for a GPU)", "a file compressed with zstd", … */
const char *pj_image_kind_text(const void *bytes, size_t size);

/** What to do about it, one clause, or NULL for PTX: "decompress it first", "compile it to PTX (nvcc -ptx
 * FILE) …". */
const char *pj_image_kind_cure(enum pj_image_kind kind);

#endif
