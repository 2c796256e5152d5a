/* SPDX-License-Identifier: Apache-2.0 */
/* The options under `nvrtc`: those that cannot be what the program compiles its PTX with. What NVRTC does not
 * know it says itself, because its versions know different options. */
#include "arch/nvrtc_options.h"

#include <stdio.h>
#include <string.h>

#include "manifest/reader.h"

#define SAME_PTX " and changes nothing in the PTX: remove it"

/* Why options of a kind are refused, and the cure. */
static const char *const refused[] = {
    [PJ_NVRTC_OPTIX] =
        "it makes OptiX IR and no PTX, which the driver's cache does not keep: leave the module out",
    [PJ_NVRTC_SYNTAX_ONLY] = "it makes PTX without any code: remove it",
    [PJ_NVRTC_NO_CACHE] = "prejit adds it by itself: remove it",
    [PJ_NVRTC_PCH] = "it is about precompiled headers, files that NVRTC writes," SAME_PTX,
    [PJ_NVRTC_WRITES] = "it makes NVRTC write a file" SAME_PTX,
    [PJ_NVRTC_PRINTS] = "it makes NVRTC print" SAME_PTX,
};

/* Adds what the architecture itself has to say: the spelling that was meant, or what there is. */
static void explain_architecture(struct pj_findings *findings, const struct pj_nvrtc_option *option,
                                 char *advice, size_t size)
{
    char text[32], meant[PJ_ARCH_TEXT];
    struct pj_arch arch;
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    advice[0] = '\0';
    if (!option->value || option->value_size >= sizeof text - 3)
        return;
    bool is_virtual = option->value_size > 8 && memcmp(option->value, "compute_", 8) == 0;
    size_t skip = is_virtual ? 8 : 0;
    (void)snprintf(text, sizeof text, "%s%.*s", is_virtual ? "sm_" : "", (int)(option->value_size - skip),
                   option->value + skip);
    int r = pj_arch_parse(text, &arch, &error);
    if (r == 0)
        (void)snprintf(advice, size, "; did you mean `compute_%s`?", pj_arch_text(arch, meant) + 3);
    else if (r == PJ_ERROR_NO_MEMORY)
        findings->failed = true;
    else if (strncmp(text, "sm_", 3) == 0)
        (void)snprintf(advice, size, "; %s", pj_error_message(error));
}

/* An architecture that is none, or the second one; `first` is where the first one stands, NULL before it. */
static void check_architecture(struct pj_findings *findings, const struct pj_nvrtc_option *option,
                               const struct pj_yaml_node *node, const struct pj_yaml_node **first)
{
    char read[PJ_READ_TEXT], advice[256];
    struct pj_arch arch;
    bool real;
    (void)pj_findings_read(findings, node, read);
    if (!pj_nvrtc_architecture(option, &arch, &real)) {
        explain_architecture(findings, option, advice, sizeof advice);
        pj_findings_add(
            findings, node,
            "`nvrtc`: read %s; allowed is an architecture of the form `compute_90` or `sm_90`, for "
            "example `--gpu-architecture=compute_90`%s",
            read, advice);
    } else if (*first) {
        char before[PJ_READ_TEXT];
        pj_findings_add(findings, node,
                        "`nvrtc`: read %s beside %s (line %zu); a program is compiled for one architecture: "
                        "keep the one that counts, which for NVRTC is the last",
                        read, pj_findings_read(findings, *first, before), (*first)->line);
    } else {
        *first = node;
    }
}

static void check_option(struct pj_findings *findings, const struct pj_nvrtc_option *option,
                         const struct pj_yaml_node *node, const struct pj_yaml_node **first)
{
    char read[PJ_READ_TEXT];
    (void)pj_findings_read(findings, node, read);
    if (strspn(node->text, " ") == node->size)
        pj_findings_add(findings, node,
                        "`nvrtc`: read %s; an option of blanks alone is refused by NVRTC: remove it", read);
    else if (option->value_missing)
        pj_findings_add(findings, node,
                        "`nvrtc`: read %s; its value is missing: write it as the next item of the list",
                        read);
    else if (option->one_text)
        pj_findings_add(findings, node,
                        "`nvrtc`: read %s; NVRTC takes this for one option: make it two items of the list",
                        read);
    else if (option->kind == PJ_NVRTC_ARCHITECTURE)
        check_architecture(findings, option, node, first);
    else if (option->kind < PJ_COUNT(refused) && refused[option->kind])
        pj_findings_add(findings, node, "`nvrtc`: read %s; %s", read, refused[option->kind]);
}

const struct pj_yaml_node *pj_nvrtc_check(struct pj_findings *findings, const struct pj_value *value)
{
    if (!value->ok)
        return NULL;
    const struct pj_yaml_node *node = value->node->first, *first = NULL;
    struct pj_nvrtc_option option;
    for (size_t index = 0; pj_nvrtc_option_next(value->texts, value->count, &index, &option);) {
        /* A value with an item of its own is what is wrong or right about the option. */
        const struct pj_yaml_node *last = option.text_count == 2 ? node->next : node;
        check_option(findings, &option, last, &first);
        node = last->next;
    }
    return first;
}
