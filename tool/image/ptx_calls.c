/* SPDX-License-Identifier: Apache-2.0 */
/* Finds who calls whom, and what is called and defined elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "image/ptx_reader.h"

/* What is needed while calls are read. */
struct work {
    struct {
        size_t *items;
        size_t count, capacity;
    } calls;
    size_t *last_callers; /* of each function the last one that was seen to call it, as its index + 1 */
};

static size_t find_function(const struct pj_ptx *ptx, const char *name, size_t length)
{
    size_t low = 0, high = length > 0 ? ptx->function_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = ptx->functions[middle].name;
        int order = strncmp(name, other, length);
        if (order == 0 && other[length] == '\0')
            return middle;
        if (order <= 0) /* a longer name comes behind */
            high = middle;
        else
            low = middle + 1;
    }
    return PJ_PTX_NO_FUNCTION;
}

static bool add_call(struct pj_ptx *ptx, struct work *work, size_t caller, size_t callee)
{
    struct pj_ptx_function *function = &ptx->functions[caller];
    if (work->last_callers[callee] == caller + 1)
        return true;
    size_t *call = PJ_ARRAY_PUSH(&work->calls);
    if (!call)
        return false;
    work->last_callers[callee] = caller + 1;
    if (function->call_count++ == 0)
        function->first_call = work->calls.count - 1;
    *call = callee;
    return true;
}

/* A name behind white space; PJ_PTX_NO_FUNCTION where it is no function's. */
static size_t read_name(const struct pj_ptx *ptx, struct pj_ptx_cursor *cursor)
{
    if (!pj_ptx_skip_space(cursor))
        return PJ_PTX_NO_FUNCTION;
    size_t length = pj_ptx_name_length(cursor->at, cursor->end);
    size_t function = find_function(ptx, cursor->at, length);
    cursor->at += length;
    return function;
}

/* What stands behind `.alias`: `f, g;` defines f, and what calls f calls g. The cursor is left behind what
 * was understood. */
static bool read_alias(struct pj_ptx *ptx, struct work *work, struct pj_ptx_cursor *cursor)
{
    size_t alias = read_name(ptx, cursor);
    if (alias == PJ_PTX_NO_FUNCTION || ptx->functions[alias].is_defined)
        return true;
    ptx->functions[alias].is_defined = true;
    if (!pj_ptx_skip_space(cursor) || cursor->at == cursor->end || *cursor->at != ',')
        return true;
    cursor->at++;
    size_t function = read_name(ptx, cursor);
    return function == PJ_PTX_NO_FUNCTION || add_call(ptx, work, alias, function);
}

/* Never back, as with calls. */
static bool read_aliases(struct pj_ptx *ptx, struct work *work, struct pj_ptx_cursor cursor)
{
    while ((cursor.at = pj_ptx_find_alias(cursor.at, cursor.end)) < cursor.end) {
        cursor.at += strlen(".alias");
        if (!read_alias(ptx, work, &cursor))
            return false;
    }
    return true;
}

size_t pj_ptx_read_callee(struct pj_ptx_cursor *cursor)
{
    cursor->at += strlen("call");
    while (cursor->at < cursor->end && (*cursor->at == '.' || pj_ptx_is_name(*cursor->at)))
        cursor->at++;
    if (!pj_ptx_skip_space(cursor))
        return 0;
    if (cursor->at < cursor->end && *cursor->at == '(') {
        cursor->at = pj_ptx_skip_list(cursor->at, cursor->end);
        if (!pj_ptx_skip_space(cursor) || cursor->at == cursor->end || *cursor->at != ',')
            return 0;
        cursor->at++;
        if (!pj_ptx_skip_space(cursor))
            return 0;
    }
    return pj_ptx_name_length(cursor->at, cursor->end);
}

/* Behind a call's name: a register is called where a list or prototype of what it may hold comes last. It may
 * have a function's name. The cursor is left behind what was understood. */
static bool is_indirect(struct pj_ptx_cursor *cursor)
{
    if (!pj_ptx_skip_space(cursor) || cursor->at == cursor->end || *cursor->at != ',')
        return false;
    cursor->at++;
    if (!pj_ptx_skip_space(cursor) || cursor->at == cursor->end || *cursor->at != '(')
        return true;
    cursor->at = pj_ptx_skip_list(cursor->at, cursor->end);
    return pj_ptx_skip_space(cursor) && cursor->at < cursor->end && *cursor->at == ',';
}

/* Calls of what is supplied are left out. A call belongs to the last function that begins before it. Gives
 * the first call of what is not defined. */
static int find_calls(struct pj_ptx *ptx, struct work *work, struct pj_ptx_cursor cursor,
                      const struct pj_ptx_places *places, size_t *ret_unresolved, struct pj_error **err)
{
    *ret_unresolved = PJ_PTX_NO_FUNCTION;
    for (size_t next = 0; (cursor.at = pj_ptx_find_call(cursor.at, cursor.end)) < cursor.end;) {
        while (next < places->count && places->items[next].name < cursor.at)
            next++;
        const struct pj_ptx_place *caller = next > 0 ? &places->items[next - 1] : NULL;
        /* Never back: a text of nothing but half calls would be read over and over. */
        size_t length = pj_ptx_read_callee(&cursor);
        size_t callee = find_function(ptx, cursor.at, length);
        cursor.at += length;
        if (callee == PJ_PTX_NO_FUNCTION || is_indirect(&cursor))
            continue;
        if (*ret_unresolved == PJ_PTX_NO_FUNCTION && !ptx->functions[callee].is_defined)
            *ret_unresolved = callee;
        if (caller && caller->is_body && !add_call(ptx, work, caller->function, callee))
            return pj_error_no_memory(err);
    }
    return 0;
}

/* One pass for all, in the order of the text. */
static void count_lines(struct pj_ptx *ptx, const struct pj_ptx_places *places, const char *start)
{
    size_t line = 1;
    for (size_t i = 0; i < places->count; i++) {
        const struct pj_ptx_place *place = &places->items[i];
        if (place->function == PJ_PTX_NO_FUNCTION)
            continue;
        struct pj_ptx_function *function = &ptx->functions[place->function];
        if (function->is_defined || function->line > 0)
            continue;
        line += pj_ptx_line(start, place->name) - 1;
        start = place->name;
        function->line = line;
    }
}

static int read_all(struct pj_ptx_reader *reader, struct work *work, struct pj_ptx_cursor body,
                    const struct pj_ptx_places *places, struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    size_t unresolved = PJ_PTX_NO_FUNCTION;
    work->last_callers = calloc(ptx->function_count, sizeof *work->last_callers);
    if (!work->last_callers || !read_aliases(ptx, work, body))
        return pj_error_no_memory(err);
    int r = find_calls(ptx, work, body, places, &unresolved, err);
    if (r < 0)
        return r;
    count_lines(ptx, places, body.start);
    size_t *calls = pj_arena_calloc(reader->arena, work->calls.count ? work->calls.count : 1, sizeof *calls);
    if (!calls)
        return pj_error_no_memory(err);
    if (work->calls.count > 0)
        memcpy(calls, work->calls.items, work->calls.count * sizeof *calls);
    ptx->calls = calls;
    ptx->call_count = work->calls.count;
    if (unresolved != PJ_PTX_NO_FUNCTION) {
        ptx->unresolved = ptx->functions[unresolved].name;
        ptx->unresolved_line = ptx->functions[unresolved].line;
    }
    return 0;
}

int pj_ptx_read_calls(struct pj_ptx_reader *reader, struct pj_ptx_cursor body,
                      const struct pj_ptx_places *places, struct pj_error **err)
{
    const struct pj_ptx *ptx = reader->ptx;
    bool all_defined = true;
    for (size_t i = 0; i < ptx->function_count; i++)
        all_defined &= ptx->functions[i].is_defined;
    if (all_defined)
        return 0;
    struct work work = {0};
    int r = read_all(reader, &work, body, places, err);
    free(work.calls.items);
    free(work.last_callers);
    return r;
}
