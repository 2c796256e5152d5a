/* SPDX-License-Identifier: Apache-2.0 */
/* A set of names: an array, sorted and halved. */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool pj_names_add(struct pj_names *names, const char *name)
{
    const char **item = PJ_ARRAY_PUSH(names);
    if (item)
        *item = name;
    return item != NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pj_names_sort(struct pj_names *names)
{
    if (names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, compare);
}

bool pj_names_have(const struct pj_names *names, const char *name)
{
    return names->count > 0 && bsearch(&name, names->items, names->count, sizeof *names->items, compare);
}

void pj_names_free(struct pj_names *names)
{
    free(names->items);
    *names = (struct pj_names){0};
}
