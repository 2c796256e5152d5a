/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for NVRTC. */
#include "session/prepare/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arch/nvrtc_options.h"
#include "base/file.h"

/* What every NVRTC from this version on takes; before it, the environment forbids the cache
 * (CUDA_CACHE_DISABLE). */
enum { NO_CACHE_SINCE = 13000 };

static const char *architecture_option(const struct pj_source *source, struct pj_arena *arena)
{
    char text[PJ_ARCH_TEXT];
    const char *number = pj_arch_text(source->arch, text) + strlen("sm_");
    return pj_arena_printf(arena, "--gpu-architecture=%s_%s", source->real ? "sm" : "compute", number);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_arguments(const struct pj_source *source, const struct pj_compiler *nvrtc, const char *include,
                         bool trace, struct pj_arena *arena, struct pj_making *making, struct pj_error **err)
{
    enum { ADDED = 8 };
    const struct pj_module *module = source->module;
    struct pj_nvrtc_options options;
    size_t used = 0, given = module->nvrtc_count;
    bool complete = true;
    pj_nvrtc_options_read(module->nvrtc, given, &options);
    const char **arguments = pj_arena_calloc(arena, given + source->extra_count + ADDED, sizeof *arguments);
    if (!arguments)
        return pj_error_no_memory(err);
    while (used < given) {
        arguments[used] = module->nvrtc[used];
        used++;
    }
    if (!options.has_architecture)
        complete &= (arguments[used++] = architecture_option(source, arena)) != NULL;
    if (include) {
        complete &= (arguments[used++] = pj_arena_printf(arena, "-I%s", include)) != NULL;
        /* From CUDA 13 on libcu++, and what includes it (cooperative_groups.h), lies there. */
        const char *cccl = pj_arena_printf(arena, "-I%s/cccl", include);
        complete &= cccl != NULL;
        if (cccl && is_folder(cccl + strlen("-I")))
            arguments[used++] = cccl;
    }
    if (nvrtc->version >= NO_CACHE_SINCE)
        arguments[used++] = "--no-cache";
    for (size_t i = 0; i < source->extra_count; i++)
        arguments[used++] = source->extra[i];
    if (trace) {
        arguments[used++] = "-Xcudafe";
        arguments[used++] = "--trace_includes";
    }
    making->arguments = arguments;
    making->argument_count = used;
    return complete ? 0 : pj_error_no_memory(err);
}

static int add_parts(const struct pj_source *source, struct pj_arena *arena, struct pj_making *making,
                     struct pj_error **err)
{
    const struct pj_module *module = source->module;
    size_t count = 1 + module->header_count;
    struct pj_making_part *parts = pj_arena_calloc(arena, count, sizeof *parts);
    if (!parts)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct pj_making_part){
            .name = i == 0 ? module->program_name : module->headers[i - 1].name,
            .path = source->images[i]->path,
            .size_bytes = source->images[i]->size_bytes,
            .sha256 = source->images[i]->sha256,
        };
    making->parts = parts;
    making->part_count = count;
    return 0;
}

int pj_source_order(const struct pj_source *source, const struct pj_compiler *nvrtc, const char *include,
                    uint32_t outputs, bool trace, struct pj_arena *arena, struct pj_making *ret_making,
                    struct pj_error **err)
{
    char arch[PJ_ARCH_TEXT];
    struct pj_making making = {
        .title = pj_arena_printf(arena, "%s %s", source->module->name, pj_arch_text(source->arch, arch)),
        .name = source->module->program_name,
        .outputs = outputs,
        .expressions = source->module->name_expressions,
        .expression_count = source->module->name_expression_count,
        .weight_bytes = source->images[0]->size_bytes,
    };
    if (!making.title)
        return pj_error_no_memory(err);
    int r = add_arguments(source, nvrtc, include, trace, arena, &making, err);
    if (r == 0)
        r = add_parts(source, arena, &making, err);
    if (r == 0)
        *ret_making = making;
    return r;
}

int pj_source_request(const struct pj_source *source, const char *directory, struct pj_buffer *text,
                      struct pj_error **err)
{
    const struct pj_module *module = source->module;
    char arch[PJ_ARCH_TEXT];
    pj_buffer_printf(text, "directory %s\nsource %s\nprogram %s\n%s %s\n", directory, module->path,
                     module->program_name, source->real ? "real" : "virtual",
                     pj_arch_text(source->arch, arch));
    for (size_t i = 0; i < module->nvrtc_count; i++)
        pj_buffer_printf(text, "option %s\n", module->nvrtc[i]);
    for (size_t i = 0; i < module->header_count; i++)
        pj_buffer_printf(text, "header %s\nfrom %s\n", module->headers[i].name, module->headers[i].path);
    for (size_t i = 0; i < module->name_expression_count; i++)
        pj_buffer_printf(text, "name %s\n", module->name_expressions[i]);
    return pj_buffer_check(text, err);
}

bool pj_source_knows(const struct pj_compiler *nvrtc, uint16_t number)
{
    for (size_t i = 0; i < nvrtc->arch_count; i++) {
        if (nvrtc->archs[i] == number)
            return true;
    }
    return nvrtc->arch_count == 0;
}

const char *pj_source_why_not(const struct pj_compiler *nvrtc, uint16_t number, struct pj_arena *arena)
{
    uint16_t lowest = nvrtc->archs[0], highest = nvrtc->archs[nvrtc->arch_count - 1], below = 0;
    for (size_t i = 0; i < nvrtc->arch_count; i++) {
        if (nvrtc->archs[i] < number)
            below = nvrtc->archs[i];
    }
    if (number < lowest)
        return pj_arena_printf(
            arena,
            "NVRTC %s (%s) compiles for sm_%u and later, not for sm_%u: use an older one (--nvrtc "
            "PATH), or leave this target out",
            nvrtc->library.version, nvrtc->library.path, lowest, number);
    return pj_arena_printf(
        arena,
        "NVRTC %s (%s) does not know sm_%u, the newest that it knows is sm_%u: use a newer one (--nvrtc "
        "PATH), or, if the program does so, write nvrtc: [--gpu-architecture=compute_%u], whose PTX the "
        "driver compiles for sm_%u",
        nvrtc->library.version, nvrtc->library.path, number, highest, below, number);
}

const char *pj_source_why_left_out(const struct pj_compiler *nvrtc, uint16_t number, struct pj_arena *arena)
{
    uint16_t lowest = nvrtc->archs[0], highest = nvrtc->archs[nvrtc->arch_count - 1];
    if (number < lowest)
        return pj_arena_printf(arena, "NVRTC %s (%s) compiles for sm_%u and later", nvrtc->library.version,
                               nvrtc->library.path, lowest);
    return pj_arena_printf(arena, "unknown to NVRTC %s (%s), whose newest is sm_%u", nvrtc->library.version,
                           nvrtc->library.path, highest);
}

const char *pj_source_missing_folder(const struct pj_module *module, const char *directory,
                                     struct pj_arena *arena)
{
    struct pj_nvrtc_option option;
    for (size_t at = 0; pj_nvrtc_option_next(module->nvrtc, module->nvrtc_count, &at, &option);) {
        if (option.kind != PJ_NVRTC_INCLUDE || !option.value || option.value_size == 0)
            continue;
        const char *name = pj_arena_strndup(arena, option.value, option.value_size);
        PJ_CLEANUP_FREE char *path = name ? pj_path_join(directory, name) : NULL;
        if (path && !is_folder(path))
            return pj_arena_printf(arena, "; the folder %s of its -I does not exist in %s", name, directory);
    }
    return "";
}
