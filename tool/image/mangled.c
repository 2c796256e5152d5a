/* SPDX-License-Identifier: Apache-2.0 */
/* As much of the Itanium C++ ABI as tells the name of a function: its parts, each behind its length. */
#include "image/mangled.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Behind the part `5saxpy` where it stands at `at`; NULL where it does not. */
static const char *skip_part(const char *at, const char *part, size_t length)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%zu", length);
    if (strncmp(at, digits, (size_t)count) != 0 || strncmp(at + count, part, length) != 0)
        return NULL;
    return at + count + length;
}

static bool stands_for(const char *name, const char *wanted)
{
    size_t left = strcspn(wanted, "(<");
    while (left > 0 && wanted[left - 1] == ' ')
        left--;
    if (strncmp(name, "_Z", 2) != 0 || left == 0)
        return false;
    const char *at = name + 2;
    at += *at == 'N' || *at == 'L';
    while (at && left > 0) {
        const char *end = memmem(wanted, left, "::", 2);
        size_t length = end ? (size_t)(end - wanted) : left;
        at = length > 0 ? skip_part(at, wanted, length) : at;
        size_t used = end ? length + 2 : length;
        wanted += used;
        left -= used;
    }
    /* Another part would be a longer name. */
    return at && !(*at >= '0' && *at <= '9');
}

const char *pj_mangled_find(const char *const *names, size_t count, const char *wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (stands_for(names[i], wanted))
            return names[i];
    }
    return NULL;
}
