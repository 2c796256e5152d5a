/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the driver compiles and cannot load: declarations that OpenCL's compilers write [77]. */
#include <string.h>

#include "image/ptx_reader.h"

/* First of the words, or `end`; comments and strings are passed over. *ret_which is its index. */
static const char *find_word(const char *at, const char *end, const char *const *words, size_t count,
                             size_t *ret_which)
{
    while (at < end) {
        for (size_t i = 0; *at == '.' && i < count; i++) {
            if (pj_ptx_at_word(at, end, words[i])) {
                *ret_which = i;
                return at;
            }
        }
        at = *at == '/' || *at == '"' ? pj_ptx_skip_hidden(at, end) : at + 1;
    }
    return end;
}

enum parameter { POINTER, TEXTURE, SAMPLER, SURFACE, PARAMETERS };

static const char *const parameter_words[PARAMETERS] = {
    [POINTER] = ".ptr", [TEXTURE] = ".texref", [SAMPLER] = ".samplerref", [SURFACE] = ".surfref"};

/* What a pointer points to; NULL where that loads: `.global`, `.const`, or nothing. */
static const char *bad_pointer(const char *at, const char *end)
{
    struct pj_ptx_cursor cursor = {.start = at, .at = at, .end = end};
    if (!pj_ptx_skip_space(&cursor))
        return NULL;
    return pj_ptx_at_word(cursor.at, end, ".shared")  ? " is declared `.ptr .shared`, as OpenCL has it"
           : pj_ptx_at_word(cursor.at, end, ".local") ? " is declared `.ptr .local`, as OpenCL has it"
                                                      : NULL;
}

/* Between a kernel's name and its body. */
static const char *find_parameter(const struct pj_ptx_place *place, struct pj_ptx_unloadable *ret_unloadable)
{
    static const char *const whats[PARAMETERS] = {[TEXTURE] = " is a `.texref`, as OpenCL has it",
                                                  [SAMPLER] = " is a `.samplerref`, as OpenCL has it",
                                                  [SURFACE] = " is a `.surfref`, as OpenCL has it"};
    const char *at = place->name + place->length;
    size_t which = POINTER;
    while ((at = find_word(at, place->body, parameter_words, PARAMETERS, &which)) < place->body) {
        const char *behind = at + strlen(parameter_words[which]);
        const char *what = which == POINTER ? bad_pointer(behind, place->body) : whats[which];
        if (what) {
            *ret_unloadable = (struct pj_ptx_unloadable){
                .what = what,
                .answer = "CUDA_ERROR_INVALID_IMAGE",
                .cure = which == POINTER ? "remove these two words"
                                         : "pass a texture or surface object (`.param .u64`)",
            };
            return at;
        }
        at = behind;
    }
    return NULL;
}

/* With `texmode_independent` a sampler stands by itself, outside functions. */
static const char *find_sampler(const struct pj_ptx *ptx, const struct pj_ptx_cursor *body,
                                struct pj_ptx_unloadable *ret_unloadable)
{
    const char *word = parameter_words[SAMPLER];
    size_t which;
    /* Few texts have the word at all. */
    if (!ptx->texmode_independent || !memmem(body->at, (size_t)(body->end - body->at), word, strlen(word)))
        return NULL;
    const char *at = find_word(body->at, body->end, &word, 1, &which);
    if (at == body->end)
        return NULL;
    *ret_unloadable = (struct pj_ptx_unloadable){
        .what = "a `.samplerref` beside `texmode_independent`, as OpenCL has it",
        .answer = "CUDA_ERROR_NOT_FOUND",
        .cure = "use texture objects (`.u64`)",
    };
    return at;
}

void pj_ptx_find_unloadable(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                            const struct pj_ptx_places *places)
{
    struct pj_ptx *ptx = reader->ptx;
    struct pj_ptx_unloadable unloadable = {0};
    const char *at = NULL, *kernel = NULL;
    for (size_t i = 0; i < places->count && !at; i++) {
        const struct pj_ptx_place *place = &places->items[i];
        if (!place->is_kernel || !place->is_body)
            continue;
        at = find_parameter(place, &unloadable);
        kernel = at ? ptx->functions[place->function].name : NULL;
    }
    if (!at)
        at = find_sampler(ptx, &body, &unloadable);
    if (!at)
        return;
    unloadable.kernel = kernel;
    unloadable.line = pj_ptx_line(body.start, at);
    ptx->unloadable = unloadable;
}
