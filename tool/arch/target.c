/* SPDX-License-Identifier: Apache-2.0 */
/* Reads targets: native, all, an architecture, a range, a family, a GPU. */
#include "arch/target.h"

#include <string.h>
#include <strings.h>

#include "arch/gpu.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

static const struct {
    const char *name;
    uint16_t first, last;
} families[] = {
    {"turing", 75, 75}, {"ampere", 80, 87}, {"ada", 89, 89}, {"hopper", 90, 90}, {"blackwell", 100, 121},
};

static const char *const words[] = {"native", "all", "turing", "ampere", "ada", "hopper", "blackwell"};

/* Words of other tools, families that CUDA 13 compiles no code for, and
 * names of several GPUs. */
static const struct {
    const char *word, *advice;
} foreign_words[] = {
    {"auto", "write native"},
    {"current", "write native"},
    {"host", "write native"},
    {"local", "write native"},
    {"all-major", "write all, or name them: sm_80, sm_90, sm_100, sm_120"},
    {"volta", "write sm_70, or sm_72 for Jetson Xavier"},
    {"pascal", "write sm_60 or sm_61"},
    {"maxwell", "write sm_50, sm_52 or sm_53"},
    {"rtx 6000", "write quadro rtx 6000, rtx 6000 ada or rtx pro 6000"},
    {"rtx 5000", "write quadro rtx 5000, rtx 5000 ada or rtx pro 5000"},
    {"rtx 4000", "write quadro rtx 4000, rtx 4000 ada or rtx pro 4000"},
};

static bool parse_word(const char *text, struct pj_target_spec *ret_spec)
{
    if (strcmp(text, "native") == 0) {
        *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_NATIVE};
        return true;
    }
    if (strcmp(text, "all") == 0) {
        *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_ALL};
        return true;
    }
    for (size_t i = 0; i < PJ_COUNT(families); i++) {
        if (strcmp(text, families[i].name) == 0) {
            *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_RANGE,
                                                .first = {.number = families[i].first},
                                                .last = {.number = families[i].last}};
            return true;
        }
    }
    return false;
}

/* One end of a range: the `size` bytes at `text`. */
static int parse_end(const char *text, size_t size, struct pj_arch *ret_arch, struct pj_error **err)
{
    char end[PJ_ARCH_TEXT];
    if (size == 0)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "a range needs an architecture at both ends, as in sm_80..sm_90");
    if (size >= sizeof end)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "no architecture has a name that long: write a range as in sm_80..sm_90");
    memcpy(end, text, size);
    end[size] = '\0';
    return pj_arch_parse(end, ret_arch, err);
}

static int parse_range(const char *text, const char *dots, struct pj_target_spec *ret_spec,
                       struct pj_error **err)
{
    struct pj_arch first, last;
    int status = parse_end(text, (size_t)(dots - text), &first, err);
    if (status == 0)
        status = parse_end(dots + 2, strlen(dots + 2), &last, err);
    if (status < 0)
        return pj_error_wrap(err, status, "target range");
    if (first.letter || last.letter)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "target range: a range takes no letters: write sm_%u..sm_%u, which has every "
                            "device of these numbers with all its letters",
                            first.number, last.number);
    if (first.number > last.number)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "target range: sm_%u..sm_%u is empty: write the lower end first, as in "
                            "sm_%u..sm_%u",
                            first.number, last.number, last.number, first.number);
    *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_RANGE, .first = first, .last = last};
    return 0;
}

/* A word that is no architecture: says which words there are. */
static int refuse_word(const char *text, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer message = {0};
    const char *meant = pj_text_suggest(text, words, PJ_COUNT(words)), *advice = NULL;
    for (size_t i = 0; i < PJ_COUNT(foreign_words) && !advice; i++)
        advice = strcasecmp(text, foreign_words[i].word) == 0 ? foreign_words[i].advice : NULL;
    pj_buffer_putc(&message, '"');
    pj_text_escape(&message, text, strnlen(text, 60));
    pj_buffer_puts(&message, "\" is no target");
    if (advice)
        pj_buffer_printf(&message, ": %s", advice);
    else if (meant)
        pj_buffer_printf(&message, ": did you mean %s?", meant);
    else
        pj_buffer_puts(&message, ": write native, all, an architecture (sm_90, 90, 9.0, 90a), a range "
                                 "(sm_80..sm_90), a family (turing, ampere, ada, hopper, blackwell) or a "
                                 "GPU (h100, rtx 4090)");
    int status = pj_buffer_check(&message, err);
    return status < 0 ? status : pj_error_set(err, PJ_ERROR_FORMAT, "%s", pj_buffer_text(&message));
}

/* Does it begin like the name of a GPU, and not like an architecture? */
static bool is_name(const char *text)
{
    static const char *const begins[] = {"sm", "compute", "lto"};
    for (size_t i = 0; i < PJ_COUNT(begins); i++) {
        if (strncasecmp(text, begins[i], strlen(begins[i])) == 0)
            return false;
    }
    return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
}

/* One of a list's targets, as it is to be written: the text, or the architecture that was meant by it. */
static bool put_item(const char *text, size_t size, struct pj_buffer *buffer)
{
    char item[64];
    struct pj_target_spec spec;
    struct pj_arch meant;
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size == 0 || size >= sizeof item)
        return false;
    memcpy(item, text, size);
    item[size] = '\0';
    pj_buffer_puts(buffer, buffer->size > 0 ? ", " : "");
    int r = pj_target_parse(item, &spec, NULL);
    if (r == 0)
        pj_buffer_puts(buffer, item);
    buffer->failed |= r == PJ_ERROR_NO_MEMORY;
    if (r == 0 || buffer->failed)
        return r == 0;
    char name[PJ_ARCH_TEXT];
    if (!pj_arch_guess(item, &meant))
        return false;
    pj_buffer_puts(buffer, pj_arch_text(meant, name));
    return true;
}

bool pj_target_list(const char *text, struct pj_buffer *ret_list)
{
    const char *separators = strpbrk(text, ",;") ? ",;" : " ";
    if (!strpbrk(text, separators))
        return false;
    while (*text) {
        size_t size = strcspn(text, separators);
        if (!put_item(text, size, ret_list))
            return false;
        text += size;
        text += *text != '\0';
        text += strspn(text, " ");
    }
    return true;
}

int pj_target_parse(const char *text, struct pj_target_spec *ret_spec, struct pj_error **err)
{
    if (parse_word(text, ret_spec))
        return 0;
    const char *dots = strstr(text, "..");
    if (dots)
        return parse_range(text, dots, ret_spec, err);
    struct pj_arch arch;
    if (pj_gpu_arch(text, &arch)) {
        *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_ONE, .first = arch, .last = arch};
        return 0;
    }
    PJ_CLEANUP_BUFFER struct pj_buffer list = {0};
    bool is_list = pj_target_list(text, &list);
    if (list.failed)
        return pj_error_no_memory(err);
    if (is_list)
        return pj_error_set(err, PJ_ERROR_FORMAT, "\"%s\" is a list of targets: write each by itself: %s",
                            text, pj_buffer_text(&list));
    PJ_CLEANUP_ERROR struct pj_error *refused = NULL;
    int status = pj_arch_parse(text, &arch, &refused);
    if (status == 0) {
        *ret_spec = (struct pj_target_spec){.form = PJ_TARGET_ONE, .first = arch, .last = arch};
        return 0;
    }
    /* What has no digit was meant as a word; what has one, as an architecture, unless it begins like the name
     * of a GPU. */
    if (status == PJ_ERROR_FORMAT && (!strpbrk(text, "0123456789") || is_name(text)))
        return refuse_word(text, err);
    if (err)
        *err = PJ_STEAL(refused);
    return status;
}

bool pj_target_contains(const struct pj_target_spec *spec, uint16_t number)
{
    switch (spec->form) {
    case PJ_TARGET_ALL:
        return true;
    case PJ_TARGET_ONE:
        return spec->first.number == number;
    case PJ_TARGET_RANGE:
        return number >= spec->first.number && number <= spec->last.number;
    case PJ_TARGET_NATIVE:
    default:
        return false;
    }
}
