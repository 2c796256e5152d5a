/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of other tools' words. */
#include "cli/foreign.h"

#include <string.h>

#include "base/memory.h"
#include "report/phrase.h"

static const struct {
    const char *words; /* without dashes, between blanks */
    const char *here;  /* what prejit has */
    const char *value; /* what its value is called, where it has one */
} options[] = {
    {" arch gpu-architecture gpu-arch cuda-gpu-arch offload-arch gencode generate-code gpu-code code sm gpu ",
     "-t ", "ARCH"},
    {" cache-dir cache-path cachedir ", "--cache ", "DIR"},
    {" output output-dir outdir o ", "prejit build --out-dir DIR, or prejit profile --output FILE", NULL},
    {" parallel threads workers ", "-j ", "N"},
    {" json ", "--format json", NULL},
    {" silent s ", "-q, or -qq to hear of failures alone", NULL},
    {" dry-run n ", "prejit plan, which shows what warm would do", NULL},
    {" version V ", "prejit --version", NULL},
};

static const struct {
    const char *word, *here;
} commands[] = {
    {"ls", "prejit cache ls"},           {"list", "prejit cache ls"},     {"check", "prejit verify MANIFEST"},
    {"compile", "prejit warm MANIFEST"}, {"run", "prejit warm MANIFEST"}, {"prewarm", "prejit warm MANIFEST"},
    {"status", "prejit doctor"},         {"info", "prejit doctor"},       {"test", "prejit verify MANIFEST"},
};

/* The target in `sm_90`, `compute_90`, `all-major` or `arch=compute_90,code=sm_90`; else what stands there.
 */
static void put_value(const char *value, struct pj_buffer *advice)
{
    static const char virtual_prefix[] = "compute_";
    const char *last = strrchr(value, '=');
    const char *text = last ? last + 1 : value;
    PJ_CLEANUP_BUFFER struct pj_buffer target = {0};
    if (strcmp(text, "all-major") == 0)
        text = "all";
    bool is_virtual = strncmp(text, virtual_prefix, sizeof virtual_prefix - 1) == 0;
    pj_buffer_puts(&target, is_virtual ? "sm_" : "");
    pj_buffer_puts(&target, is_virtual ? text + sizeof virtual_prefix - 1 : text);
    pj_phrase_quote(advice, pj_buffer_text(&target));
    advice->failed |= target.failed;
}

static bool has_word(const char *words, const char *word, size_t size)
{
    for (const char *at = words; (at = strchr(at, ' ')) != NULL && at[1]; at++) {
        if (strncmp(at + 1, word, size) == 0 && at[1 + size] == ' ')
            return true;
    }
    return false;
}

bool pj_cli_foreign_option(const char *argument, const char *next, struct pj_buffer *ret_advice)
{
    const char *name = argument + strspn(argument, "-");
    size_t size = strcspn(name, "=");
    size_t dashes = (size_t)(name - argument);
    if (dashes < 1 || dashes > 2 || size == 0 || strchr(name, ' '))
        return false;
    for (size_t i = 0; i < PJ_COUNT(options); i++) {
        if (!has_word(options[i].words, name, size))
            continue;
        const char *value = name[size] == '=' ? name + size + 1 : next && next[0] != '-' ? next : NULL;
        pj_buffer_puts(ret_advice, options[i].here);
        if (options[i].value && value && *value)
            put_value(value, ret_advice);
        else if (options[i].value)
            pj_buffer_puts(ret_advice, options[i].value);
        return true;
    }
    return false;
}

const char *pj_cli_foreign_command(const char *word)
{
    for (size_t i = 0; i < PJ_COUNT(commands); i++) {
        if (strcmp(commands[i].word, word) == 0)
            return commands[i].here;
    }
    return NULL;
}
