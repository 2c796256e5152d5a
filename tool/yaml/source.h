/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes behind a document: from a character index to its byte, from a byte to its line and column. */
#ifndef PREJIT_YAML_SOURCE_H
#define PREJIT_YAML_SOURCE_H

#include <stddef.h>

#include "base/buffer.h"

/** libyaml marks places by the number of characters before them. Marks that are asked for in rising order
 * cost one walk over the bytes altogether. */
struct pj_yaml_source {
    const char *bytes; /* behind a byte order mark */
    size_t size;
    size_t offset, index; /* byte and character that the walk has reached */
};

/** Byte offset of the character number `index`; the size of the text where it is shorter. */
size_t pj_yaml_source_offset(struct pj_yaml_source *source, size_t index);

/** Line and column, 1-based, of the byte at `offset`. */
void pj_yaml_source_place(const struct pj_yaml_source *source, size_t offset, size_t *ret_line,
                          size_t *ret_column);

/** Appends the word at `offset`, as far as the next blank, line end, or one of `,]}`; at most 40 bytes of it,
 * made safe to print. */
void pj_yaml_source_word(const struct pj_yaml_source *source, size_t offset, struct pj_buffer *buffer);

#endif
