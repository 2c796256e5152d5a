/* SPDX-License-Identifier: Apache-2.0 */
/* Finds kernels, and functions that are called but defined elsewhere, without parsing bodies. */
#include <stdlib.h>
#include <string.h>

#include "image/ptx_reader.h"

struct function {
    const char *name; /* in the text */
    size_t length;
    bool is_kernel, is_defined, is_kept;
    struct pj_ptx_need *need; /* a kernel calls it, and it is not defined; else NULL */
};

struct functions {
    struct function *items;
    size_t count, capacity;
};

/* Functions of one kind, by name. */
struct index {
    struct function **items;
    size_t count;
};

/* What is needed while a text is read. */
struct work {
    struct functions functions;
    struct index all, undefined;
};

/* What the driver supplies by itself: ptxas 13.0 and driver 580 resolve these and no others. */
static bool is_supplied(const struct function *function)
{
    static const char prefix[] = "__cuda_syscall";
    static const char *const names[] = {
        "vprintf",
        "malloc",
        "free",
        "__assertfail",
        "cudaGraphLaunch",
        "cudaGraphSetConditional",
        "cudaGraphKernelNodeSetEnabled",
        "cudaGraphKernelNodeSetGridDim",
        "cudaGraphKernelNodeSetParam",
        "cudaGraphKernelNodeUpdatesApply",
        "cnpCtxSynchronize",
        "cnpDeviceGetAttribute",
        "cnpDeviceGetName",
        "cnpDeviceGetTotalMem",
        "cnpEventCreate",
        "cnpEventDestroy",
        "cnpEventRecord",
        "cnpFuncGetAttribute",
        "cnpGetCacheConfig",
        "cnpGetDevice",
        "cnpGetDeviceCount",
        "cnpGetLastError",
        "cnpGetLimit",
        "cnpGetParameterBuffer",
        "cnpGetParameterBufferV2",
        "cnpGetSharedMemConfig",
        "cnpLaunchDevice",
        "cnpLaunchDeviceV2",
        "cnpSetLastError",
        "cnpStreamCreate",
        "cnpStreamDestroy",
        "cnpStreamWaitEvent",
    };
    if (function->length >= sizeof prefix - 1 && memcmp(function->name, prefix, sizeof prefix - 1) == 0)
        return true;
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        if (strlen(names[i]) == function->length && memcmp(names[i], function->name, function->length) == 0)
            return true;
    }
    return false;
}

static int compare_names(const char *a, size_t length_a, const char *b, size_t length_b)
{
    int order = memcmp(a, b, length_a < length_b ? length_a : length_b);
    if (order != 0)
        return order;
    return length_a < length_b ? -1 : length_a > length_b;
}

/* By name, and in the order of the text where the names are the same. */
static int compare_functions(const void *left, const void *right)
{
    const struct function *a = *(struct function *const *)left, *b = *(struct function *const *)right;
    int order = compare_names(a->name, a->length, b->name, b->length);
    if (order != 0)
        return order;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Behind a parenthesised list, or `at` where there is none. */
static const char *skip_list(const char *at, const char *end)
{
    if (at == end || *at != '(')
        return at;
    while (at < end && *at != ')')
        at = *at == '/' || *at == '"' ? pj_ptx_skip_hidden(at, end) : at + 1;
    return at < end ? at + 1 : end;
}

/* A body starts with a brace, a declaration ends in a semicolon; what comes first decides. Another directive
 * of a function before either means that this text is broken, but its other functions can still be found. */
static const char *find_body(const char *at, const char *end, bool *ret_is_defined)
{
    *ret_is_defined = false;
    while (at < end && *at != ';') {
        if (*at == '{') {
            *ret_is_defined = true;
            return at;
        }
        if (*at == '.' && (pj_ptx_at_word(at, end, ".entry") || pj_ptx_at_word(at, end, ".func")))
            return at;
        at = *at == '/' || *at == '"' ? pj_ptx_skip_hidden(at, end) : at + 1;
    }
    return at;
}

/* The cursor stands at `.entry` or `.func`; it is left behind what was understood. */
static bool read_function(struct pj_ptx_cursor *cursor, struct function *ret_function)
{
    bool is_kernel = cursor->at[1] == 'e';
    cursor->at += is_kernel ? strlen(".entry") : strlen(".func");
    if (!pj_ptx_skip_space(cursor))
        return false;
    if (pj_ptx_at_word(cursor->at, cursor->end, ".attribute")) {
        cursor->at += strlen(".attribute");
        if (!pj_ptx_skip_space(cursor))
            return false;
        /* Its list holds one level of lists: .attribute(.unified(1,2)). */
        const char *inner = cursor->at;
        while (inner < cursor->end && *inner != ')')
            inner++;
        cursor->at = inner < cursor->end ? inner + 1 : inner;
        if (!pj_ptx_skip_space(cursor))
            return false;
        if (cursor->at < cursor->end && *cursor->at == ')')
            cursor->at++;
        if (!pj_ptx_skip_space(cursor))
            return false;
    }
    if (!is_kernel) {
        cursor->at = skip_list(cursor->at, cursor->end);
        if (!pj_ptx_skip_space(cursor))
            return false;
    }
    size_t length = pj_ptx_name_length(cursor->at, cursor->end);
    if (length == 0)
        return false;
    *ret_function = (struct function){.name = cursor->at, .length = length, .is_kernel = is_kernel};
    cursor->at = find_body(cursor->at + length, cursor->end, &ret_function->is_defined);
    return true;
}

static bool find_functions(struct pj_ptx_cursor *cursor, struct functions *functions)
{
    while (cursor->at < cursor->end) {
        cursor->at = pj_ptx_find_function(cursor->at, cursor->end);
        struct function function;
        if (cursor->at == cursor->end || !read_function(cursor, &function))
            continue;
        struct function *item = PJ_ARRAY_PUSH(functions);
        if (!item)
            return false;
        *item = function;
    }
    return true;
}

/* Sorts out duplicates: of each kernel the first definition is kept; names without a definition that the
 * driver does not supply go into `undefined`, which must have room for all. */
static void sort_out(struct index *all, struct index *undefined)
{
    qsort(all->items, all->count, sizeof *all->items, compare_functions);
    for (size_t first = 0, next; first < all->count; first = next) {
        struct function *function = all->items[first];
        struct function *definition = NULL;
        for (next = first; next < all->count; next++) {
            struct function *other = all->items[next];
            if (compare_names(function->name, function->length, other->name, other->length) != 0)
                break;
            if (other->is_defined && !definition)
                definition = other;
        }
        if (definition)
            definition->is_kept = definition->is_kernel;
        else if (!function->is_kernel && !is_supplied(function))
            undefined->items[undefined->count++] = function;
    }
}

static struct function **find_name(const struct index *index, const char *name, size_t length)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct function *function = index->items[middle];
        int order = compare_names(name, length, function->name, function->length);
        if (order == 0)
            return &index->items[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* `.alias f, g;` defines f. */
static void drop_aliases(struct index *undefined, const char *start, const char *end)
{
    static const char word[] = ".alias";
    for (const char *at = start; (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL;) {
        struct pj_ptx_cursor cursor = {.start = start, .at = at + sizeof word - 1, .end = end};
        at = cursor.at;
        if (!pj_ptx_skip_space(&cursor))
            continue;
        struct function **found = find_name(undefined, cursor.at, pj_ptx_name_length(cursor.at, cursor.end));
        if (found)
            (*found)->is_defined = true;
    }
}

/* Name of what `call` at the cursor calls; length 0 where it is no call of a name. */
static size_t read_callee(struct pj_ptx_cursor *cursor)
{
    cursor->at += strlen("call");
    while (cursor->at < cursor->end && (*cursor->at == '.' || pj_ptx_is_name(*cursor->at)))
        cursor->at++;
    if (!pj_ptx_skip_space(cursor))
        return 0;
    if (cursor->at < cursor->end && *cursor->at == '(') {
        cursor->at = skip_list(cursor->at, cursor->end);
        if (!pj_ptx_skip_space(cursor) || cursor->at == cursor->end || *cursor->at != ',')
            return 0;
        cursor->at++;
        if (!pj_ptx_skip_space(cursor))
            return 0;
    }
    return pj_ptx_name_length(cursor->at, cursor->end);
}

static int add_need(struct pj_ptx_reader *reader, struct function *function, struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    function->need = &ptx->needs[ptx->need_count++];
    function->need->name = pj_arena_strndup(reader->arena, function->name, function->length);
    return function->need->name ? 0 : pj_error_no_memory(err);
}

/* One pass for all, in the order of the text. */
static void count_lines(const struct functions *functions, const char *start)
{
    size_t line = 1;
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        if (!function->need)
            continue;
        line += pj_ptx_line(start, function->name) - 1;
        start = function->name;
        function->need->line = line;
    }
}

/* Calls of functions that are not defined. A call belongs to the last function that begins before it. */
static int find_calls(struct pj_ptx_reader *reader, struct pj_ptx_cursor cursor, const struct work *work,
                      struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    const struct functions *functions = &work->functions;
    const struct function *first = NULL;
    ptx->needs = pj_arena_calloc(reader->arena, work->undefined.count, sizeof *ptx->needs);
    if (!ptx->needs)
        return pj_error_no_memory(err);
    for (size_t next = 0; (cursor.at = pj_ptx_find_call(cursor.at, cursor.end)) < cursor.end;) {
        while (next < functions->count && functions->items[next].name < cursor.at)
            next++;
        const struct function *caller = next > 0 ? &functions->items[next - 1] : NULL;
        /* Never back: a text of nothing but half calls would be read over and over. */
        size_t length = read_callee(&cursor);
        struct function **found = find_name(&work->undefined, cursor.at, length);
        cursor.at += length;
        if (!found || (*found)->is_defined)
            continue;
        first = first ? first : *found;
        if (!caller || !caller->is_kernel || !caller->is_defined || (*found)->need)
            continue;
        int r = add_need(reader, *found, err);
        if (r < 0)
            return r;
    }
    if (!first)
        return 0;
    count_lines(functions, cursor.start);
    ptx->unresolved = pj_arena_strndup(reader->arena, first->name, first->length);
    ptx->unresolved_line = pj_ptx_line(cursor.start, first->name);
    return ptx->unresolved ? 0 : pj_error_no_memory(err);
}

/* The index has functions of one name side by side. */
static int keep_defined(struct pj_ptx_reader *reader, const struct index *all, struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    ptx->defined = pj_arena_calloc(reader->arena, all->count ? all->count : 1, sizeof *ptx->defined);
    if (!ptx->defined)
        return pj_error_no_memory(err);
    const struct function *last = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct function *function = all->items[i];
        bool is_kept = last && compare_names(function->name, function->length, last->name, last->length) == 0;
        if (!function->is_defined || is_kept)
            continue;
        last = function;
        const char *name = pj_arena_strndup(reader->arena, function->name, function->length);
        if (!name)
            return pj_error_no_memory(err);
        ptx->defined[ptx->defined_count++] = name;
    }
    return 0;
}

static int keep_kernels(struct pj_ptx_reader *reader, const struct functions *functions,
                        struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    size_t count = 0;
    for (size_t i = 0; i < functions->count; i++)
        count += functions->items[i].is_kept;
    ptx->kernels = pj_arena_calloc(reader->arena, count ? count : 1, sizeof *ptx->kernels);
    if (!ptx->kernels)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        if (!function->is_kept)
            continue;
        const char *name = pj_arena_strndup(reader->arena, function->name, function->length);
        if (!name)
            return pj_error_no_memory(err);
        ptx->kernels[ptx->kernel_count++] = name;
    }
    return 0;
}

static int read_all(struct pj_ptx_reader *reader, struct work *work, struct pj_error **err)
{
    const struct pj_ptx_cursor body = reader->cursor;
    struct functions *functions = &work->functions;
    if (!find_functions(&reader->cursor, functions))
        return pj_error_no_memory(err);
    size_t room = functions->count ? functions->count : 1;
    work->all.items = calloc(room, sizeof *work->all.items);
    work->undefined.items = calloc(room, sizeof *work->undefined.items);
    if (!work->all.items || !work->undefined.items)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < functions->count; i++)
        work->all.items[work->all.count++] = &functions->items[i];
    sort_out(&work->all, &work->undefined);
    if (work->undefined.count > 0) {
        drop_aliases(&work->undefined, body.at, body.end);
        int r = find_calls(reader, body, work, err);
        if (r < 0)
            return r;
    }
    int r = keep_defined(reader, &work->all, err);
    if (r < 0)
        return r;
    return keep_kernels(reader, functions, err);
}

int pj_ptx_read_functions(struct pj_ptx_reader *reader, struct pj_error **err)
{
    struct work work = {0};
    int status = read_all(reader, &work, err);
    free(work.functions.items);
    free(work.all.items);
    free(work.undefined.items);
    return status;
}
