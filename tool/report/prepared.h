/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a source that NVRTC compiled to PTX, or of files that nvJitLink linked to it,
 * `<cache>/.prejit/prepared/<request>.json`, to and from JSON: by it a later run knows that the PTX beside it
 * is still what NVRTC would give. A hint, never an authority. */
#ifndef PREJIT_REPORT_PREPARED_H
#define PREJIT_REPORT_PREPARED_H

#include "report/receipt.h"

struct pj_prepared {
    const char *request;                    /* all that the compiler was told, canonical text */
    const char *compiler_search;            /* where it was looked for, one name a line, and what the
                                                loader goes by */
    struct pj_receipt_file *compiler_files; /* itself first */
    size_t compiler_file_count;
    struct pj_report_library compiler;
    struct pj_receipt_input *inputs; /* source, headers in memory, headers that it read */
    size_t input_count;
    uint64_t ptx_bytes;
    struct pj_sha256 ptx_sha256;
    const char *log;         /* the compiler's warnings; NULL = none */
    double ms;               /* that it took */
    const char *header_note; /* as in struct pj_report_job */
};

enum { PJ_PREPARED_MAX_BYTES = 16 * 1024 * 1024 };

/** Appends the JSON text, schema "prejit-prepared/3". */
int pj_prepared_write(const struct pj_prepared *prepared, struct pj_buffer *ret_text, struct pj_error **err);

/** Parses what pj_prepared_write wrote, anything else is PJ_ERROR_FORMAT. Strings and arrays live in `arena`.
 */
int pj_prepared_read(const char *text, size_t size, struct pj_arena *arena, struct pj_prepared *ret_prepared,
                     struct pj_error **err);

#endif
