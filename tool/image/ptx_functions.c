/* SPDX-License-Identifier: Apache-2.0 */
/* Finds kernels and functions, without parsing bodies. */
#include <stdlib.h>
#include <string.h>

#include "image/ptx_reader.h"

/* Places by name. */
struct index {
    struct pj_ptx_place **items;
    size_t count;
};

/* What is needed while a text is read. */
struct work {
    struct pj_ptx_places places;
    struct index all;
};

/* What the driver supplies by itself: ptxas 13.0 and driver 580 resolve these and no others. */
static bool is_supplied(const struct pj_ptx_place *place)
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
    if (place->length >= sizeof prefix - 1 && memcmp(place->name, prefix, sizeof prefix - 1) == 0)
        return true;
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        if (strlen(names[i]) == place->length && memcmp(names[i], place->name, place->length) == 0)
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
static int compare_places(const void *left, const void *right)
{
    const struct pj_ptx_place *a = *(struct pj_ptx_place *const *)left;
    const struct pj_ptx_place *b = *(struct pj_ptx_place *const *)right;
    int order = compare_names(a->name, a->length, b->name, b->length);
    if (order != 0)
        return order;
    return a->name < b->name ? -1 : a->name > b->name;
}

const char *pj_ptx_skip_list(const char *at, const char *end)
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

/* Start of the comment that the line feed at `at` ends, or `at` itself where there is none. */
static const char *skip_line_comment_back(const char *start, const char *at)
{
    const char *feed = memrchr(start, '\n', (size_t)(at - start));
    const char *line = feed ? feed + 1 : start;
    const char *comment = memmem(line, (size_t)(at - line), "//", 2);
    return comment ? comment : at;
}

/* Back over white space and comments. */
static const char *skip_space_back(const char *start, const char *at)
{
    while (at > start) {
        if (pj_ptx_is_space(at[-1])) {
            at--;
            if (*at == '\n')
                at = skip_line_comment_back(start, at);
        } else if (at - start >= 4 && at[-1] == '/' && at[-2] == '*') {
            const char *comment = at - 4;
            while (comment > start && (comment[0] != '/' || comment[1] != '*'))
                comment--;
            at = comment;
        } else {
            break;
        }
    }
    return at;
}

/* What the directive before the function at `at` says, which does not begin before `start`. */
static enum pj_ptx_linkage read_linkage(const char *start, const char *at)
{
    static const struct {
        const char *word;
        enum pj_ptx_linkage linkage;
    } words[] = {{".visible", PJ_PTX_SHARED}, {".weak", PJ_PTX_WEAK}, {".common", PJ_PTX_SHARED}};
    at = skip_space_back(start, at);
    for (size_t i = 0; i < PJ_COUNT(words); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(at - start) >= length && memcmp(at - length, words[i].word, length) == 0)
            return words[i].linkage;
    }
    return PJ_PTX_OWN;
}

/* The cursor stands at `.entry` or `.func`, with nothing of other functions behind `before`; it is left
 * behind what was understood. */
static bool read_function(struct pj_ptx_cursor *cursor, const char *before, struct pj_ptx_place *ret_place)
{
    bool is_kernel = cursor->at[1] == 'e';
    enum pj_ptx_linkage linkage = read_linkage(before, cursor->at);
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
        cursor->at = pj_ptx_skip_list(cursor->at, cursor->end);
        if (!pj_ptx_skip_space(cursor))
            return false;
    }
    size_t length = pj_ptx_name_length(cursor->at, cursor->end);
    if (length == 0)
        return false;
    *ret_place = (struct pj_ptx_place){
        .name = cursor->at, .length = length, .is_kernel = is_kernel, .linkage = linkage};
    cursor->at = find_body(cursor->at + length, cursor->end, &ret_place->is_defined);
    ret_place->body = cursor->at;
    return true;
}

static bool find_places(struct pj_ptx_cursor *cursor, struct pj_ptx_places *places)
{
    while (cursor->at < cursor->end) {
        const char *before = cursor->at;
        cursor->at = pj_ptx_find_function(cursor->at, cursor->end);
        struct pj_ptx_place place;
        if (cursor->at == cursor->end || !read_function(cursor, before, &place))
            continue;
        struct pj_ptx_place *item = PJ_ARRAY_PUSH(places);
        if (!item)
            return false;
        *item = place;
    }
    return true;
}

/* Makes one function of the places of one name: the first definition is its body. What the driver supplies is
 * left out, and a kernel that is only declared. */
static int make_function(struct pj_ptx_reader *reader, struct pj_ptx_place *const *places, size_t count,
                         struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    struct pj_ptx_function function = {0};
    struct pj_ptx_place *body = NULL;
    for (size_t i = 0; i < count; i++) {
        if (places[i]->linkage > function.linkage)
            function.linkage = places[i]->linkage;
        if (places[i]->is_defined && !body)
            body = places[i];
    }
    bool kept = body || (!places[0]->is_kernel && !is_supplied(places[0]));
    for (size_t i = 0; i < count; i++)
        places[i]->function = kept ? ptx->function_count : PJ_PTX_NO_FUNCTION;
    if (!kept)
        return 0;
    if (body)
        body->is_body = function.is_defined = true;
    function.is_kernel = body && body->is_kernel;
    function.name = pj_arena_strndup(reader->arena, places[0]->name, places[0]->length);
    ptx->functions[ptx->function_count++] = function;
    return function.name ? 0 : pj_error_no_memory(err);
}

static int make_functions(struct pj_ptx_reader *reader, const struct index *all, struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    ptx->functions = pj_arena_calloc(reader->arena, all->count ? all->count : 1, sizeof *ptx->functions);
    if (!ptx->functions)
        return pj_error_no_memory(err);
    int r = 0;
    for (size_t first = 0, next; first < all->count && r == 0; first = next) {
        const struct pj_ptx_place *place = all->items[first];
        for (next = first + 1; next < all->count; next++) {
            const struct pj_ptx_place *other = all->items[next];
            if (compare_names(place->name, place->length, other->name, other->length) != 0)
                break;
        }
        r = make_function(reader, &all->items[first], next - first, err);
    }
    return r;
}

static bool is_kept_kernel(const struct pj_ptx_place *place)
{
    return place->is_body && place->is_kernel;
}

static int keep_kernels(struct pj_ptx_reader *reader, const struct pj_ptx_places *places,
                        struct pj_error **err)
{
    struct pj_ptx *ptx = reader->ptx;
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++)
        count += is_kept_kernel(&places->items[i]);
    ptx->kernels = pj_arena_calloc(reader->arena, count ? count : 1, sizeof *ptx->kernels);
    if (!ptx->kernels)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < places->count; i++) {
        if (is_kept_kernel(&places->items[i]))
            ptx->kernels[ptx->kernel_count++] = ptx->functions[places->items[i].function].name;
    }
    return 0;
}

static int read_all(struct pj_ptx_reader *reader, struct work *work, struct pj_error **err)
{
    const struct pj_ptx_cursor body = reader->cursor;
    struct pj_ptx_places *places = &work->places;
    if (!find_places(&reader->cursor, places))
        return pj_error_no_memory(err);
    work->all.items = calloc(places->count ? places->count : 1, sizeof *work->all.items);
    if (!work->all.items)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < places->count; i++)
        work->all.items[work->all.count++] = &places->items[i];
    qsort(work->all.items, work->all.count, sizeof *work->all.items, compare_places);
    int r = make_functions(reader, &work->all, err);
    if (r == 0)
        r = keep_kernels(reader, places, err);
    if (r == 0)
        r = pj_ptx_find_optix(reader, body, places, err);
    if (r == 0)
        pj_ptx_find_unloadable(reader, body, places);
    return r == 0 ? pj_ptx_read_calls(reader, body, places, err) : r;
}

int pj_ptx_read_functions(struct pj_ptx_reader *reader, struct pj_error **err)
{
    struct work work = {0};
    int status = read_all(reader, &work, err);
    free(work.places.items);
    free(work.all.items);
    return status;
}
