/* SPDX-License-Identifier: Apache-2.0 */
/* Versions and dates. */
#include "profile/value.h"

#include <string.h>

static const char digit_characters[] = "0123456789";

bool pj_profile_is_version(const char *text)
{
    enum { NUMBERS_MIN = 2, NUMBERS_MAX = 4, DIGITS_MAX = 5 };
    for (unsigned numbers = 1; numbers <= NUMBERS_MAX; numbers++) {
        size_t digits = strspn(text, digit_characters);
        if (digits == 0 || digits > DIGITS_MAX)
            return false;
        text += digits;
        if (*text == '\0')
            return numbers >= NUMBERS_MIN;
        if (*text++ != '.')
            return false;
    }
    return false;
}

static bool read_number(const char **text, unsigned digits, uint16_t *ret_number)
{
    size_t length = strspn(*text, digit_characters);
    if (length == 0 || length > digits || (length > 1 && **text == '0'))
        return false;
    unsigned number = 0;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (unsigned)((*text)[i] - '0');
    *text += length;
    *ret_number = (uint16_t)number;
    return true;
}

bool pj_profile_read_pair(const char *text, unsigned digits, uint16_t *ret_major, uint16_t *ret_minor)
{
    uint16_t major, minor;
    if (!read_number(&text, digits, &major) || *text++ != '.' || !read_number(&text, digits, &minor) ||
        *text != '\0')
        return false;
    *ret_major = major;
    *ret_minor = minor;
    return true;
}

bool pj_profile_is_date(const char *text)
{
    static const unsigned char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char form[] = "dddd-dd-dd";
    if (strlen(text) != sizeof form - 1)
        return false;
    unsigned parts[3] = {0}, part = 0;
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
        if (form[i] == 'd')
            parts[part] = parts[part] * 10 + (unsigned)(text[i] - '0');
        else
            part++;
    }
    unsigned year = parts[0], month = parts[1], day = parts[2];
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return year >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (leap || month != 2 || day != 29);
}
