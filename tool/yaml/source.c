/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a document's bytes. */
#include "yaml/source.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Every byte of UTF-8 but these begins a character. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0U) == 0x80U;
}

size_t pj_yaml_source_offset(struct pj_yaml_source *source, size_t index)
{
    if (index < source->index) {
        source->offset = 0;
        source->index = 0;
    }
    while (source->index < index && source->offset < source->size) {
        source->offset++;
        while (source->offset < source->size && continues(source->bytes[source->offset]))
            source->offset++;
        source->index++;
    }
    return source->offset;
}

void pj_yaml_source_place(const struct pj_yaml_source *source, size_t offset, size_t *ret_line,
                          size_t *ret_column)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset && i < source->size; i++) {
        char c = source->bytes[i];
        bool carriage_return = c == '\r' && !(i + 1 < source->size && source->bytes[i + 1] == '\n');
        if (c == '\n' || carriage_return) {
            line++;
            column = 1;
        } else if (!continues(c)) {
            column++;
        }
    }
    *ret_line = line;
    *ret_column = column;
}

void pj_yaml_source_word(const struct pj_yaml_source *source, size_t offset, struct pj_buffer *buffer)
{
    enum { WORD_MAX = 40 };
    size_t end = offset;
    while (end < source->size && end - offset < WORD_MAX && !strchr(" \t\r\n,]}", source->bytes[end]))
        end++;
    pj_text_escape(buffer, source->bytes + offset, end - offset);
}
