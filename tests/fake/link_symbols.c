/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a link: defined once, found somewhere; and the cubin that has them all. */
#include "link.h"

#include "ptx.h"

#include <stdlib.h>
#include <string.h>

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

/* A name of `object` that is also defined, and not weak, in an object before it. */
static CUresult check_list(struct fake_link *link, size_t object, const struct fake_cubin_symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        for (size_t before = 0; before < object; before++) {
            const struct fake_cubin_symbol *other =
                find_defined(&link->objects[before], symbols->list[i].name);
            if (!other || other->weak || symbols->list[i].weak)
                continue;
            fake_buffer_printf(&link->error_log.text,
                               "error   : Multiple definition of '%s' in '%s', first defined in '%s'\n",
                               symbols->list[i].name, link->objects[object].name, link->objects[before].name);
            return CUDA_ERROR_INVALID_SOURCE;
        }
    }
    return CUDA_SUCCESS;
}

CUresult fake_link_check_doubles(struct fake_link *link)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < link->object_count && result == CUDA_SUCCESS; i++) {
        const struct fake_cubin *cubin = &link->objects[i].cubin;
        result = check_list(link, i, &cubin->kernels);
        if (result == CUDA_SUCCESS)
            result = check_list(link, i, &cubin->functions);
        if (result == CUDA_SUCCESS)
            result = check_list(link, i, &cubin->variables);
    }
    return result;
}

static bool is_defined(const struct fake_link *link, const char *name)
{
    for (size_t i = 0; i < link->object_count; i++)
        if (find_defined(&link->objects[i], name))
            return true;
    return fake_ptx_supplies_function(name);
}

CUresult fake_link_check_undefined(struct fake_link *link, size_t first_object)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = first_object; i < link->object_count; i++) {
        const struct fake_cubin_symbols *undefined = &link->objects[i].cubin.undefined;
        for (size_t j = 0; j < undefined->count; j++) {
            if (is_defined(link, undefined->list[j].name))
                continue;
            fake_buffer_printf(&link->error_log.text, "error   : Undefined reference to '%s' in '%s'\n",
                               undefined->list[j].name, link->objects[i].name);
            result = CUDA_ERROR_INVALID_SOURCE;
        }
    }
    return result;
}

/* The writer doubles what it is told, and a block is added. */
static struct fake_ptx_function kernel_of(const struct fake_cubin_symbol *symbol)
{
    return (struct fake_ptx_function){.name = symbol->name,
                                      .body_bytes = symbol->bytes > 128 ? 2 * (symbol->bytes - 128) : 0,
                                      .linkage = FAKE_LINKAGE_VISIBLE};
}

void fake_link_write(const struct fake_link *link, struct fake_buffer *ret_cubin)
{
    struct fake_ptx all = {0}; /* its names are the objects' */
    size_t kernels = 0, variables = 0;
    for (size_t i = 0; i < link->object_count; i++) {
        kernels += link->objects[i].cubin.kernels.count;
        variables += link->objects[i].cubin.variables.count;
    }
    all.kernels = fake_allocate(kernels * sizeof *all.kernels);
    all.variables = fake_allocate(variables * sizeof *all.variables);
    for (size_t i = 0; i < link->object_count; i++) {
        const struct fake_cubin *cubin = &link->objects[i].cubin;
        for (size_t j = 0; j < cubin->kernels.count; j++)
            all.kernels[all.kernel_count++] = kernel_of(&cubin->kernels.list[j]);
        for (size_t j = 0; j < cubin->variables.count; j++)
            all.variables[all.variable_count++] =
                (struct fake_ptx_variable){.name = cubin->variables.list[j].name,
                                           .bytes = cubin->variables.list[j].bytes,
                                           .linkage = FAKE_LINKAGE_VISIBLE};
    }
    fake_cubin_write(&all, link->arch, false, link->seed, 0, ret_cubin);
    free(all.kernels);
    free(all.variables);
}
