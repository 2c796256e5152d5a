/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the two halves of the PTX reader share. */
#ifndef FAKE_PTX_READER_H
#define FAKE_PTX_READER_H

#include "base.h"
#include "ptx.h"
#include "ptx_lexer.h"
#include "ptx_names.h"

struct fake_ptx_reader {
    struct fake_lexer lexer;
    struct fake_ptx *ptx;
    unsigned newest_isa;
    unsigned major, minor;      /* of .version; 0 until it was read */
    bool independent;           /* .target says texmode_independent */
    struct fake_names declared; /* functions, and extern variables */
    struct fake_names defined;
    struct fake_names used; /* declared names that stand in a body */
};

/* Keeps the first complaint only. */
void fake_ptx_refuse(struct fake_ptx_reader *reader, CUresult result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fake_ptx_refuse_syntax(struct fake_ptx_reader *reader, struct fake_token near);

/* Reads up to the `close` that ends a group whose `open` has been read. False at the end of the text. */
bool fake_ptx_skip_group(struct fake_ptx_reader *reader, const char *open, const char *close);

/* Reads a function body whose opening brace has been read, for its instructions' names and the
 * declared names in it. */
void fake_ptx_read_body(struct fake_ptx_reader *reader);

#endif
