/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and strict reading of single JSON values. */
#include "report/receipt_codec.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/phrase.h"

bool pj_codec_ok(const struct pj_codec *codec)
{
    return !codec->expected && !codec->no_memory;
}

bool pj_codec_reading(const struct pj_codec *codec)
{
    return codec->out == NULL;
}

void pj_codec_fail(struct pj_codec *codec, const char *expected)
{
    if (pj_codec_ok(codec))
        codec->expected = expected;
}

void pj_codec_fail_memory(struct pj_codec *codec)
{
    if (pj_codec_ok(codec))
        codec->no_memory = true;
}

int pj_codec_check(const struct pj_codec *codec, struct pj_error **err)
{
    enum { EXCERPT_BYTES = 24 };
    if (codec->no_memory || (codec->out && codec->out->failed))
        return pj_error_no_memory(err);
    if (!codec->expected)
        return 0;
    const char *member = codec->member ? codec->member : "schema";
    if (!pj_codec_reading(codec))
        return pj_error_set(err, PJ_ERROR_INTERNAL, "writing the receipt, member \"%s\": expected %s", member,
                            codec->expected);
    PJ_CLEANUP_BUFFER struct pj_buffer found = {0};
    size_t left = (size_t)(codec->end - codec->at);
    if (left == 0)
        pj_buffer_puts(&found, "the end");
    else {
        pj_buffer_putc(&found, '`');
        pj_phrase_cut(&found, codec->at, left, EXCERPT_BYTES);
        pj_buffer_putc(&found, '`');
    }
    if (found.failed)
        return pj_error_no_memory(err);
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "reading the receipt at byte %zu, member \"%s\": expected %s, found %s; "
                        "`prejit warm` writes a new one",
                        (size_t)(codec->at - codec->begin), member, codec->expected, pj_buffer_text(&found));
}

/* Reading: takes `size` bytes if they come next. */
static bool take(struct pj_codec *codec, const char *bytes, size_t size)
{
    if (!pj_codec_ok(codec) || (size_t)(codec->end - codec->at) < size || memcmp(codec->at, bytes, size) != 0)
        return false;
    codec->at += size;
    return true;
}

static bool take_text(struct pj_codec *codec, const char *text)
{
    return take(codec, text, strlen(text));
}

static void put(struct pj_codec *codec, const char *bytes, size_t size)
{
    if (pj_codec_ok(codec))
        pj_buffer_append(codec->out, bytes, size);
}

void pj_codec_literal(struct pj_codec *codec, const char *text)
{
    if (!pj_codec_reading(codec))
        put(codec, text, strlen(text));
    else if (!take_text(codec, text))
        pj_codec_fail(codec, text);
}

void pj_codec_member(struct pj_codec *codec, const char *name)
{
    if (!pj_codec_ok(codec))
        return;
    codec->member = name;
    if (!pj_codec_reading(codec)) {
        pj_codec_literal(codec, codec->follows ? ",\"" : "\"");
        pj_codec_literal(codec, name);
        pj_codec_literal(codec, "\":");
    } else if (!pj_codec_try_member(codec, name)) {
        pj_codec_fail(codec, "this member");
    }
    codec->follows = true;
}

bool pj_codec_try_member(struct pj_codec *codec, const char *name)
{
    const char *before = codec->at;
    if ((!codec->follows || take_text(codec, ",")) && take_text(codec, "\"") && take_text(codec, name) &&
        take_text(codec, "\":")) {
        codec->member = name;
        codec->follows = true;
        return true;
    }
    codec->at = before;
    return false;
}

bool pj_codec_has_member(struct pj_codec *codec, const char *name)
{
    struct pj_codec ahead = *codec;
    return pj_codec_try_member(&ahead, name);
}

void pj_codec_open(struct pj_codec *codec, char bracket)
{
    pj_codec_literal(codec, bracket == '{' ? "{" : "[");
    codec->follows = false;
}

void pj_codec_close(struct pj_codec *codec, char bracket)
{
    pj_codec_literal(codec, bracket == '}' ? "}" : "]");
    codec->follows = true;
}

bool pj_codec_more(struct pj_codec *codec, size_t index, size_t count)
{
    if (!pj_codec_ok(codec))
        return false;
    bool more = pj_codec_reading(codec) ? codec->at < codec->end && *codec->at != ']' : index < count;
    if (more && index > 0)
        pj_codec_literal(codec, ",");
    return more && pj_codec_ok(codec);
}

bool pj_codec_optional(struct pj_codec *codec, bool *present)
{
    if (!pj_codec_ok(codec))
        return false;
    if (pj_codec_reading(codec))
        *present = !take_text(codec, "null");
    else if (!*present)
        pj_codec_literal(codec, "null");
    return *present;
}

static void put_escape(struct pj_codec *codec, const char *prefix, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char hex[2] = {digits[byte >> 4], digits[byte & 15]};
    put(codec, prefix, strlen(prefix));
    put(codec, hex, sizeof hex);
}

/* A byte that is no UTF-8 becomes the lone surrogate U+DC80 to U+DCFF, as in Python's surrogateescape. */
static void put_string(struct pj_codec *codec, const char *text)
{
    size_t size = strlen(text), plain = 0, at = 0;
    put(codec, "\"", 1);
    while (at < size) {
        unsigned char byte = (unsigned char)text[at];
        size_t length = byte < 0x80 ? 1 : pj_phrase_character(text + at, size - at);
        if (length > 0 && byte >= 0x20 && byte != '"' && byte != '\\') {
            at += length;
            continue;
        }
        put(codec, text + plain, at - plain);
        if (byte == '"' || byte == '\\') {
            put(codec, "\\", 1);
            put(codec, text + at, 1);
        } else {
            put_escape(codec, byte < 0x20 ? "\\u00" : "\\udc", byte);
        }
        plain = ++at;
    }
    put(codec, text + plain, at - plain);
    put(codec, "\"", 1);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that `\u00XX` or `\udcXX` at `text` stands for; 0 where it is neither. */
static unsigned char unescape(const char *text, size_t left)
{
    if (left < 6)
        return 0;
    int high = hex_value(text[4]), low = hex_value(text[5]);
    if (high < 0 || low < 0)
        return 0;
    unsigned char byte = (unsigned char)(high << 4 | low);
    bool control = memcmp(text, "\\u00", 4) == 0 && byte < 0x20;
    bool raw = memcmp(text, "\\udc", 4) == 0 && byte >= 0x80;
    return control || raw ? byte : 0;
}

/* Copies a string's inside, which has `size` bytes, to `ret_text`, which has room for as many and a NUL. */
static bool decode(const char *inside, size_t size, char *ret_text)
{
    for (size_t at = 0; at < size;) {
        size_t left = size - at;
        if (inside[at] != '\\') {
            *ret_text++ = inside[at++];
        } else if (left >= 2 && (inside[at + 1] == '"' || inside[at + 1] == '\\')) {
            *ret_text++ = inside[at + 1];
            at += 2;
        } else {
            unsigned char byte = unescape(inside + at, left);
            if (byte == 0)
                return false;
            *ret_text++ = (char)byte;
            at += 6;
        }
    }
    *ret_text = '\0';
    return true;
}

/* Reading: takes a string, gives the bytes between its quotes. */
static bool take_string(struct pj_codec *codec, const char **ret_inside, size_t *ret_size, bool *ret_escaped)
{
    if (!pj_codec_ok(codec) || codec->at == codec->end || *codec->at != '"')
        return false;
    bool escaped = false;
    const char *c = codec->at + 1;
    for (; c < codec->end && *c != '"'; c++) {
        if ((unsigned char)*c < 0x20)
            return false;
        if (*c != '\\')
            continue;
        escaped = true;
        if (++c == codec->end)
            return false;
    }
    if (c >= codec->end)
        return false;
    *ret_inside = codec->at + 1;
    *ret_size = (size_t)(c - codec->at - 1);
    *ret_escaped = escaped;
    codec->at = c + 1;
    return true;
}

void pj_codec_text(struct pj_codec *codec, const char **text, bool nullable)
{
    const char *expected = nullable ? "a string or null" : "a string";
    if (!pj_codec_ok(codec))
        return;
    if (!pj_codec_reading(codec)) {
        if (*text)
            put_string(codec, *text);
        else if (nullable)
            pj_codec_literal(codec, "null");
        else
            pj_codec_fail(codec, expected);
        return;
    }
    const char *start = codec->at, *inside;
    size_t size;
    bool escaped;
    *text = NULL;
    if (nullable && take_text(codec, "null"))
        return;
    if (!take_string(codec, &inside, &size, &escaped)) {
        pj_codec_fail(codec, expected);
        return;
    }
    char *copy = pj_arena_strndup(codec->arena, inside, size);
    if (!copy) {
        pj_codec_fail_memory(codec);
    } else if (escaped && !decode(inside, size, copy)) {
        codec->at = start;
        pj_codec_fail(codec, "a string with the escapes that prejit writes");
    } else {
        *text = copy;
    }
}

static void put_digits(struct pj_codec *codec, uint64_t value, size_t least)
{
    char digits[24];
    size_t at = sizeof digits;
    while (value > 0 || sizeof digits - at < least) {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    }
    put(codec, digits + at, sizeof digits - at);
}

/* Reading: a number without a sign or leading zeros. */
static bool take_digits(struct pj_codec *codec, uint64_t maximum, uint64_t *ret_value)
{
    const char *c = codec->at;
    uint64_t value = 0;
    for (; c < codec->end && *c >= '0' && *c <= '9'; c++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    }
    if (c == codec->at || value > maximum || (*codec->at == '0' && c > codec->at + 1))
        return false;
    codec->at = c;
    *ret_value = value;
    return true;
}

void pj_codec_unsigned(struct pj_codec *codec, uint64_t maximum, uint64_t *value)
{
    if (!pj_codec_reading(codec))
        put_digits(codec, *value, 1);
    else if (pj_codec_ok(codec) && !take_digits(codec, maximum, value))
        pj_codec_fail(codec, "a whole number within its limits");
}

void pj_codec_position(struct pj_codec *codec, uint32_t *position)
{
    const char *start = codec->at;
    uint64_t value = *position;
    pj_codec_unsigned(codec, UINT32_MAX, &value);
    if (pj_codec_ok(codec) && value >= codec->position_count) {
        codec->at = start;
        pj_codec_fail(codec, "the position of one of those above");
    }
    if (pj_codec_reading(codec))
        *position = (uint32_t)value;
}

void pj_codec_signed(struct pj_codec *codec, int64_t *value)
{
    if (!pj_codec_ok(codec))
        return;
    if (!pj_codec_reading(codec)) {
        put(codec, "-", *value < 0);
        put_digits(codec, *value < 0 ? -(uint64_t)*value : (uint64_t)*value, 1);
        return;
    }
    const char *start = codec->at;
    bool negative = take_text(codec, "-");
    uint64_t magnitude = 0;
    if (!take_digits(codec, (uint64_t)INT64_MAX + negative, &magnitude) || (negative && magnitude == 0)) {
        codec->at = start;
        pj_codec_fail(codec, "a whole number within its limits");
        return;
    }
    *value = negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
}

void pj_codec_flag(struct pj_codec *codec, bool *value)
{
    if (!pj_codec_reading(codec))
        pj_codec_literal(codec, *value ? "true" : "false");
    else if (take_text(codec, "true"))
        *value = true;
    else if (take_text(codec, "false"))
        *value = false;
    else
        pj_codec_fail(codec, "true or false");
}

/* Microseconds in all; far beyond any run, and exact in a double. */
static const uint64_t microseconds_maximum = UINT64_C(1) << 52;

bool pj_codec_ms_fits(double value)
{
    return isfinite(value) && value >= 0 && value * 1000 <= (double)microseconds_maximum;
}

/* Written by hand: printf's decimal point depends on the locale. */
void pj_codec_ms(struct pj_codec *codec, double *value)
{
    if (!pj_codec_ok(codec))
        return;
    if (!pj_codec_reading(codec)) {
        uint64_t us = (uint64_t)(*value * 1000 + 0.5);
        put_digits(codec, us / 1000, 1);
        put(codec, ".", 1);
        put_digits(codec, us % 1000, 3);
        return;
    }
    const char *start = codec->at;
    uint64_t whole = 0, part = 0;
    bool good = take_digits(codec, microseconds_maximum / 1000, &whole) && take_text(codec, ".");
    for (int i = 0; good && i < 3; i++) {
        good = codec->at < codec->end && *codec->at >= '0' && *codec->at <= '9';
        if (good)
            part = part * 10 + (uint64_t)(*codec->at++ - '0');
    }
    if (good) {
        *value = (double)(whole * 1000 + part) / 1000;
        return;
    }
    codec->at = start;
    pj_codec_fail(codec, "milliseconds with three decimals");
}

void pj_codec_digest(struct pj_codec *codec, struct pj_sha256 *digest)
{
    char hex[PJ_SHA256_HEX];
    if (!pj_codec_reading(codec)) {
        pj_sha256_hex(digest, hex);
        pj_codec_literal(codec, "\"");
        pj_codec_literal(codec, hex);
        pj_codec_literal(codec, "\"");
        return;
    }
    const char *start = codec->at, *inside;
    size_t size;
    bool escaped;
    bool good = take_string(codec, &inside, &size, &escaped) && size == PJ_SHA256_HEX - 1;
    if (good) {
        memcpy(hex, inside, size);
        hex[size] = '\0';
        good = pj_sha256_parse(hex, digest, NULL) == 0;
    }
    if (!good) {
        codec->at = start;
        pj_codec_fail(codec, "64 hex digits");
    }
}

void pj_codec_word(struct pj_codec *codec, const char *const *words, unsigned count, unsigned *value)
{
    if (!pj_codec_ok(codec))
        return;
    if (!pj_codec_reading(codec)) {
        const char *word = *value < count ? words[*value] : "";
        pj_codec_text(codec, &(const char *){*word ? word : NULL}, true);
        return;
    }
    const char *start = codec->at, *inside = "";
    size_t size = 0;
    bool escaped;
    bool known = take_text(codec, "null") || (take_string(codec, &inside, &size, &escaped) && size > 0);
    for (unsigned i = 0; known && i < count; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], inside, size) == 0) {
            *value = i;
            return;
        }
    }
    codec->at = start;
    pj_codec_fail(codec, "one of the words that prejit writes here");
}
