/* SPDX-License-Identifier: Apache-2.0 */
/* Private to image: moves through PTX text past white space, comments and strings, quickly. */
#ifndef PREJIT_IMAGE_PTX_TEXT_H
#define PREJIT_IMAGE_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/** A place in a text. `start` ≤ `at` ≤ `end`; the text needs no NUL behind it. */
struct pj_ptx_cursor {
    const char *start, *at, *end;
    const char *marker; /* the first `# 1 "x"` line that was skipped, or NULL */
};

/** White space between tokens, as ptxas sees it: blank, tab, both line ends, form feed. */
bool pj_ptx_is_space(char c);

/** May `c` stand in a name? Letters, digits, `_`, `$`, `%`. */
bool pj_ptx_is_name(char c);

/** Length of the name at `at`: 0 where none starts there (a digit does not start one). */
size_t pj_ptx_name_length(const char *at, const char *end);

/** Skips white space, comments and `#` lines; false, with `at` at its start, where a comment never ends. */
bool pj_ptx_skip_space(struct pj_ptx_cursor *cursor);

/** First `.entry` or `.func` outside comments and strings, or `end`. */
const char *pj_ptx_find_function(const char *at, const char *end);

/** First `call` (with or without suffixes) outside comments and strings, or `end`. */
const char *pj_ptx_find_call(const char *at, const char *end);

/** First `.alias` outside comments and strings, or `end`. */
const char *pj_ptx_find_alias(const char *at, const char *end);

/** Is there `word` at `at`, with no further character of a name behind it? */
bool pj_ptx_at_word(const char *at, const char *end, const char *word);

/** Behind the comment or string that starts at `at`; `at` + 1 where none does; `end` where it never ends. */
const char *pj_ptx_skip_hidden(const char *at, const char *end);

/** First byte ≥ 0x80, or `end`. */
const char *pj_ptx_find_non_ascii(const char *at, const char *end);

/** Number of the line that holds `at`, from 1. */
size_t pj_ptx_line(const char *start, const char *at);

#endif
