/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting, quoting and counting text for people. */
#include "report/phrase.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void pj_phrase_cut(struct pj_buffer *buffer, const char *text, size_t size, size_t maximum)
{
    if (size <= maximum) {
        pj_text_escape(buffer, text, size);
        return;
    }
    size_t kept = maximum;
    /* Not in the middle of a character, which has at most three such bytes. */
    for (int i = 0; i < 3 && kept > 0 && continues_character(text[kept]); i++)
        kept--;
    pj_text_escape(buffer, text, kept);
    pj_buffer_puts(buffer, "...");
}

void pj_phrase_shorten(struct pj_buffer *buffer, const char *text, size_t size, size_t maximum)
{
    if (size <= maximum) {
        pj_text_escape(buffer, text, size);
        return;
    }
    size_t end = maximum / 2, begin = size - maximum / 2;
    for (int i = 0; i < 3 && end > 0 && continues_character(text[end]); i++)
        end--;
    for (int i = 0; i < 3 && begin < size && continues_character(text[begin]); i++)
        begin++;
    pj_text_escape(buffer, text, end);
    pj_buffer_puts(buffer, " ... ");
    pj_text_escape(buffer, text + begin, size - begin);
}

void pj_phrase_lines(struct pj_buffer *buffer, const char *text)
{
    for (const char *line = text, *end; line; line = *end ? end + 1 : NULL) {
        end = strchrnul(line, '\n');
        pj_buffer_puts(buffer, line == text ? "" : end > line ? "\n    " : "\n");
        pj_text_escape(buffer, line, (size_t)(end - line));
    }
}

static void quote_printable(struct pj_buffer *buffer, const char *text)
{
    pj_buffer_putc(buffer, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            pj_buffer_puts(buffer, "'\\''");
        else
            pj_buffer_putc(buffer, *c);
    }
    pj_buffer_putc(buffer, '\'');
}

static void quote_unprintable(struct pj_buffer *buffer, const char *text)
{
    pj_buffer_puts(buffer, "$'");
    while (*text) {
        size_t plain = strcspn(text, "'\\");
        pj_text_escape(buffer, text, plain); /* its \xNN is what $'…' reads */
        text += plain;
        if (*text) {
            pj_buffer_putc(buffer, '\\');
            pj_buffer_putc(buffer, *text++);
        }
    }
    pj_buffer_putc(buffer, '\'');
}

void pj_phrase_quote(struct pj_buffer *buffer, const char *text)
{
    static const char harmless[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "_-./:=@%+,";
    size_t size = strlen(text);
    if (size > 0 && strspn(text, harmless) == size) {
        pj_buffer_puts(buffer, text);
        return;
    }
    PJ_CLEANUP_BUFFER struct pj_buffer escaped = {0};
    pj_text_escape(&escaped, text, size);
    if (escaped.failed)
        buffer->failed = true;
    else if (escaped.size == size)
        quote_printable(buffer, text);
    else
        quote_unprintable(buffer, text);
}

void pj_phrase_count(struct pj_buffer *buffer, size_t count, const char *one, const char *many)
{
    pj_buffer_printf(buffer, "%zu %s", count, count == 1 ? one : many);
}

void pj_phrase_names(struct pj_buffer *buffer, const char *const *names, size_t count, size_t maximum)
{
    for (size_t i = 0; i < count && i < maximum; i++)
        pj_buffer_printf(buffer, "%s%s", i == 0 ? "" : ", ", names[i]);
    if (count > maximum)
        pj_buffer_printf(buffer, " and %zu more", count - maximum);
}

size_t pj_phrase_character(const char *text, size_t size)
{
    static const struct {
        unsigned char mask, lead; /* bits of the first byte that are fixed, and their value */
        uint32_t minimum;         /* below: written longer than needed */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; size > i && i < PJ_COUNT(forms); i++) {
        unsigned char first = (unsigned char)text[0];
        if ((first & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t value = first & (unsigned char)~forms[i].mask;
        for (size_t k = 1; k <= i; k++) {
            if (!continues_character(text[k]))
                return 0;
            value = value << 6 | ((unsigned char)text[k] & 0x3f);
        }
        bool surrogate = value >= 0xd800 && value <= 0xdfff;
        return value < forms[i].minimum || value > 0x10ffff || surrogate ? 0 : i + 1;
    }
    return 0;
}

bool pj_phrase_is_utf8(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = pj_phrase_character(text + at, size - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

size_t pj_phrase_columns(const char *text, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += !continues_character(text[i]);
    return columns;
}

size_t pj_phrase_fit(const char *text, size_t size, size_t columns)
{
    size_t at = 0;
    for (; at < size; at++) {
        if (continues_character(text[at]))
            continue;
        if (columns == 0)
            break;
        columns--;
    }
    return at;
}
