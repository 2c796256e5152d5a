/* SPDX-License-Identifier: Apache-2.0 */
/* Private to image: the state of one reading of a PTX text, and the parts of the work. */
#ifndef PREJIT_IMAGE_PTX_READER_H
#define PREJIT_IMAGE_PTX_READER_H

#include "image/ptx.h"
#include "image/ptx_text.h"

struct pj_ptx_reader {
    struct pj_ptx_cursor cursor;
    struct pj_arena *arena;
    struct pj_ptx *ptx;
    struct pj_ptx_finding *finding;
    bool no_memory; /* a message could not be made */
};

/** Sets the finding; `at` is the place it is about, or NULL. The message starts with "line N: " where there
 * is a place. Gives false, so that a caller can write `return pj_ptx_say(…)`. */
bool pj_ptx_say(struct pj_ptx_reader *reader, enum pj_ptx_finding_code code, const char *at,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/** `size` bytes in quotation marks, safe to print and cut to a bounded length; never NULL. */
const char *pj_ptx_quote(struct pj_ptx_reader *reader, const char *text, size_t size);

/** Reads .version, .target and .address_size; false with a finding. The cursor stands behind them. */
bool pj_ptx_read_header(struct pj_ptx_reader *reader);

/** Reads the names of kernels and of called functions that are defined nowhere, from the cursor to the end.
 * PJ_ERROR_NO_MEMORY is the only failure. */
int pj_ptx_read_functions(struct pj_ptx_reader *reader, struct pj_error **err);

#endif
