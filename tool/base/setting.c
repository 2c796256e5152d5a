/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of cache settings as the driver does. */
#include "base/setting.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

/* Below the first no entry fits: header, key and an ELF header alone need more. */
enum { SMALLEST_LIMIT_BYTES = 256, SMALLEST_WITH_UNIT = 65536 };
#define DEFAULT_LIMIT_BYTES (UINT64_C(1) << 30)

/* "2G", "512 MB", "1.5GiB": what its writer meant. */
static uint64_t meant_size(const char *text)
{
    static const char units[] = "KMGT";
    uint64_t bytes;
    if (pj_text_to_size(text, &bytes) && bytes >= SMALLEST_LIMIT_BYTES)
        return bytes;
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    end += strspn(end, " ");
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (number == 0 || number > 65536 || !unit)
        return DEFAULT_LIMIT_BYTES;
    return number << (10 * (unsigned)(unit - units + 1));
}

struct pj_size_setting pj_setting_size(const char *text)
{
    struct pj_size_setting size = {.read_bytes = strtoull(text, NULL, 10)};
    bool minus = text[strspn(text, " \t\n")] == '-' && size.read_bytes != 0;
    bool has_unit = strpbrk(text, "kKmMgGtT") != NULL;
    if (minus || size.read_bytes == UINT64_MAX) {
        size.reading = PJ_SIZE_NO_LIMIT;
        size.meant_bytes = UINT64_C(1) << 32;
        return size;
    }
    size.meant_bytes = meant_size(text);
    if (size.read_bytes < SMALLEST_LIMIT_BYTES || (has_unit && size.read_bytes < SMALLEST_WITH_UNIT))
        size.reading = PJ_SIZE_NOTHING;
    else if (strspn(text, "0123456789") != strlen(text))
        size.reading = PJ_SIZE_ODD;
    if (size.reading == PJ_SIZE_ODD && strspn(text, "0123456789. ") == strlen(text))
        size.meant_bytes = size.read_bytes;
    return size;
}

bool pj_setting_is_literal(const char *path)
{
    const char *dollar = strchr(path, '$');
    return path[0] == '~' || path[0] == '"' || path[0] == '\'' ||
           (dollar && (dollar[1] == '{' || dollar[1] == '_' || isalpha((unsigned char)dollar[1])));
}

char *pj_setting_written_out(const char *path, const char *home)
{
    static const char *const starts[] = {"~", "$HOME", "${HOME}"};
    size_t length = strlen(path);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (length >= 2 && (path[0] == '"' || path[0] == '\'') && path[length - 1] == path[0]) {
        path++;
        length -= 2;
    }
    for (size_t i = 0; i < PJ_COUNT(starts) && home; i++) {
        size_t size = strlen(starts[i]);
        if (length < size || strncmp(path, starts[i], size) != 0 || (length > size && path[size] != '/'))
            continue;
        pj_buffer_puts(&text, home);
        path += size;
        length -= size;
        break;
    }
    pj_buffer_append(&text, path, length);
    return text.failed || strpbrk(pj_buffer_text(&text), "~$") ? NULL : PJ_STEAL(text.data);
}
