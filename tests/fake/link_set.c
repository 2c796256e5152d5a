/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a link: defined once, found somewhere; and the cubin that has them all. */
#include "link_set.h"

#include "ptx.h"

#include <stdlib.h>
#include <string.h>

void fake_link_set_add(struct fake_link_set *set, struct fake_cubin cubin, const unsigned char *bytes,
                       size_t length, const char *name)
{
    set->objects = fake_reallocate(set->objects, (set->count + 1) * sizeof *set->objects);
    set->objects[set->count++] =
        (struct fake_link_object){.name = fake_copy_text(name, strlen(name)), .cubin = cubin};
    set->seed = set->seed * 0x100000001b3u ^ fake_fnv(bytes, length);
}

static const struct fake_cubin_symbol *find_in(const struct fake_cubin_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (strcmp(symbols->list[i].name, name) == 0)
            return &symbols->list[i];
    return NULL;
}

static const struct fake_cubin_symbol *find_defined(const struct fake_link_object *object, const char *name)
{
    const struct fake_cubin_symbol *found = find_in(&object->cubin.kernels, name);
    if (!found)
        found = find_in(&object->cubin.functions, name);
    return found ? found : find_in(&object->cubin.variables, name);
}

/* Whether no name in the list, which is of the object at `position`, is in an object before it as well. */
static bool list_is_unique(const struct fake_link_set *set, size_t position,
                           const struct fake_cubin_symbols *list, struct fake_buffer *log)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct fake_cubin_symbol *symbol = &list->list[i];
        for (size_t before = 0; before < position && !symbol->weak; before++) {
            const struct fake_cubin_symbol *other = find_defined(&set->objects[before], symbol->name);
            if (!other || other->weak)
                continue;
            fake_buffer_printf(log, "error   : Multiple definition of '%s' in '%s', first defined in '%s'\n",
                               symbol->name, set->objects[position].name, set->objects[before].name);
            return false;
        }
    }
    return true;
}

static void note_names(struct fake_names *names, size_t *total, const struct fake_cubin_symbols *symbols)
{
    *total += symbols->count;
    for (size_t i = 0; i < symbols->count; i++)
        fake_names_add(names, symbols->list[i].name, strlen(symbols->list[i].name));
}

/* Whether every name of all objects is there once, weak ones too: then there is nothing to compare. */
static bool has_no_name_twice(const struct fake_link_set *set)
{
    struct fake_names names = {0};
    size_t total = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct fake_cubin *cubin = &set->objects[i].cubin;
        note_names(&names, &total, &cubin->kernels);
        note_names(&names, &total, &cubin->functions);
        note_names(&names, &total, &cubin->variables);
    }
    bool no_name_twice = names.count == total;
    fake_names_free(&names);
    return no_name_twice;
}

bool fake_link_set_is_unique(const struct fake_link_set *set, struct fake_buffer *log)
{
    if (has_no_name_twice(set))
        return true;
    for (size_t i = 0; i < set->count; i++) {
        const struct fake_cubin *cubin = &set->objects[i].cubin;
        if (!list_is_unique(set, i, &cubin->kernels, log) ||
            !list_is_unique(set, i, &cubin->functions, log) ||
            !list_is_unique(set, i, &cubin->variables, log))
            return false;
    }
    return true;
}

static bool is_defined(const struct fake_link_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (find_defined(&set->objects[i], name))
            return true;
    return fake_ptx_supplies_function(name);
}

bool fake_link_set_is_complete(const struct fake_link_set *set, size_t first, struct fake_buffer *log)
{
    bool complete = true;
    for (size_t i = first; i < set->count; i++) {
        const struct fake_cubin_symbols *undefined = &set->objects[i].cubin.undefined;
        for (size_t j = 0; j < undefined->count; j++) {
            if (is_defined(set, undefined->list[j].name))
                continue;
            fake_buffer_printf(log, "error   : Undefined reference to '%s' in '%s'\n",
                               undefined->list[j].name, set->objects[i].name);
            complete = false;
        }
    }
    return complete;
}

/* Names stay the objects'. The writer halves what it is told, and adds a block. */
static void add_kernel(struct fake_ptx *all, struct fake_names *names, const struct fake_cubin_symbol *symbol)
{
    if (fake_names_have(names, symbol->name, strlen(symbol->name)))
        return; /* weak, and there already */
    fake_names_add(names, symbol->name, strlen(symbol->name));
    all->kernels[all->kernel_count++] =
        (struct fake_ptx_function){.name = symbol->name,
                                   .body_bytes = symbol->bytes > 128 ? 2 * (symbol->bytes - 128) : 0,
                                   .linkage = FAKE_LINKAGE_VISIBLE,
                                   .parameter_bytes = symbol->parameter_bytes};
}

static void add_variable(struct fake_ptx *all, const struct fake_cubin_symbol *symbol)
{
    for (size_t i = 0; i < all->variable_count; i++)
        if (strcmp(all->variables[i].name, symbol->name) == 0)
            return;
    all->variables[all->variable_count++] = (struct fake_ptx_variable){
        .name = symbol->name, .bytes = symbol->bytes, .linkage = FAKE_LINKAGE_VISIBLE};
}

void fake_link_set_write(const struct fake_link_set *set, unsigned arch, struct fake_buffer *ret_cubin)
{
    struct fake_ptx all = {0};
    struct fake_names names = {0};
    size_t kernels = 0, variables = 0;
    for (size_t i = 0; i < set->count; i++) {
        kernels += set->objects[i].cubin.kernels.count;
        variables += set->objects[i].cubin.variables.count;
    }
    all.kernels = fake_allocate(kernels * sizeof *all.kernels);
    all.variables = fake_allocate(variables * sizeof *all.variables);
    for (size_t i = 0; i < set->count; i++) {
        const struct fake_cubin *cubin = &set->objects[i].cubin;
        for (size_t j = 0; j < cubin->kernels.count; j++)
            add_kernel(&all, &names, &cubin->kernels.list[j]);
        for (size_t j = 0; j < cubin->variables.count; j++)
            add_variable(&all, &cubin->variables.list[j]);
    }
    for (size_t i = 0; i < set->count && all.kernel_count > 0; i++) {
        all.kernels[0].unloadable |= set->objects[i].cubin.unloadable;
        all.sampler |= set->objects[i].cubin.no_sampler;
    }
    fake_cubin_write(&all, arch, false, set->seed, 0, ret_cubin);
    fake_names_free(&names);
    free(all.kernels);
    free(all.variables);
}

void fake_link_set_free(struct fake_link_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->objects[i].name);
        fake_cubin_free(&set->objects[i].cubin);
    }
    free(set->objects);
    *set = (struct fake_link_set){0};
}
