/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the modules that OptiX compiles: by their programs' names, by calls of OptiX, by its variables. */
#include <string.h>

#include "image/ptx_reader.h"

static bool has_prefix(const char *name, size_t length, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t prefix = strlen(prefixes[i]);
        if (length >= prefix && memcmp(name, prefixes[i], prefix) == 0)
            return true;
    }
    return false;
}

/* OptiX 7 and later: the programs of a pipeline. */
static const struct pj_ptx_place *find_program(const struct pj_ptx_places *places)
{
    static const char *const prefixes[] = {
        "__raygen__", "__anyhit__",    "__closesthit__",      "__intersection__",
        "__miss__",   "__exception__", "__direct_callable__", "__continuation_callable__"};
    for (size_t i = 0; i < places->count; i++) {
        const struct pj_ptx_place *place = &places->items[i];
        if (place->is_body && has_prefix(place->name, place->length, prefixes, PJ_COUNT(prefixes)))
            return place;
    }
    return NULL;
}

/* A text that does not have the word at all is most texts. */
static bool has_word(const struct pj_ptx_cursor *body, const char *word)
{
    return memmem(body->at, (size_t)(body->end - body->at), word, strlen(word)) != NULL;
}

/* OptiX puts its own functions where `_optix_…` (7 and later) and `_rt_…` (before) are called; nothing
 * declares them. */
static const char *find_call(const struct pj_ptx *ptx, struct pj_ptx_cursor body, size_t *ret_length)
{
    static const char *const prefixes[] = {"_optix_", "_rt_"};
    if (!has_word(&body, prefixes[0]) && !has_word(&body, prefixes[1]))
        return NULL;
    while ((body.at = pj_ptx_find_call(body.at, body.end)) < body.end) {
        size_t length = pj_ptx_read_callee(&body);
        const char *name = body.at;
        body.at += length;
        if (!has_prefix(name, length, prefixes, PJ_COUNT(prefixes)))
            continue;
        bool defined = false;
        for (size_t i = 0; i < ptx->function_count && !defined; i++)
            defined = ptx->functions[i].is_defined && strlen(ptx->functions[i].name) == length &&
                      memcmp(ptx->functions[i].name, name, length) == 0;
        *ret_length = length;
        if (!defined)
            return name;
    }
    return NULL;
}

/* OptiX 3 to 6: variables such as _ZN21rti_internal_typeinfo6colorsE. */
static const char *find_variable(const struct pj_ptx_cursor *body, size_t *ret_length)
{
    static const char mark[] = "rti_internal_";
    if (!has_word(body, mark))
        return NULL;
    const char *name = body->at;
    while (name < body->end) {
        size_t length = pj_ptx_name_length(name, body->end);
        if (length > 0 && memmem(name, length, mark, sizeof mark - 1)) {
            *ret_length = length;
            return name;
        }
        if (length > 0)
            name += length;
        else
            name = *name == '/' || *name == '"' ? pj_ptx_skip_hidden(name, body->end) : name + 1;
    }
    return NULL;
}

int pj_ptx_find_optix(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                      const struct pj_ptx_places *places, struct pj_error **err)
{
    const struct pj_ptx_place *program = find_program(places);
    size_t length = program ? program->length : 0;
    const char *name = program ? program->name : find_call(reader->ptx, body, &length);
    if (!name)
        name = find_variable(&body, &length);
    if (!name)
        return 0;
    reader->ptx->optix = pj_arena_strndup(reader->arena, name, length);
    reader->ptx->optix_line = pj_ptx_line(body.start, name);
    return reader->ptx->optix ? 0 : pj_error_no_memory(err);
}
