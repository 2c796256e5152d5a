/* SPDX-License-Identifier: Apache-2.0 */
/* nvJitLink's part of `build`. */
#include <stdlib.h>
#include <string.h>

#include "host/toolkit.h"
#include "session/build/private.h"

/* What every nvJitLink from this version on takes; before it, the environment forbids the cache. */
enum { NO_CACHE_SINCE = 13000 };

static bool needs_link(const struct pj_build_work *work)
{
    if (work->unit->verdict != PJ_BUILD_NOT_TRIED || work->left_out)
        return false;
    return work->route == PJ_ROUTE_LINK || work->compile.end == PJ_MAKING_MADE;
}

static bool has_ltoir(const struct pj_build *build, const struct pj_build_work *work)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    if (work->route != PJ_ROUTE_LINK)
        return work->route == PJ_ROUTE_NVRTC_LTOIR;
    for (size_t i = 0; i < count; i++) {
        if (images[i]->form == PJ_FORM_INPUT && images[i]->contents.has_ltoir)
            return true;
    }
    return false;
}

static int file_parts(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_source source = {.module = &build->manifest->modules[work->module],
                                     .images = build->plan->module_images[work->module]};
    return pj_linked_parts(&source, &build->arena, &work->link, err);
}

/* What NVRTC made is the one input. */
static int made_part(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    bool ltoir = work->route == PJ_ROUTE_NVRTC_LTOIR, ptx = work->route == PJ_ROUTE_NVRTC_PTX;
    const struct pj_buffer *bytes = pj_making_result(&work->compile, ltoir ? PJ_OUTPUT_LTOIR
                                                                     : ptx ? PJ_OUTPUT_PTX
                                                                           : PJ_OUTPUT_CUBIN);
    struct pj_making_part *part = pj_arena_calloc(&build->arena, 1, sizeof *part);
    if (!part)
        return pj_error_no_memory(err);
    *part = (struct pj_making_part){
        .type = ltoir ? PJ_NVJITLINK_LTOIR
                : ptx ? PJ_NVJITLINK_PTX
                      : PJ_NVJITLINK_CUBIN,
        .name = build->manifest->modules[work->module].path,
        .bytes = pj_buffer_text(bytes),
        .size_bytes = bytes->size,
    };
    pj_sha256_of(part->bytes, bytes->size, &part->sha256);
    work->link.parts = part;
    work->link.part_count = 1;
    work->link.weight_bytes = bytes->size;
    return 0;
}

/* "-maxrregcount=64", "-lineinfo", "-Xptxas=-dlcm=ca": the options of the load, as nvJitLink takes them. */
static const char *translate(struct pj_arena *arena, const struct pj_jit_options *options,
                             const struct pj_jit_flag *flag)
{
    switch (flag->option) {
    case PJ_JIT_MAX_REGISTERS:
        return pj_arena_printf(arena, "-maxrregcount=%u", options->values[flag->option]);
    case PJ_JIT_OPTIMIZATION_LEVEL:
    case PJ_JIT_GENERATE_DEBUG_INFO:
    case PJ_JIT_GENERATE_LINE_INFO:
        return pj_arena_strdup(arena, flag->text);
    default:
        return pj_arena_printf(arena, "-Xptxas=%s", flag->text);
    }
}

/* Of the options that the program passes, those that say neither what comes out nor for which GPU. */
static bool is_passed_on(const char *option)
{
    static const char *const own[] = {"-ptx", "-lto", "-verbose", "-no-cache"};
    for (size_t i = 0; i < PJ_COUNT(own); i++) {
        if (strcmp(option, own[i]) == 0)
            return false;
    }
    return strncmp(option, "-arch", strlen("-arch")) != 0;
}

static int add_options(struct pj_build *build, struct pj_build_work *work, const char **arguments,
                       size_t *used, struct pj_error **err)
{
    const struct pj_module *module = &build->manifest->modules[work->module];
    const struct pj_jit_options *options = &module->options;
    struct pj_jit_flag flag;
    for (size_t i = 0; i < module->nvjitlink_count; i++) {
        if (is_passed_on(module->nvjitlink[i]))
            arguments[(*used)++] = module->nvjitlink[i];
    }
    for (unsigned position = 0; pj_jit_options_next(options, &position, &flag); ++*used) {
        arguments[*used] = translate(&build->arena, options, &flag);
        if (!arguments[*used])
            return pj_error_no_memory(err);
    }
    return 0;
}

static int make_order(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *linker,
                      struct pj_error **err)
{
    enum { OWN_MAX = 6 };
    size_t most = PJ_JIT_OPTION_COUNT + OWN_MAX + build->manifest->modules[work->module].nvjitlink_count;
    const char **arguments = pj_arena_calloc(&build->arena, most, sizeof *arguments);
    size_t used = 0;
    if (!arguments)
        return pj_error_no_memory(err);
    work->link = (struct pj_making){
        .title = pj_arena_printf(&build->arena, "%s %s", work->unit->module, work->unit->target),
        .outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_CUBIN,
        .arguments = arguments,
    };
    arguments[used++] = pj_arena_printf(&build->arena, "-arch=%s", work->unit->target);
    if (!work->link.title || !arguments[0])
        return pj_error_no_memory(err);
    if (has_ltoir(build, work)) /* it is an error without any [nvJitLink 13.0: no module in program] */
        arguments[used++] = "-lto";
    arguments[used++] = "-verbose";
    if (linker->version >= NO_CACHE_SINCE)
        arguments[used++] = "-no-cache";
    int r = add_options(build, work, arguments, &used, err);
    work->link.argument_count = used;
    if (r < 0)
        return r;
    return work->route == PJ_ROUTE_LINK ? file_parts(build, work, err) : made_part(build, work, err);
}

static bool says_older(const struct pj_making *making, const struct pj_build_unit *unit)
{
    return strcmp(making->result_name, "NVJITLINK_ERROR_OUTDATED_LIBRARY") == 0 ||
           (unit->log && strstr(unit->log, "newer version"));
}

/* "container 1.66, IR 2.98" of LTO-IR by itself; inside a container only the first is recorded. */
static const char *ltoir_version(struct pj_build *build, const struct pj_contents *contents,
                                 const struct pj_content *item)
{
    if (contents->kind != PJ_INPUT_LTOIR)
        return pj_arena_printf(&build->arena, "container %u.%u", item->major, item->minor);
    return pj_arena_printf(&build->arena, "container %u.%u, IR %u.%u", contents->ltoir.container.major,
                           contents->ltoir.container.minor, contents->ltoir.ir.major,
                           contents->ltoir.ir.minor);
}

/* A linker that is older than its input: both versions, and the way out. */
static int explain_age(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *linker,
                       struct pj_error **err)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    if (work->link.end != PJ_MAKING_REFUSED || work->route != PJ_ROUTE_LINK ||
        !says_older(&work->link, work->unit))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct pj_contents *contents = &images[i]->contents;
        for (size_t k = 0; images[i]->form == PJ_FORM_INPUT && k < contents->count; k++) {
            if (contents->items[k].kind != PJ_CODE_LTOIR)
                continue;
            const char *version = ltoir_version(build, contents, &contents->items[k]);
            if (!version)
                return pj_error_no_memory(err);
            return pj_build_settle(
                work, PJ_BUILD_REJECTED, "linker-too-old",
                pj_arena_printf(
                    &build->arena,
                    "nvJitLink %s (%s) is older than the LTO-IR in %s (%s): use an nvJitLink as new as the "
                    "compiler that made it (--nvjitlink PATH), or compile it with an older one",
                    linker->library.version, linker->library.path, images[i]->path, version),
                err);
        }
    }
    return 0;
}

static const char *unit_ptx(struct pj_build *build, const struct pj_build_unit *unit)
{
    const char *out_dir = build->options->out_dir ? build->options->out_dir : "DIR";
    const char *path = pj_arena_printf(&build->arena, "%s/%s.%s.ptx", out_dir, unit->module, unit->target);
    return path ? path : "";
}

/* A source that cannot be linked alone: what is to be done with the PTX that NVRTC made of it. */
static int explain_ptx(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    if (work->link.end != PJ_MAKING_REFUSED || !unit->has_ptx)
        return 0;
    return pj_build_settle(
        work, PJ_BUILD_REJECTED, unit->reason_code,
        pj_arena_printf(
            &build->arena,
            "%s; if the program links it with other files, name its PTX and those under `link:`: %s, "
            "NVRTC's own bytes%s",
            unit->reason, unit_ptx(build, unit),
            build->options->check ? ", as a run without --check leaves it" : ""),
        err);
}

/* A target that nobody named, and that this linker does not know, is left out. */
static bool is_unknown_arch(const struct pj_making *making)
{
    return making->end == PJ_MAKING_REFUSED &&
           (strcmp(making->result_name, "NVJITLINK_ERROR_UNSUPPORTED_ARCH") == 0 ||
            strcmp(making->result_name, "NVJITLINK_ERROR_UNRECOGNIZED_ARCH") == 0);
}

static int refuse_arch(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *linker,
                       struct pj_error **err)
{
    work->left_out = !work->explicit_target;
    return pj_build_settle(
        work, PJ_BUILD_INCOMPATIBLE, "linker-does-not-know",
        pj_arena_printf(&build->arena,
                        "nvJitLink %s (%s) does not compile for %s: use one of another toolkit "
                        "(--nvjitlink PATH), or leave this target out",
                        linker->library.version, linker->library.path, work->unit->target),
        err);
}

static int take_result(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *linker,
                       const char *name, struct pj_error **err)
{
    int r = pj_build_note_arguments(build, work, &work->link, err);
    if (r == 0 && is_unknown_arch(&work->link))
        return refuse_arch(build, work, linker, err);
    if (r == 0 && work->link.end != PJ_MAKING_MADE) {
        r = pj_build_take_failure(build, work, &work->link, name, err);
        if (r == 0)
            r = explain_ptx(build, work, err);
        return r == 0 ? explain_age(build, work, linker, err) : r;
    }
    const struct pj_buffer *cubin = pj_making_result(&work->link, PJ_OUTPUT_CUBIN);
    if (!build->linker_build)
        build->linker_build = pj_toolkit_build_in(pj_buffer_text(cubin), cubin->size, &build->arena);
    work->unit->has_ms = true;
    work->unit->ms += work->link.call_ms;
    if (r == 0)
        r = pj_build_take_usage(build, work, &work->link, err);
    return r == 0 ? pj_build_take_cubin(build, work, &work->link, err) : r;
}

static int link_with(struct pj_build *build, struct pj_maker *maker, struct pj_error **err)
{
    const struct pj_compiler *linker = pj_maker_compiler(maker);
    PJ_CLEANUP_FREE struct pj_making *makings = calloc(build->count + 1, sizeof *makings);
    PJ_CLEANUP_FREE size_t *owners = calloc(build->count + 1, sizeof *owners);
    size_t count = 0;
    int r = makings && owners ? 0 : pj_error_no_memory(err);
    for (size_t i = 0; i < build->count && r == 0 && linker->known; i++) {
        if (!needs_link(&build->works[i]))
            continue;
        r = make_order(build, &build->works[i], linker, err);
        owners[count] = i;
        makings[count++] = build->works[i].link;
    }
    if (r == 0 && count > 0)
        r = pj_maker_run(maker, makings, count, err);
    const char *name =
        pj_arena_printf(&build->arena, "nvJitLink %s", linker->known ? linker->library.version : "");
    if (r == 0 && !name)
        r = pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        build->works[owners[i]].link = makings[i];
    for (size_t i = 0; i < count && r == 0; i++) {
        if (makings[i].end != PJ_MAKING_NOT_TRIED)
            r = take_result(build, &build->works[owners[i]], linker, name, err);
    }
    return r;
}

int pj_build_open_linker(struct pj_build *build, struct pj_error **err)
{
    bool needed = false;
    for (size_t i = 0; i < build->count && !needed; i++)
        needed = build->works[i].unit->verdict == PJ_BUILD_NOT_TRIED && !build->works[i].left_out &&
                 build->works[i].route != PJ_ROUTE_NVRTC;
    return needed ? pj_build_open(build, PJ_LIBRARY_NVJITLINK, &build->linker, err) : 0;
}

int pj_build_link(struct pj_build *build, struct pj_error **err)
{
    if (!build->linker || build->interrupted || build->deadline_passed)
        return 0;
    int r = link_with(build, build->linker, err);
    pj_build_close(build, PJ_STEAL(build->linker), build->linker_build, &build->report.nvjitlink);
    return r;
}
