/* SPDX-License-Identifier: Apache-2.0 */
/* Private to image: the state of one reading of a PTX text, and the parts of the work. */
#ifndef PREJIT_IMAGE_PTX_READER_H
#define PREJIT_IMAGE_PTX_READER_H

#include <stdint.h>

#include "image/ptx.h"
#include "image/ptx_text.h"

/** A place of the text where a function is defined or declared. */
struct pj_ptx_place {
    const char *name; /* in the text */
    size_t length;
    bool is_kernel, is_defined;
    enum pj_ptx_linkage linkage;
    const char *body; /* behind the parameters and directives: where its body starts, or its end */
    bool is_body;     /* of its name's places the one that defines it: its calls count */
    size_t function;  /* index in pj_ptx.functions, or PJ_PTX_NO_FUNCTION */
};

#define PJ_PTX_NO_FUNCTION SIZE_MAX

/** All of them, in the order of the text. */
struct pj_ptx_places {
    struct pj_ptx_place *items;
    size_t count, capacity;
};

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

/** Reads kernels, functions and, where something has to come from elsewhere, calls, from the cursor to the
 * end. PJ_ERROR_NO_MEMORY is the only failure. */
int pj_ptx_read_functions(struct pj_ptx_reader *reader, struct pj_error **err);

/** Finds what the driver compiles and cannot load, in a text with these places, from `body` on. */
void pj_ptx_find_unloadable(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                            const struct pj_ptx_places *places);

/** Finds what tells that OptiX compiles a text with these places, from `body` on. PJ_ERROR_NO_MEMORY is the
 * only failure. */
int pj_ptx_find_optix(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                      const struct pj_ptx_places *places, struct pj_error **err);

/** Length of the name that `call` at the cursor calls, and the cursor at it; 0 where it is no call of a name.
 */
size_t pj_ptx_read_callee(struct pj_ptx_cursor *cursor);

/** Behind a parenthesised list, or `at` where there is none. */
const char *pj_ptx_skip_list(const char *at, const char *end);

/** Finds who calls whom in a text with these places, from `body` on, and `.alias`, which defines a function;
 * then what is called and not defined. PJ_ERROR_NO_MEMORY is the only failure. */
int pj_ptx_read_calls(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                      const struct pj_ptx_places *places, struct pj_error **err);

#endif
