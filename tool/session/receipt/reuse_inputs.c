/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the files that a receipt's jobs were made from with those that the manifest names now. */
#include "session/receipt/reuse_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/receipt/input.h"

/* By path, those that the manifest names first. */
static int compare_inputs(const void *a, const void *b)
{
    const struct pj_receipt_input *x = *(const struct pj_receipt_input *const *)a;
    const struct pj_receipt_input *y = *(const struct pj_receipt_input *const *)b;
    int order = strcmp(x->file.path, y->file.path);
    return order != 0 ? order : (int)y->named - (int)x->named;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct paths {
    const char **items;
    size_t count, capacity;
};

static void free_paths(struct paths *paths)
{
    free(paths->items);
}

static bool add_path(struct paths *paths, const char *path)
{
    const char **item = PJ_ARRAY_PUSH(paths);
    if (item)
        *item = path;
    return item != NULL;
}

static bool add_module(struct paths *paths, const struct pj_module *module)
{
    bool ok = !module->path || add_path(paths, module->path);
    for (size_t i = 0; i < module->input_count && ok; i++)
        ok = add_path(paths, module->inputs[i]);
    for (size_t i = 0; i < module->header_count && ok; i++)
        ok = add_path(paths, module->headers[i].path);
    return ok;
}

/* Do the manifest's modules name exactly the receipt's files? A glob may give other files than it did. */
static int same_names(const struct pj_session *session, struct pj_receipt_input *const *inputs, size_t count,
                      bool *ret_same, struct pj_error **err)
{
    const struct pj_manifest *manifest = session->manifest;
    __attribute__((cleanup(free_paths))) struct paths paths = {.items = NULL};
    for (size_t i = 0; i < manifest->module_count; i++) {
        if (pj_plan_selects(&session->selection, &manifest->modules[i]) &&
            !add_module(&paths, &manifest->modules[i]))
            return pj_error_no_memory(err);
    }
    if (paths.count > 0)
        qsort(paths.items, paths.count, sizeof *paths.items, compare_paths);
    size_t i = 0, k = 0;
    for (;;) {
        while (k < count && !inputs[k]->named)
            k++;
        if (i == paths.count || k == count || strcmp(paths.items[i], inputs[k]->file.path) != 0)
            break;
        const char *path = paths.items[i];
        while (i < paths.count && strcmp(paths.items[i], path) == 0)
            i++;
        while (k < count && strcmp(inputs[k]->file.path, path) == 0)
            k++;
    }
    *ret_same = i == paths.count && k == count;
    return 0;
}

static bool is_repeated(const struct pj_receipt_input *input, const struct pj_receipt_input *before)
{
    return strcmp(input->file.path, before->file.path) == 0 &&
           memcmp(&input->sha256, &before->sha256, sizeof input->sha256) == 0;
}

int pj_reuse_inputs(const struct pj_session *session, bool *ret_same, struct pj_error **err)
{
    const struct pj_receipt *receipt = session->receipt;
    size_t count = receipt->input_count;
    PJ_CLEANUP_FREE struct pj_receipt_input **inputs = calloc(count + 1, sizeof *inputs);
    if (!inputs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        inputs[i] = &receipt->inputs[i];
    qsort(inputs, count, sizeof *inputs, compare_inputs);
    int r = same_names(session, inputs, count, ret_same, err);
    for (size_t i = 0; i < count && *ret_same && r == 0; i++) {
        if (i == 0 || !is_repeated(inputs[i], inputs[i - 1]))
            r = pj_receipt_input_same(inputs[i], ret_same, err);
    }
    return r;
}
