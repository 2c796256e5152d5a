/* SPDX-License-Identifier: Apache-2.0 */
/* Follows calls through the texts of a link, as its linker will. */
#include "image/ptx_link.h"

#include <stdlib.h>
#include <string.h>

/* A function of one of the texts. */
struct node {
    const struct pj_ptx_function *function;
    size_t text;
};

struct nodes {
    struct node *items;
    size_t count;
};

struct walk {
    const struct pj_ptx *const *texts;
    struct nodes defined; /* of all texts, by name; what others see before what they do not, then by text */
    struct nodes queue;   /* what was reached, in that order */
    size_t *starts;       /* where in `reached` each text's functions begin */
    bool *reached;
    size_t count; /* of texts */
};

static int compare_nodes(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    int order = strcmp(a->function->name, b->function->name);
    if (order == 0)
        order = (a->function->linkage == PJ_PTX_OWN) - (b->function->linkage == PJ_PTX_OWN);
    return order != 0 ? order : (a->text > b->text) - (a->text < b->text);
}

/* The first of the name, or NULL. */
static const struct node *find_first(const struct nodes *defined, const char *name)
{
    size_t low = 0, high = defined->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(defined->items[middle].function->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < defined->count && strcmp(defined->items[low].function->name, name) == 0;
    return found ? &defined->items[low] : NULL;
}

/* What a call of `function` in `text` calls, or NULL. */
static const struct node *find_callee(const struct walk *walk, size_t text,
                                      const struct pj_ptx_function *function, struct node *own)
{
    if (!function->is_defined || function->linkage != PJ_PTX_OWN)
        return find_first(&walk->defined, function->name);
    *own = (struct node){function, text};
    return own;
}

static void reach(struct walk *walk, const struct node *node)
{
    size_t place = (size_t)(node->function - walk->texts[node->text]->functions);
    bool *reached = &walk->reached[walk->starts[node->text] + place];
    if (*reached)
        return;
    *reached = true;
    walk->queue.items[walk->queue.count++] = *node;
}

/* Weak kernels give way to those of other texts; others are linked, or refused where they are there twice. */
static void start_at_kernels(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct pj_ptx *ptx = walk->texts[i];
        for (size_t k = 0; k < ptx->kernel_count; k++) {
            const struct node own = {pj_ptx_find(ptx, ptx->kernels[k]), i};
            bool is_weak = own.function->linkage == PJ_PTX_WEAK;
            reach(walk, is_weak ? find_first(&walk->defined, ptx->kernels[k]) : &own);
        }
    }
}

/* 1 where something that is called is defined nowhere. */
static int follow_calls(struct walk *walk, struct pj_ptx_lack *ret_lack)
{
    struct node own;
    start_at_kernels(walk);
    for (size_t i = 0; i < walk->queue.count; i++) {
        const struct node caller = walk->queue.items[i];
        const struct pj_ptx *ptx = walk->texts[caller.text];
        for (size_t k = 0; k < caller.function->call_count; k++) {
            const struct pj_ptx_function *called =
                &ptx->functions[ptx->calls[caller.function->first_call + k]];
            const struct node *callee = find_callee(walk, caller.text, called, &own);
            if (!callee) {
                *ret_lack = (struct pj_ptx_lack){caller.text, caller.function, called};
                return 1;
            }
            reach(walk, callee);
        }
    }
    return 0;
}

static bool gather(struct walk *walk)
{
    size_t functions = 0;
    walk->starts = calloc(walk->count, sizeof *walk->starts);
    if (!walk->starts)
        return false;
    for (size_t i = 0; i < walk->count; i++) {
        walk->starts[i] = functions;
        functions += walk->texts[i]->function_count;
    }
    walk->reached = calloc(functions, sizeof *walk->reached);
    walk->defined.items = calloc(functions, sizeof *walk->defined.items);
    walk->queue.items = calloc(functions, sizeof *walk->queue.items);
    if (!walk->reached || !walk->defined.items || !walk->queue.items)
        return false;
    for (size_t i = 0; i < walk->count; i++) {
        const struct pj_ptx *ptx = walk->texts[i];
        for (size_t k = 0; k < ptx->function_count; k++) {
            if (ptx->functions[k].is_defined)
                walk->defined.items[walk->defined.count++] = (struct node){&ptx->functions[k], i};
        }
    }
    qsort(walk->defined.items, walk->defined.count, sizeof *walk->defined.items, compare_nodes);
    return true;
}

int pj_ptx_find_lack(const struct pj_ptx *const *texts, size_t count, struct pj_ptx_lack *ret_lack,
                     struct pj_error **err)
{
    struct walk walk = {.texts = texts, .count = count};
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= texts[i]->unresolved != NULL;
    if (!any)
        return 0;
    int r = gather(&walk) ? follow_calls(&walk, ret_lack) : pj_error_no_memory(err);
    free(walk.starts);
    free(walk.reached);
    free(walk.defined.items);
    free(walk.queue.items);
    return r;
}
