/* SPDX-License-Identifier: Apache-2.0 */
/* Reads architectures as people and PTX write them. */
#include <string.h>

#include "arch/arch.h"
#include "arch/table.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

enum { QUOTED_MAX = 60, SMALL_TEXT = 32 };

/* What was read, safe to print and of bounded length. */
static void quote(const char *text, struct pj_buffer *buffer)
{
    size_t length = strlen(text);
    size_t shown = length > QUOTED_MAX ? QUOTED_MAX : length;
    pj_buffer_putc(buffer, '"');
    pj_text_escape(buffer, text, shown);
    pj_buffer_puts(buffer, shown < length ? "...\"" : "\"");
}

/* Reads digits without leading zeros, at most three; gives how many were read, 0 for none. */
static size_t read_number(const char *text, unsigned *ret_number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || text[0] == '0')
        return 0;
    unsigned number = 0;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    *ret_number = number;
    return digits;
}

/* `90`, `90a`, `sm_90a`, `9.0a`; existence is not looked at. */
static bool read_spelling(const char *text, struct pj_arch *ret_arch)
{
    unsigned number = 0;
    bool prefixed = strncmp(text, "sm_", 3) == 0;
    const char *rest = prefixed ? text + 3 : text;
    size_t digits = read_number(rest, &number);
    if (digits == 0)
        return false;
    rest += digits;
    if (!prefixed && *rest == '.') {
        if (digits > 2 || rest[1] < '0' || rest[1] > '9')
            return false;
        number = number * 10 + (unsigned)(rest[1] - '0');
        rest += 2;
    }
    char letter = 0;
    if (*rest >= 'a' && *rest <= 'z')
        letter = *rest++;
    if (*rest != '\0')
        return false;
    *ret_arch = (struct pj_arch){.number = (uint16_t)number, .letter = letter};
    return true;
}

/* What CMake and PyTorch write behind an architecture, to choose between code and PTX; small letters. */
static const char *const suffixes[] = {"+ptx", "-real", "-virtual"};

/* The one of them that `text`, in small letters, ends in, or NULL. */
static const char *suffix_of(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < PJ_COUNT(suffixes); i++) {
        size_t size = strlen(suffixes[i]);
        if (length > size && strcmp(text + length - size, suffixes[i]) == 0)
            return text + length - size;
    }
    return NULL;
}

/* The text in small letters; false where it is longer than an architecture can be. */
static bool make_small(const char *text, char ret_small[SMALL_TEXT])
{
    size_t length = strlen(text);
    if (length >= SMALL_TEXT)
        return false;
    for (size_t i = 0; i <= length; i++) {
        char c = text[i];
        ret_small[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return true;
}

bool pj_arch_guess(const char *text, struct pj_arch *ret_arch)
{
    char lower[SMALL_TEXT];
    if (!make_small(text, lower))
        return false;
    char *suffix = (char *)suffix_of(lower);
    if (suffix)
        *suffix = '\0';
    static const char *const prefixes[] = {"compute_", "sm_", "sm-", "sm", "compute-", "compute", "lto_", ""};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t prefix = strlen(prefixes[i]);
        struct pj_arch arch;
        if (strncmp(lower, prefixes[i], prefix) == 0 && strncmp(lower + prefix, "sm_", 3) != 0 &&
            read_spelling(lower + prefix, &arch) && pj_arch_exists(arch)) {
            *ret_arch = arch;
            return true;
        }
    }
    return false;
}

static const char *letters_of(const struct pj_arch_row *row)
{
    if (row->isa_f)
        return "takes the letters a and f";
    return row->isa_a ? "takes the letter a alone" : "takes no letter";
}

static void explain_spelling(struct pj_buffer *buffer, const char *text)
{
    struct pj_arch meant;
    char name[PJ_ARCH_TEXT];
    quote(text, buffer);
    if (pj_arch_guess(text, &meant)) {
        char small[SMALL_TEXT];
        pj_buffer_printf(buffer,
                         strncmp(text, "compute_", 8) == 0 ? " is a virtual architecture: did you mean %s?"
                                                           : " is no architecture: did you mean %s?",
                         pj_arch_text(meant, name));
        if (make_small(text, small) && suffix_of(small))
            pj_buffer_puts(buffer, " (every target is compiled from PTX, so a target has no suffix)");
        return;
    }
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && text[digits] == '.' && strspn(text + digits + 1, "0123456789") > 1)
        pj_buffer_puts(buffer, " is no architecture: one digit follows the point, as in 9.0 or 12.1");
    else
        pj_buffer_puts(buffer, " is no architecture: write sm_90, 90 or 9.0, and the letter a or f behind it "
                               "where there is one, as in sm_90a");
}

static void explain_absence(struct pj_buffer *buffer, const char *text, struct pj_arch arch)
{
    char name[PJ_ARCH_TEXT];
    const struct pj_arch_row *row = pj_arch_row_find(arch.number);
    quote(text, buffer);
    pj_buffer_printf(buffer, ": there is no %s; ", pj_arch_text(arch, name));
    if (row) {
        arch.letter = 0;
        pj_buffer_printf(buffer, "%s %s", pj_arch_text(arch, name), letters_of(row));
        return;
    }
    pj_buffer_puts(buffer, "the architectures of CUDA 13 are");
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    for (size_t i = 0; i < count; i++)
        pj_buffer_printf(buffer, "%s%u", i == 0 ? " " : i + 1 == count ? " and " : ", ", all[i]);
}

int pj_arch_parse(const char *text, struct pj_arch *ret_arch, struct pj_error **err)
{
    struct pj_arch arch;
    PJ_CLEANUP_BUFFER struct pj_buffer message = {0};
    if (!read_spelling(text, &arch)) {
        explain_spelling(&message, text);
    } else if (!pj_arch_exists(arch)) {
        explain_absence(&message, text, arch);
    } else {
        *ret_arch = arch;
        return 0;
    }
    int status = pj_buffer_check(&message, err);
    return status < 0 ? status : pj_error_set(err, PJ_ERROR_FORMAT, "%s", pj_buffer_text(&message));
}

bool pj_arch_parse_ptx(const char *text, size_t size, struct pj_arch *ret_arch)
{
    size_t at = 0;
    if (size > 3 && memcmp(text, "sm_", 3) == 0)
        at = 3;
    else if (size > 8 && memcmp(text, "compute_", 8) == 0)
        at = 8;
    else
        return false;
    unsigned number = 0;
    size_t first = at;
    for (; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
        number = number * 10 + (unsigned)(text[at] - '0');
        if (number > 999)
            return false;
    }
    if (at == first || number == 0)
        return false;
    char letter = 0;
    if (at < size && (text[at] == 'a' || text[at] == 'f'))
        letter = text[at++];
    if (at != size)
        return false;
    *ret_arch = (struct pj_arch){.number = (uint16_t)number, .letter = letter};
    return true;
}
