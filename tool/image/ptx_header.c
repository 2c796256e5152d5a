/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the directives that PTX starts with, in the order and spelling that ptxas and the driver demand. */
#include <stdlib.h>
#include <string.h>

#include "image/ptx_reader.h"

#define ORDER "the order is .version, .target, .address_size"

/* Length of what people would call the word at the cursor, for messages. */
static size_t word_length(const struct pj_ptx_cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && !pj_ptx_is_space(*at))
        at++;
    return (size_t)(at - cursor->at);
}

static const char *quote_word(struct pj_ptx_reader *reader)
{
    return pj_ptx_quote(reader, reader->cursor.at, word_length(&reader->cursor));
}

static bool skip_space(struct pj_ptx_reader *reader)
{
    if (pj_ptx_skip_space(&reader->cursor))
        return true;
    return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, reader->cursor.at,
                      "a comment starts here and never ends: close it with */");
}

static bool at_word(const struct pj_ptx_reader *reader, const char *word)
{
    return pj_ptx_at_word(reader->cursor.at, reader->cursor.end, word);
}

/* Digits as a number of at most 9999; false for none or more. */
static bool read_digits(struct pj_ptx_cursor *cursor, uint16_t *ret_number)
{
    const char *first = cursor->at;
    unsigned number = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        number = number * 10 + (unsigned)(*cursor->at - '0');
        if (number > 9999)
            return false;
        cursor->at++;
    }
    *ret_number = (uint16_t)number;
    return cursor->at != first;
}

/* `8.5`, and nothing that would go on with it. */
static bool read_isa(struct pj_ptx_cursor *cursor, struct pj_isa *ret_isa)
{
    if (!read_digits(cursor, &ret_isa->major) || cursor->at == cursor->end || *cursor->at != '.')
        return false;
    cursor->at++;
    if (!read_digits(cursor, &ret_isa->minor))
        return false;
    if (cursor->at == cursor->end)
        return true;
    if (pj_ptx_is_name(*cursor->at))
        return false;
    return *cursor->at != '.' || cursor->end - cursor->at < 2 || cursor->at[1] < '0' || cursor->at[1] > '9';
}

static bool find_version(struct pj_ptx_reader *reader)
{
    struct pj_ptx_cursor *cursor = &reader->cursor;
    if (!skip_space(reader))
        return false;
    if (cursor->at == cursor->end)
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, NULL,
                          "no .version directive: PTX starts with it; " ORDER);
    if (at_word(reader, ".target") || at_word(reader, ".address_size"))
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, cursor->at, "%s stands before .version: " ORDER,
                          at_word(reader, ".target") ? ".target" : ".address_size");
    if (!at_word(reader, ".version"))
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, cursor->at,
                          "found %s where .version should be: only blanks and comments may stand before it; "
                          "remove what does",
                          quote_word(reader));
    if (cursor->marker)
        reader->ptx->marker_line = pj_ptx_line(cursor->start, cursor->marker);
    return true;
}

static bool read_version(struct pj_ptx_reader *reader)
{
    struct pj_ptx_cursor *cursor = &reader->cursor;
    if (!find_version(reader))
        return false;
    const char *directive = cursor->at;
    cursor->at += strlen(".version");
    /* The compilers take directive and number as one token: no line feed, no comment in between. */
    while (cursor->at < cursor->end && *cursor->at != '\n' && pj_ptx_is_space(*cursor->at))
        cursor->at++;
    const char *number = cursor->at;
    if (cursor->at == cursor->end || *cursor->at == '\n' || *cursor->at == '/')
        return pj_ptx_say(
            reader, PJ_PTX_BAD_HEADER, directive,
            "%s follows .version: its number must stand on the same line with nothing but blanks "
            "before it, as in `.version 8.0`",
            cursor->at == cursor->end ? "nothing"
            : *cursor->at == '/'      ? "a comment"
                                      : "a line end");
    struct pj_isa isa = {0};
    if (!read_isa(cursor, &isa)) {
        cursor->at = number;
        return pj_ptx_say(
            reader, PJ_PTX_BAD_HEADER, directive,
            ".version %s is no PTX ISA version: write two numbers with a point between them, as "
            "in `.version 8.0`",
            quote_word(reader));
    }
    if (!pj_isa_known(isa) && pj_isa_compare(isa, pj_isa_newest()) < 0)
        return pj_ptx_say(
            reader, PJ_PTX_BAD_HEADER, directive,
            "there is no PTX ISA %u.%u: correct the number of .version, or compile the PTX again", isa.major,
            isa.minor);
    reader->ptx->version = isa;
    return true;
}

static bool is_target_word(const char *word, size_t size)
{
    static const char *const words[] = {"debug", "texmode_unified", "texmode_independent", "texmode_raw",
                                        "map_f64_to_f32"};
    for (size_t i = 0; i < PJ_COUNT(words); i++) {
        if (strlen(words[i]) == size && memcmp(words[i], word, size) == 0)
            return true;
    }
    return false;
}

/* Is the header of one piece: could any compiler take this target at this version? */
static bool check_target(struct pj_ptx_reader *reader, const char *at, struct pj_arch target)
{
    struct pj_isa version = reader->ptx->version, lowest;
    char name[PJ_ARCH_TEXT];
    (void)pj_arch_text(target, name);
    if (!pj_isa_lowest_for(target, &lowest)) {
        /* A newer ISA may have targets that this table does not. */
        if (!pj_isa_known(version))
            return true;
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, at,
                          "PTX ISA %u.%u has no target %s: correct .target, or compile the PTX again",
                          version.major, version.minor, name);
    }
    if (pj_isa_compare(version, lowest) < 0)
        return pj_ptx_say(
            reader, PJ_PTX_HEADER_CONTRADICTS, at,
            ".target %s needs PTX ISA %u.%u or newer, but .version says %u.%u: no compiler takes "
            "that; correct one of them, or compile the PTX again",
            name, lowest.major, lowest.minor, version.major, version.minor);
    return true;
}

static bool read_target_item(struct pj_ptx_reader *reader)
{
    struct pj_ptx_cursor *cursor = &reader->cursor;
    struct pj_ptx *ptx = reader->ptx;
    if (!skip_space(reader))
        return false;
    size_t size = pj_ptx_name_length(cursor->at, cursor->end);
    struct pj_arch target;
    if (pj_arch_parse_ptx(cursor->at, size, &target)) {
        if (!check_target(reader, cursor->at, target))
            return false;
        ptx->target = target;
    } else if (is_target_word(cursor->at, size)) {
        if (ptx->target.number == 0)
            return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, cursor->at,
                              ".target starts with %s: the architecture must come first, as in "
                              "`.target sm_80, debug`",
                              pj_ptx_quote(reader, cursor->at, size));
        ptx->texmode_independent |= pj_ptx_at_word(cursor->at, cursor->end, "texmode_independent");
    } else if (size == 0 || pj_isa_known(ptx->version)) {
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, cursor->at,
                          ".target %s is not known: write an architecture in small letters, as in "
                          "`.target sm_80`",
                          size ? pj_ptx_quote(reader, cursor->at, size) : quote_word(reader));
    }
    cursor->at += size;
    return skip_space(reader);
}

static bool read_targets(struct pj_ptx_reader *reader)
{
    struct pj_ptx_cursor *cursor = &reader->cursor;
    if (!skip_space(reader))
        return false;
    if (!at_word(reader, ".target"))
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, cursor->at,
                          "found %s where .target should be: " ORDER ", one directly behind the other",
                          quote_word(reader));
    while (at_word(reader, ".target")) {
        const char *directive = cursor->at;
        cursor->at += strlen(".target");
        if (!read_target_item(reader))
            return false;
        while (cursor->at < cursor->end && *cursor->at == ',') {
            cursor->at++;
            if (!read_target_item(reader))
                return false;
        }
        if (reader->ptx->target.number == 0)
            return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, directive,
                              ".target names no architecture: write one, as in `.target sm_80`");
    }
    return true;
}

/* An integer as PTX writes it: 64, 0x40, 0100, 64U. */
static bool read_integer(const char *at, size_t size, unsigned long *ret_value)
{
    char digits[12];
    if (size == 0 || size >= sizeof digits)
        return false;
    memcpy(digits, at, size);
    digits[size] = '\0';
    if (size > 1 && digits[size - 1] == 'U')
        digits[size - 1] = '\0';
    if (digits[0] < '0' || digits[0] > '9')
        return false;
    char *rest;
    *ret_value = strtoul(digits, &rest, 0);
    return *rest == '\0';
}

static bool read_address_size(struct pj_ptx_reader *reader)
{
    struct pj_ptx_cursor *cursor = &reader->cursor;
    const struct pj_isa since = {2, 3};
    struct pj_isa version = reader->ptx->version;
    const char *directive = cursor->at;
    if (pj_isa_compare(version, since) < 0)
        return pj_ptx_say(reader, PJ_PTX_HEADER_CONTRADICTS, directive,
                          ".address_size needs PTX ISA 2.3 or newer, but .version says %u.%u: remove it, or "
                          "compile the PTX again",
                          version.major, version.minor);
    cursor->at += strlen(".address_size");
    if (!skip_space(reader))
        return false;
    const char *at = cursor->at;
    while (cursor->at < cursor->end && pj_ptx_is_name(*cursor->at))
        cursor->at++;
    unsigned long bits;
    if (!read_integer(at, (size_t)(cursor->at - at), &bits) || (bits != 32 && bits != 64)) {
        cursor->at = at;
        return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, directive,
                          ".address_size is %s: write `.address_size 64`", quote_word(reader));
    }
    reader->ptx->address_size = (unsigned)bits;
    if (bits == 32)
        return pj_ptx_say(reader, PJ_PTX_32_BIT, directive,
                          "32-bit PTX runs on no present architecture: compile it for 64 bits (nvcc -m64)");
    return true;
}

bool pj_ptx_read_header(struct pj_ptx_reader *reader)
{
    static const char *const directives[] = {".version", ".target", ".address_size"};
    if (!read_version(reader) || !read_targets(reader))
        return false;
    reader->ptx->address_size = 64;
    bool sized = at_word(reader, ".address_size");
    if (sized && (!read_address_size(reader) || !skip_space(reader)))
        return false;
    for (size_t i = 0; i < PJ_COUNT(directives); i++) {
        if (at_word(reader, directives[i]))
            return pj_ptx_say(reader, PJ_PTX_BAD_HEADER, reader->cursor.at,
                              "%s stands behind %s: " ORDER "%s", directives[i],
                              sized ? ".address_size" : ".target",
                              i == 1 ? "" : ", and there is one of each");
    }
    return true;
}
