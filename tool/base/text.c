/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between numbers and the text people read and write. */
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool pj_text_to_u64(const char *text, uint64_t maximum, uint64_t *ret_value)
{
    if (*text == '\0')
        return false;
    uint64_t value = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    }
    if (value > maximum)
        return false;
    *ret_value = value;
    return true;
}

static const struct {
    const char *name;
    uint64_t bytes;
} size_units[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", UINT64_C(1000) * 1000 * 1000 * 1000},
    {"KiB", 1024},
    {"MiB", 1024 * 1024},
    {"GiB", 1024 * 1024 * 1024},
    {"TiB", UINT64_C(1024) * 1024 * 1024 * 1024},
};

bool pj_text_to_size(const char *text, uint64_t *ret_bytes)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 19)
        return false;
    uint64_t whole = strtoull(text, NULL, 10);
    const char *rest = text + digits;
    uint64_t fraction = 0, scale = 1;
    if (*rest == '.') {
        size_t decimals = strspn(rest + 1, "0123456789");
        if (decimals == 0 || decimals > 6)
            return false;
        for (size_t i = 1; i <= decimals; i++) {
            fraction = fraction * 10 + (uint64_t)(rest[i] - '0');
            scale *= 10;
        }
        rest += 1 + decimals;
    }
    if (rest[0] == ' ' && rest[1] != '\0')
        rest++;
    for (size_t i = 0; i < PJ_COUNT(size_units); i++) {
        if (strcmp(rest, size_units[i].name) != 0)
            continue;
        if (fraction != 0 && size_units[i].bytes == 1)
            return false;
        uint64_t bytes;
        if (__builtin_mul_overflow(whole, size_units[i].bytes, &bytes) ||
            __builtin_add_overflow(bytes, size_units[i].bytes * fraction / scale, &bytes))
            return false;
        *ret_bytes = bytes;
        return true;
    }
    return false;
}

char *pj_text_from_size(uint64_t bytes, char ret_text[PJ_SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < 1000) {
        (void)snprintf(ret_text, PJ_SIZE_TEXT, "%" PRIu64 " B", bytes);
        return ret_text;
    }
    size_t unit = 0;
    double value = (double)bytes / 1000;
    while (value >= 999.5 && unit + 1 < PJ_COUNT(units)) {
        value /= 1000;
        unit++;
    }
    (void)snprintf(ret_text, PJ_SIZE_TEXT, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return ret_text;
}

char *pj_text_from_limit(uint64_t bytes, char ret_text[PJ_SIZE_TEXT])
{
    static const char *const units[] = {"MiB", "GiB", "TiB"};
    for (size_t i = PJ_COUNT(units); i-- > 0;) {
        uint64_t unit = UINT64_C(1) << (10 * (i + 2));
        if (bytes >= unit && bytes % unit == 0) {
            (void)snprintf(ret_text, PJ_SIZE_TEXT, "%" PRIu64 ".0 %s", bytes / unit, units[i]);
            return ret_text;
        }
    }
    return pj_text_from_size(bytes, ret_text);
}

char *pj_text_from_ms(double ms, char ret_text[PJ_DURATION_TEXT])
{
    if (ms > 0 && ms < 0.0995)
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%.2f ms", ms);
    else if (ms < 9.95)
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%.1f ms", ms);
    else if (ms < 999.5)
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%.0f ms", ms);
    else if (ms < 59950)
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%.1f s", ms / 1e3);
    else if (ms < 3599500) {
        int seconds = (int)(ms / 1e3 + 0.5);
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%d min %d s", seconds / 60, seconds % 60);
    } else if (ms < 3.6e12) {
        int minutes = (int)(ms / 6e4 + 0.5);
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%d h %d min", minutes / 60, minutes % 60);
    } else { /* more than minutes can count, or no number */
        (void)snprintf(ret_text, PJ_DURATION_TEXT, "%.3g h", ms / 3.6e6);
    }
    return ret_text;
}

/* Length of the well-formed UTF-8 sequence at `bytes`, 0 where there is none. */
static size_t utf8_length(const unsigned char *bytes, size_t size)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < PJ_COUNT(forms); i++) {
        if (bytes[0] < forms[i].low || bytes[0] > forms[i].high)
            continue;
        if (size < forms[i].length || bytes[1] < forms[i].second_low || bytes[1] > forms[i].second_high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if (bytes[k] < 0x80 || bytes[k] > 0xbf)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

void pj_text_escape(struct pj_buffer *buffer, const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < size;) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f) {
            pj_buffer_putc(buffer, text[i++]);
            continue;
        }
        size_t length = bytes[i] < 0x80 ? 0 : utf8_length(bytes + i, size - i);
        /* U+0080 to U+009F are control characters too. */
        if (length == 2 && bytes[i] == 0xc2 && bytes[i + 1] < 0xa0)
            length = 0;
        if (length > 0) {
            pj_buffer_append(buffer, text + i, length);
            i += length;
        } else {
            pj_buffer_printf(buffer, "\\x%02x", bytes[i++]);
        }
    }
}

enum { SUGGEST_MAX = 48 };

/* What differs in case alone, or in which of '_' and '-' it has, does not differ. */
static int folded(char c)
{
    return c == '-' ? '_' : tolower((unsigned char)c);
}

/* Levenshtein distance, at most SUGGEST_MAX characters each. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[SUGGEST_MAX + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > SUGGEST_MAX || length_b > SUGGEST_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t replace = diagonal + (folded(a[i - 1]) != folded(b[j - 1]));
            diagonal = row[j];
            size_t insert = row[j - 1] + 1, erase = row[j] + 1;
            row[j] = replace < insert ? replace : insert;
            if (erase < row[j])
                row[j] = erase;
        }
    }
    return row[length_b];
}

/* Equal but for case, and for '_' and '-', wherever they stand? */
static bool same_letters(const char *a, const char *b)
{
    for (;;) {
        a += strspn(a, "_-");
        b += strspn(b, "_-");
        if (folded(*a) != folded(*b))
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

const char *pj_text_suggest(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(text) < 4 ? 2 : 3; /* exclusive */
    for (size_t i = 0; i < count; i++) {
        size_t distance = same_letters(text, names[i]) ? 0 : edit_distance(text, names[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}
