/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of text for people, made from names, paths and logs that come from outside. */
#ifndef PREJIT_REPORT_PHRASE_H
#define PREJIT_REPORT_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/** Appends `size` bytes of `text` escaped, at most `maximum` of them: what is cut shows as "...". */
void pj_phrase_cut(struct pj_buffer *buffer, const char *text, size_t size, size_t maximum);

/** Appends `size` bytes of `text` escaped; of more than `maximum` the middle is left out and shows as " ...
 * ": a reason begins with the cause and ends with the cure. */
void pj_phrase_shorten(struct pj_buffer *buffer, const char *text, size_t size, size_t maximum);

/** Appends the lines of `text` escaped, those behind the first on lines of their own, set in by four blanks.
 */
void pj_phrase_lines(struct pj_buffer *buffer, const char *text);

/** Appends `text` as one word of a shell command that a terminal can show: as it is where no character is
 *  special, else in '…', or in bash's $'…' where it holds control characters or invalid UTF-8. */
void pj_phrase_quote(struct pj_buffer *buffer, const char *text);

/** Appends "1 job" or "2 jobs". */
void pj_phrase_count(struct pj_buffer *buffer, size_t count, const char *one, const char *many);

/** Appends "a, b, c and 4 more": at most `maximum` of `count` names, of which no more need be there, as they
 * are. */
void pj_phrase_names(struct pj_buffer *buffer, const char *const *names, size_t count, size_t maximum);

/** Length in bytes of the well-formed UTF-8 character at `text`; 0 where there is none. */
size_t pj_phrase_character(const char *text, size_t size);

/** Is all of it well-formed UTF-8? */
bool pj_phrase_is_utf8(const char *text, size_t size);

/** Terminal columns that the UTF-8 text takes, one per character. */
size_t pj_phrase_columns(const char *text, size_t size);

/** Length in bytes of the longest start of the UTF-8 text that takes at most `columns`. */
size_t pj_phrase_fit(const char *text, size_t size, size_t columns);

#endif
