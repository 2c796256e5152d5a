/* SPDX-License-Identifier: Apache-2.0 */
/* Moves through PTX text. Function bodies are most of it, so they are passed 16 bytes at a time. */
#include "image/ptx_text.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 16 };

/* GCC and clang compile operations on it to SSE2 or NEON. Comparisons give 0 or -1 per byte. */
typedef signed char pj_block __attribute__((vector_size(BLOCK_BYTES)));

#define ALL(c) ((pj_block){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c})

static pj_block load_block(const char *at)
{
    pj_block block;
    memcpy(&block, at, sizeof block);
    return block;
}

static bool any_set(pj_block block)
{
    uint64_t halves[2];
    memcpy(halves, &block, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

bool pj_ptx_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool pj_ptx_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

size_t pj_ptx_name_length(const char *at, const char *end)
{
    if (at == end || (*at >= '0' && *at <= '9'))
        return 0;
    const char *stop = at;
    while (stop < end && pj_ptx_is_name(*stop))
        stop++;
    return (size_t)(stop - at);
}

const char *pj_ptx_skip_hidden(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    const char *found = at;
    if (left >= 2 && at[0] == '/' && at[1] == '/') {
        /* Only a line feed ends it; a lone carriage return does not. */
        found = memchr(at, '\n', left);
    } else if (left >= 2 && at[0] == '/' && at[1] == '*') {
        found = memmem(at + 2, left - 2, "*/", 2);
        if (found)
            found++;
    } else if (left >= 1 && at[0] == '"') {
        /* Strings run over line ends and know no escapes. */
        found = memchr(at + 1, '"', left - 1);
    }
    return found ? found + 1 : end;
}

bool pj_ptx_skip_space(struct pj_ptx_cursor *cursor)
{
    while (cursor->at < cursor->end) {
        const char *at = cursor->at;
        size_t left = (size_t)(cursor->end - at);
        if (pj_ptx_is_space(*at)) {
            cursor->at++;
        } else if (*at == '#') {
            if (!cursor->marker)
                cursor->marker = at;
            const char *line_end = memchr(at, '\n', left);
            cursor->at = line_end ? line_end : cursor->end;
        } else if (left >= 2 && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
            const char *behind = pj_ptx_skip_hidden(at, cursor->end);
            if (at[1] == '*' && behind == cursor->end && (left < 4 || behind[-1] != '/' || behind[-2] != '*'))
                return false;
            cursor->at = behind;
        } else {
            break;
        }
    }
    return true;
}

bool pj_ptx_at_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0)
        return false;
    return at + length == end || !pj_ptx_is_name(at[length]);
}

/* May something that matters start in one of the three bytes' first: a comment, a string, `.en…`, `.fu…`? */
static bool may_be_function(char a, char b, char c)
{
    if (a == '.')
        return (b == 'e' && c == 'n') || (b == 'f' && c == 'u');
    return a == '/' || a == '"';
}

static bool block_may_have_function(const char *at)
{
    pj_block a = load_block(at), b = load_block(at + 1), c = load_block(at + 2);
    pj_block word = ((b == ALL('e')) & (c == ALL('n'))) | ((b == ALL('f')) & (c == ALL('u')));
    return any_set(((a == ALL('.')) & word) | (a == ALL('/')) | (a == ALL('"')));
}

static bool may_be_call(char a, char b, char c)
{
    if (a == 'c')
        return b == 'a' && c == 'l';
    return a == '/' || a == '"';
}

static bool block_may_have_call(const char *at)
{
    pj_block a = load_block(at), b = load_block(at + 1), c = load_block(at + 2);
    return any_set(((a == ALL('c')) & (b == ALL('a')) & (c == ALL('l'))) | (a == ALL('/')) | (a == ALL('"')));
}

const char *pj_ptx_find_function(const char *at, const char *end)
{
    while (end - at > 2) {
        while (end - at >= BLOCK_BYTES + 2 && !block_may_have_function(at))
            at += BLOCK_BYTES;
        while (end - at > 2 && !may_be_function(at[0], at[1], at[2]))
            at++;
        if (end - at <= 2)
            break;
        if (*at != '.')
            at = pj_ptx_skip_hidden(at, end);
        else if (pj_ptx_at_word(at, end, ".entry") || pj_ptx_at_word(at, end, ".func"))
            return at;
        else
            at++;
    }
    return end;
}

const char *pj_ptx_find_call(const char *at, const char *end)
{
    const char *start = at;
    while (end - at > 2) {
        while (end - at >= BLOCK_BYTES + 2 && !block_may_have_call(at))
            at += BLOCK_BYTES;
        while (end - at > 2 && !may_be_call(at[0], at[1], at[2]))
            at++;
        if (end - at <= 2)
            break;
        if (*at != 'c')
            at = pj_ptx_skip_hidden(at, end);
        else if (pj_ptx_at_word(at, end, "call") &&
                 (at == start || (!pj_ptx_is_name(at[-1]) && at[-1] != '.')))
            return at;
        else
            at++;
    }
    return end;
}

const char *pj_ptx_find_alias(const char *at, const char *end)
{
    static const char word[] = ".alias";
    /* Most texts have none, not even in a comment. */
    if (!memmem(at, (size_t)(end - at), word, sizeof word - 1))
        return end;
    while (at < end && !pj_ptx_at_word(at, end, word))
        at = *at == '/' || *at == '"' ? pj_ptx_skip_hidden(at, end) : at + 1;
    return at;
}

const char *pj_ptx_find_non_ascii(const char *at, const char *end)
{
    while (end - at >= 4 * BLOCK_BYTES) {
        pj_block bytes = load_block(at) | load_block(at + BLOCK_BYTES) | load_block(at + 2 * BLOCK_BYTES) |
                         load_block(at + 3 * BLOCK_BYTES);
        if (any_set(bytes < ALL(0)))
            break;
        at += 4 * BLOCK_BYTES;
    }
    while (at < end && (unsigned char)*at < 0x80)
        at++;
    return at;
}

size_t pj_ptx_line(const char *start, const char *at)
{
    size_t line = 1;
    while (start < at) {
        const char *found = memchr(start, '\n', (size_t)(at - start));
        if (!found)
            break;
        line++;
        start = found + 1;
    }
    return line;
}
