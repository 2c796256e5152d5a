/* SPDX-License-Identifier: Apache-2.0 */
/* How a compiler is asked for what an entry's key names. */
#include <string.h>

#include "session/offline/private.h"

enum { ARGUMENTS_MAX = 2 * PJ_JIT_OPTION_COUNT + 8 };

/* For the driver a target is a device with all its letters [6]; a compiler must be told the PTX's own letter
 * where the number matches, and one that the PTX compiles for where it does not. */
static struct pj_arch arch_for(struct pj_arch ptx, uint16_t number)
{
    static const char letters[] = {'\0', 'f', 'a'};
    struct pj_arch arch = {.number = number};
    if (ptx.number == number)
        arch.letter = ptx.letter;
    for (size_t i = 0; i < PJ_COUNT(letters) && !pj_arch_ptx_compiles_for(ptx, arch); i++)
        arch.letter = letters[i];
    return arch;
}

/* "-maxrregcount=64", "-lineinfo", "-Xptxas=-dlcm=ca": an option of the key as nvJitLink takes it. */
static const char *for_nvjitlink(struct pj_arena *arena, const char *word, const char *value)
{
    bool same = strcmp(word, "-g") == 0 || strcmp(word, "-lineinfo") == 0 ||
                (strncmp(word, "-O", 2) == 0 && strlen(word) == 3);
    return value ? pj_arena_printf(arena, "-maxrregcount=%s", value)
                 : pj_arena_printf(arena, "%s%s", same ? "" : "-Xptxas=", word);
}

static const char *why_not(const struct pj_offline *offline, const char *word)
{
    if (offline->library == PJ_LIBRARY_PTXAS)
        return NULL;
    if (strcmp(word, "-c") == 0)
        return "nvJitLink makes no code that is still to be linked, which the driver keeps of a link's "
               "inputs: "
               "install ptxas (package cuda-nvcc), or name it with --ptxas PATH";
    if (strcmp(word, "--fast-compile") == 0) /* [60] */
        return "nvJitLink ignores fast_compile: install ptxas (package cuda-nvcc), or name it with --ptxas "
               "PATH";
    return NULL;
}

/* Takes the next word off a text that is ours to change; NULL = none is left. */
static char *next_word(char **text)
{
    char *word = *text, *end = word + strcspn(word, " ");
    if (*word == '\0')
        return NULL;
    *text = end + (*end == ' ');
    *end = '\0';
    return word;
}

int pj_offline_arguments(const struct pj_offline *offline, const struct pj_offline_unit *unit,
                         const char ***ret_arguments, size_t *ret_count, const char **ret_refusal,
                         struct pj_error **err)
{
    struct pj_arena *arena = &offline->session->arena;
    const char **arguments = pj_arena_calloc(arena, ARGUMENTS_MAX, sizeof *arguments);
    char *rest = pj_arena_strdup(arena, unit->option_text);
    char arch[PJ_ARCH_TEXT];
    size_t used = 0;
    *ret_refusal = NULL;
    if (!arguments || !rest)
        return pj_error_no_memory(err);
    arguments[used++] = pj_arena_printf(arena, "-arch=%s",
                                        pj_arch_text(arch_for(unit->image->ptx.target, unit->target), arch));
    if (offline->library == PJ_LIBRARY_NVJITLINK && pj_maker_compiler(offline->maker)->version >= 13000)
        arguments[used++] = "-no-cache"; /* its own entries in a compute cache help nobody [36] */
    for (char *word = next_word(&rest); word && used + 2 < ARGUMENTS_MAX; word = next_word(&rest)) {
        *ret_refusal = why_not(offline, word);
        if (*ret_refusal)
            return 0;
        char *value = strcmp(word, "--maxrregcount") == 0 ? next_word(&rest) : NULL;
        if (offline->library == PJ_LIBRARY_PTXAS) {
            arguments[used++] = word;
            if (value)
                arguments[used++] = value;
        } else {
            arguments[used] = for_nvjitlink(arena, word, value);
            if (!arguments[used++])
                return pj_error_no_memory(err);
        }
    }
    *ret_arguments = arguments;
    *ret_count = used;
    return arguments[0] ? 0 : pj_error_no_memory(err);
}
