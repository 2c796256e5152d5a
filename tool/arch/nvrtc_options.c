/* SPDX-License-Identifier: Apache-2.0 */
/* The table of NVRTC's options that matter, and how their texts are taken apart. */
#include "arch/nvrtc_options.h"

#include <string.h>

#include "base/memory.h"

/* How an option takes its value; all were tried with NVRTC 13.0.88. */
enum form {
    ALONE,    /* none; with `=` it is refused, or it makes no difference */
    EQUALS,   /* -x=value */
    SEPARATE, /* -x=value, or the value as the next text, whatever that is */
    ATTACHED, /* -xvalue, -x=value, -x value in one text, or the next text */
};

static const struct row {
    const char *name;
    enum form form;
    enum pj_nvrtc_kind kind;
} rows[] = {
    {"--gpu-architecture", SEPARATE, PJ_NVRTC_ARCHITECTURE},
    {"-arch", SEPARATE, PJ_NVRTC_ARCHITECTURE},
    {"--include-path", SEPARATE, PJ_NVRTC_INCLUDE},
    {"--relocatable-device-code", SEPARATE, PJ_NVRTC_RELOCATABLE},
    {"-rdc", SEPARATE, PJ_NVRTC_RELOCATABLE},
    {"--device-c", ALONE, PJ_NVRTC_RELOCATABLE},
    {"-dc", ALONE, PJ_NVRTC_RELOCATABLE},
    {"--dlink-time-opt", ALONE, PJ_NVRTC_LTO},
    {"-dlto", ALONE, PJ_NVRTC_LTO},
    {"--optix-ir", ALONE, PJ_NVRTC_OPTIX},
    {"-optix-ir", ALONE, PJ_NVRTC_OPTIX},
    {"--fdevice-syntax-only", ALONE, PJ_NVRTC_SYNTAX_ONLY},
    {"-fdevice-syntax-only", ALONE, PJ_NVRTC_SYNTAX_ONLY},
    {"--no-cache", ALONE, PJ_NVRTC_NO_CACHE},
    {"-no-cache", ALONE, PJ_NVRTC_NO_CACHE},
    {"--pch", ALONE, PJ_NVRTC_PCH},
    {"-pch", ALONE, PJ_NVRTC_PCH},
    {"--create-pch", EQUALS, PJ_NVRTC_PCH},
    {"-create-pch", EQUALS, PJ_NVRTC_PCH},
    {"--use-pch", EQUALS, PJ_NVRTC_PCH},
    {"-use-pch", EQUALS, PJ_NVRTC_PCH},
    {"--pch-dir", EQUALS, PJ_NVRTC_PCH},
    {"-pch-dir", EQUALS, PJ_NVRTC_PCH},
    {"--pch-verbose", SEPARATE, PJ_NVRTC_PCH},
    {"-pch-verbose", SEPARATE, PJ_NVRTC_PCH},
    {"--pch-messages", SEPARATE, PJ_NVRTC_PCH},
    {"-pch-messages", SEPARATE, PJ_NVRTC_PCH},
    {"--instantiate-templates-in-pch", SEPARATE, PJ_NVRTC_PCH},
    {"-instantiate-templates-in-pch", SEPARATE, PJ_NVRTC_PCH},
    {"--time", EQUALS, PJ_NVRTC_WRITES},
    {"-time", EQUALS, PJ_NVRTC_WRITES},
    {"--fdevice-time-trace", EQUALS, PJ_NVRTC_WRITES},
    {"-fdevice-time-trace", EQUALS, PJ_NVRTC_WRITES},
    {"--enable-cache-trace", ALONE, PJ_NVRTC_PRINTS},
    {"-enable-cache-trace", ALONE, PJ_NVRTC_PRINTS},
    /* Nothing of them matters but that the next text is theirs, `-dlto` too. */
    {"--define-macro", SEPARATE, PJ_NVRTC_OTHER},
    {"--undefine-macro", SEPARATE, PJ_NVRTC_OTHER},
    {"--pre-include", SEPARATE, PJ_NVRTC_OTHER},
    {"-include", SEPARATE, PJ_NVRTC_OTHER},
    {"--ptxas-options", SEPARATE, PJ_NVRTC_OTHER},
    {"-Xptxas", SEPARATE, PJ_NVRTC_OTHER},
    {"-Xcudafe", SEPARATE, PJ_NVRTC_OTHER},
    {"-Xnvvm", SEPARATE, PJ_NVRTC_OTHER},
    /* Behind the longer names that begin like them. */
    {"-I", ATTACHED, PJ_NVRTC_INCLUDE},
    {"-D", ATTACHED, PJ_NVRTC_OTHER},
    {"-U", ATTACHED, PJ_NVRTC_OTHER},
};

/* A text without the blanks around it. */
struct span {
    const char *text;
    size_t size;
};

static struct span trim(const char *text)
{
    struct span span = {.text = text + strspn(text, " ")};
    span.size = strlen(span.text);
    while (span.size > 0 && span.text[span.size - 1] == ' ')
        span.size--;
    return span;
}

static const struct row *find_row(struct span span)
{
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        size_t length = strlen(rows[i].name);
        if (span.size < length || memcmp(span.text, rows[i].name, length) != 0)
            continue;
        if (rows[i].form == ATTACHED || span.size == length || strchr("= ", span.text[length]))
            return &rows[i];
    }
    return NULL;
}

static void set_value(struct pj_nvrtc_option *option, const char *text, size_t size)
{
    option->value = text;
    option->value_size = size;
}

/* The value behind the name, in the same text; false where the text ends with the name. */
static bool read_rest(struct span span, const struct row *row, struct pj_nvrtc_option *option)
{
    const char *rest = span.text + strlen(row->name), *end = span.text + span.size;
    if (rest == end)
        return false;
    if (*rest == ' ' && row->form != ATTACHED) {
        option->one_text = true;
        option->kind = row->form == ALONE ? PJ_NVRTC_OTHER : row->kind;
    }
    if (*rest == '=' || option->one_text)
        rest++;
    while (row->form == ATTACHED && rest < end && *rest == ' ')
        rest++;
    set_value(option, rest, (size_t)(end - rest));
    return true;
}

bool pj_nvrtc_option_next(const char *const *options, size_t count, size_t *index,
                          struct pj_nvrtc_option *ret_option)
{
    if (*index >= count)
        return false;
    struct span span = trim(options[*index]);
    const struct row *row = find_row(span);
    *ret_option =
        (struct pj_nvrtc_option){.kind = row ? row->kind : PJ_NVRTC_OTHER, .index = *index, .text_count = 1};
    if (row && !read_rest(span, row, ret_option) && (row->form == SEPARATE || row->form == ATTACHED)) {
        ret_option->value_missing = *index + 1 == count;
        if (!ret_option->value_missing) {
            struct span next = trim(options[*index + 1]);
            set_value(ret_option, next.text, next.size);
            ret_option->text_count = 2;
        }
    }
    *index += ret_option->text_count;
    return true;
}

bool pj_nvrtc_architecture(const struct pj_nvrtc_option *option, struct pj_arch *ret_arch, bool *ret_real)
{
    char text[PJ_ARCH_TEXT];
    struct pj_arch arch;
    if (!option->value || option->one_text || !pj_arch_parse_ptx(option->value, option->value_size, &arch) ||
        !pj_arch_exists(arch))
        return false;
    /* Behind the underscore NVRTC takes no leading zero. */
    size_t prefix = option->value[0] == 's' ? 3 : 8;
    (void)pj_arch_text(arch, text);
    if (strlen(text) - 3 != option->value_size - prefix)
        return false;
    *ret_arch = arch;
    *ret_real = prefix == 3;
    return true;
}

/* `-rdc=false` is an option of that kind, and says the opposite. */
static bool relocates(const struct pj_nvrtc_option *option)
{
    static const char no[] = "false";
    return option->value_size != sizeof no - 1 || memcmp(option->value, no, sizeof no - 1) != 0;
}

void pj_nvrtc_options_read(const char *const *options, size_t count, struct pj_nvrtc_options *ret_options)
{
    struct pj_nvrtc_options read = {0};
    struct pj_nvrtc_option option;
    for (size_t index = 0; pj_nvrtc_option_next(options, count, &index, &option);) {
        switch (option.kind) {
        case PJ_NVRTC_ARCHITECTURE:
            read.has_architecture |= pj_nvrtc_architecture(&option, &read.architecture, &read.real);
            break;
        case PJ_NVRTC_INCLUDE:
            read.include_count++;
            break;
        case PJ_NVRTC_RELOCATABLE:
            read.relocatable = relocates(&option);
            break;
        case PJ_NVRTC_LTO:
            read.lto = true;
            break;
        case PJ_NVRTC_OPTIX:
            read.optix = true;
            break;
        case PJ_NVRTC_SYNTAX_ONLY:
            read.syntax_only = true;
            break;
        case PJ_NVRTC_PCH:
            read.pch = true;
            break;
        case PJ_NVRTC_NO_CACHE:
        case PJ_NVRTC_WRITES:
        case PJ_NVRTC_PRINTS:
        case PJ_NVRTC_OTHER:
            break;
        }
    }
    read.relocatable |= read.lto;
    *ret_options = read;
}
