/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for nvJitLink. */
#include <string.h>

#include "session/prepare/source.h"

/* What every nvJitLink from this version on takes; before it, the environment forbids the cache. */
enum { NO_CACHE_SINCE = 13000 };

enum pj_nvjitlink_type pj_linked_type(const struct pj_plan_image *image)
{
    static const enum pj_nvjitlink_type types[] = {
        [PJ_INPUT_PTX] = PJ_NVJITLINK_PTX,         [PJ_INPUT_CUBIN] = PJ_NVJITLINK_CUBIN,
        [PJ_INPUT_FATBIN] = PJ_NVJITLINK_FATBIN,   [PJ_INPUT_OBJECT] = PJ_NVJITLINK_OBJECT,
        [PJ_INPUT_ARCHIVE] = PJ_NVJITLINK_LIBRARY, [PJ_INPUT_LTOIR] = PJ_NVJITLINK_LTOIR,
    };
    return image->form == PJ_FORM_PTX ? PJ_NVJITLINK_PTX : types[image->contents.kind];
}

int pj_linked_parts(const struct pj_source *source, struct pj_arena *arena, struct pj_making *making,
                    struct pj_error **err)
{
    const struct pj_plan_image *const *images = source->images;
    size_t count = pj_plan_file_count(source->module);
    struct pj_making_part *parts = pj_arena_calloc(arena, count, sizeof *parts);
    if (!parts)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct pj_making_part){
            .type = pj_linked_type(images[i]),
            .name = images[i]->path,
            .path = images[i]->path,
            .size_bytes = images[i]->size_bytes,
            .sha256 = images[i]->sha256,
        };
        making->weight_bytes += images[i]->size_bytes;
    }
    making->parts = parts;
    making->part_count = count;
    return 0;
}

static int add_arguments(const struct pj_source *source, const struct pj_compiler *linker,
                         struct pj_arena *arena, struct pj_making *making, struct pj_error **err)
{
    enum { ADDED = 2 };
    const struct pj_module *module = source->module;
    char arch[PJ_ARCH_TEXT];
    bool has_arch = false, has_no_cache = false;
    const char **arguments = pj_arena_calloc(arena, module->nvjitlink_count + ADDED, sizeof *arguments);
    if (!arguments)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < module->nvjitlink_count; i++) {
        arguments[making->argument_count++] = module->nvjitlink[i];
        has_arch |= strncmp(module->nvjitlink[i], "-arch", strlen("-arch")) == 0;
        has_no_cache |= strcmp(module->nvjitlink[i], "-no-cache") == 0;
    }
    if (!has_arch) {
        const char *number = pj_arch_text(source->arch, arch) + strlen("sm_");
        const char *option = pj_arena_printf(arena, "-arch=compute_%s", number);
        if (!option)
            return pj_error_no_memory(err);
        arguments[making->argument_count++] = option;
    }
    if (linker->version >= NO_CACHE_SINCE && !has_no_cache)
        arguments[making->argument_count++] = "-no-cache";
    making->arguments = arguments;
    return 0;
}

int pj_linked_order(const struct pj_source *source, const struct pj_compiler *linker, struct pj_arena *arena,
                    struct pj_making *ret_making, struct pj_error **err)
{
    char arch[PJ_ARCH_TEXT];
    struct pj_making making = {
        .title = pj_arena_printf(arena, "%s %s", source->module->name, pj_arch_text(source->arch, arch)),
        .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_PTX,
    };
    if (!making.title)
        return pj_error_no_memory(err);
    int r = add_arguments(source, linker, arena, &making, err);
    if (r == 0)
        r = pj_linked_parts(source, arena, &making, err);
    if (r == 0)
        *ret_making = making;
    return r;
}

int pj_linked_request(const struct pj_source *source, struct pj_buffer *text, struct pj_error **err)
{
    const struct pj_module *module = source->module;
    char arch[PJ_ARCH_TEXT];
    pj_buffer_printf(text, "link %s\n", pj_arch_text(source->arch, arch));
    for (size_t i = 0; i < module->nvjitlink_count; i++)
        pj_buffer_printf(text, "option %s\n", module->nvjitlink[i]);
    for (size_t i = 0; i < module->input_count; i++)
        pj_buffer_printf(text, "input %s\n", module->inputs[i]);
    return pj_buffer_check(text, err);
}
