/* SPDX-License-Identifier: Apache-2.0 */
/* From modules and targets to units. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/nvrtc_options.h"
#include "session/build/private.h"

int pj_build_settle(struct pj_build_work *work, enum pj_build_verdict verdict, const char *code,
                    const char *reason, struct pj_error **err)
{
    work->unit->verdict = verdict;
    work->unit->reason_code = code;
    work->unit->reason = reason;
    return reason ? 0 : pj_error_no_memory(err);
}

static enum pj_build_route route_of(const struct pj_module *module)
{
    struct pj_nvrtc_options options;
    if (module->kind != PJ_MODULE_SOURCE)
        return PJ_ROUTE_LINK;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    if (options.lto)
        return PJ_ROUTE_NVRTC_LTOIR;
    if (options.has_architecture && !options.real)
        return PJ_ROUTE_NVRTC_PTX;
    return options.relocatable ? PJ_ROUTE_NVRTC_OBJECT : PJ_ROUTE_NVRTC;
}

static const char *compiler_of(enum pj_build_route route)
{
    return route == PJ_ROUTE_LINK ? "nvjitlink" : route == PJ_ROUTE_NVRTC ? "nvrtc" : "nvrtc, nvjitlink";
}

static const char *input_kind(const struct pj_plan_image *image, size_t index)
{
    if (image->form == PJ_FORM_SOURCE)
        return index == 0 ? "source" : "header";
    return image->form == PJ_FORM_PTX ? "ptx" : pj_input_kind_name(image->contents.kind);
}

static int fill_inputs(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    struct pj_build_file *inputs = pj_arena_calloc(&build->arena, count, sizeof *inputs);
    if (!inputs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        inputs[i] = (struct pj_build_file){.path = images[i]->path,
                                           .kind = input_kind(images[i], i),
                                           .bytes = images[i]->size_bytes,
                                           .sha256 = images[i]->sha256};
    work->unit->inputs = inputs;
    work->unit->input_count = count;
    return 0;
}

static bool is_ptx(const struct pj_plan_image *image)
{
    return image->form == PJ_FORM_PTX ||
           (image->form == PJ_FORM_INPUT && image->contents.kind == PJ_INPUT_PTX);
}

/* A compiler is given the PTX's own letter where the number matches: sm_90a code has no cubin for plain
 * sm_90. */
static void take_letter(const struct pj_build *build, struct pj_build_work *work)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    for (size_t i = 0; i < count && !work->arch.letter; i++) {
        if (is_ptx(images[i]) && images[i]->ptx.target.number == work->arch.number)
            work->arch.letter = images[i]->ptx.target.letter;
    }
}

static int incompatible(struct pj_build_work *work, const char *code, const char *reason,
                        struct pj_error **err)
{
    work->left_out = !work->explicit_target;
    return pj_build_settle(work, PJ_BUILD_INCOMPATIBLE, code, reason, err);
}

/* Can the PTX be compiled for exactly this output? */
static int judge_ptx(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    char target[PJ_ARCH_TEXT], wanted[PJ_ARCH_TEXT];
    for (size_t i = 0; i < count; i++) {
        if (is_ptx(images[i]) && !pj_ptx_is_linkable(&images[i]->ptx))
            return pj_build_settle(
                work, PJ_BUILD_REJECTED, "too-old-for-linker",
                pj_arena_printf(
                    &build->arena,
                    "%s is PTX ISA %u.%u, and nvJitLink takes PTX from 3.1 on: write `.version 3.1` "
                    "there, or make this cubin with `ptxas -arch=%s`",
                    images[i]->path, images[i]->ptx.version.major, images[i]->ptx.version.minor,
                    pj_arch_text(work->arch, wanted)),
                err);
        if (!is_ptx(images[i]) || pj_arch_ptx_compiles_for(images[i]->ptx.target, work->arch))
            continue;
        return incompatible(
            work, "newer-than-gpu",
            pj_arena_printf(&build->arena,
                            "%s is PTX with .target %s, which does not compile for %s: it runs %s",
                            images[i]->path, pj_arch_text(images[i]->ptx.target, target),
                            pj_arch_text(work->arch, wanted), pj_arch_runs_where(images[i]->ptx.target)),
            err);
    }
    return 0;
}

static bool is_linkable(const struct pj_plan_image *image)
{
    const struct pj_contents *contents = &image->contents;
    return contents->kind == PJ_INPUT_PTX || (contents->has_linkable && !pj_plan_is_finished_cubin(image));
}

/* What is not recorded is left to the linker. */
static bool fits(const struct pj_content *item, struct pj_arch arch)
{
    if (item->arch.number == 0)
        return true;
    switch (item->kind) {
    case PJ_CODE_PTX:
        return pj_arch_ptx_compiles_for(item->arch, arch);
    case PJ_CODE_CUBIN:
        return item->arch.number / 10 == arch.number / 10 && item->arch.number <= arch.number;
    case PJ_CODE_LTOIR:
        return item->arch.number <= arch.number;
    case PJ_CODE_OTHER:
    default:
        return true;
    }
}

static bool holds_code_for(const struct pj_contents *contents, struct pj_arch arch)
{
    for (size_t i = 0; i < contents->count; i++) {
        if (fits(&contents->items[i], arch))
            return true;
    }
    return contents->count == 0;
}

/* What a linker would refuse with less of a reason, or pass over in silence. */
static int judge_inputs(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_plan_image *const *images = build->plan->module_images[work->module];
    size_t count = pj_plan_file_count(&build->manifest->modules[work->module]);
    char wanted[PJ_ARCH_TEXT];
    for (size_t i = 0; i < count; i++) {
        if (images[i]->form != PJ_FORM_INPUT)
            continue;
        if (!pj_plan_cubin_runs_on(images[i], work->arch.number))
            return incompatible(
                work, "other-architecture",
                pj_arena_printf(&build->arena,
                                "%s is a cubin for sm_%u, which cannot be linked for %s: name its PTX, or "
                                "a cubin for each target",
                                images[i]->path, images[i]->contents.items[0].arch.number,
                                pj_arch_text(work->arch, wanted)),
                err);
        if (!is_linkable(images[i]))
            return pj_build_settle(
                work, PJ_BUILD_REJECTED, "not-linkable",
                pj_arena_printf(&build->arena,
                                "%s holds device code that was compiled without -rdc=true, and the linker "
                                "passes over it in silence: compile it with `nvcc -dc` (a cubin with `nvcc "
                                "-rdc=true -cubin`)",
                                images[i]->path),
                err);
        if (!holds_code_for(&images[i]->contents, work->arch))
            return incompatible(
                work, "other-architecture",
                pj_arena_printf(&build->arena,
                                "%s holds no code for %s: compile it for that too (nvcc -gencode "
                                "arch=compute_%u,code=compute_%u), or leave this target out",
                                images[i]->path, pj_arch_text(work->arch, wanted), work->arch.number,
                                work->arch.number),
                err);
    }
    return 0;
}

/* Options that name a real architecture give a cubin for it alone. */
static int judge_source(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_module *module = &build->manifest->modules[work->module];
    struct pj_nvrtc_options options;
    char given[PJ_ARCH_TEXT], wanted[PJ_ARCH_TEXT];
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    if (options.optix || options.syntax_only)
        return pj_build_settle(
            work, PJ_BUILD_REJECTED, "no-code",
            "with these NVRTC options there is no code for a GPU: leave the module out, or the option", err);
    if (!options.real && (!options.has_architecture || options.lto ||
                          pj_arch_ptx_compiles_for(options.architecture, work->arch)))
        return 0;
    if (!options.real)
        return incompatible(
            work, "newer-than-gpu",
            pj_arena_printf(&build->arena,
                            "its NVRTC options name compute_%s, whose PTX does not compile for %s: leave the "
                            "option out, and each target gets its own, or leave this target out",
                            pj_arch_text(options.architecture, given) + strlen("sm_"),
                            pj_arch_text(work->arch, wanted)),
            err);
    if (options.architecture.number == work->arch.number) {
        work->arch = options.architecture;
        return 0;
    }
    return incompatible(
        work, "other-architecture",
        pj_arena_printf(&build->arena,
                        "its NVRTC options name %s, so there is no cubin for %s: leave the option out, and "
                        "each target gets its own",
                        pj_arch_text(options.architecture, given), pj_arch_text(work->arch, wanted)),
        err);
}

static int judge(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_job job = {.module = work->module};
    int r = pj_plan_judge_module(build->plan, &job, err);
    if (r == 0 && job.fate != PJ_JOB_OPEN)
        r = pj_build_settle(work, PJ_BUILD_REJECTED, job.reason_code, job.reason, err);
    if (r < 0 || work->unit->verdict != PJ_BUILD_NOT_TRIED)
        return r;
    if (work->route != PJ_ROUTE_LINK)
        return judge_source(build, work, err);
    r = judge_inputs(build, work, err);
    return r == 0 && work->unit->verdict == PJ_BUILD_NOT_TRIED ? judge_ptx(build, work, err) : r;
}

/* Is the unit there already: its target was named twice, or lies in a range as well? Then it counts as named
 * if one of them names it. */
static bool is_there(struct pj_build *build, const struct pj_build_work *work)
{
    for (size_t i = build->count; i > 0 && build->works[i - 1].module == work->module; i--) {
        struct pj_build_work *before = &build->works[i - 1];
        if (pj_arch_compare(before->arch, work->arch) != 0)
            continue;
        before->explicit_target |= work->explicit_target;
        before->left_out &= !work->explicit_target;
        return true;
    }
    return false;
}

static int add_unit(struct pj_build *build, size_t module, struct pj_arch arch, bool explicit_target,
                    struct pj_error **err)
{
    const struct pj_module *of = &build->manifest->modules[module];
    struct pj_build_work work = {.module = module, .arch = arch, .explicit_target = explicit_target};
    char text[PJ_ARCH_TEXT];
    work.route = route_of(of);
    take_letter(build, &work);
    if (is_there(build, &work))
        return 0;
    work.unit = pj_arena_calloc(&build->arena, 1, sizeof *work.unit);
    if (!work.unit || !pj_array_reserve((void **)&build->works, build->count, &build->capacity, sizeof work))
        return pj_error_no_memory(err);
    int r = judge(build, &work, err);
    if (r < 0 || is_there(build, &work)) /* options may name the architecture */
        return r;
    work.unit->module = of->name;
    work.unit->target = pj_arena_strdup(&build->arena, pj_arch_text(work.arch, text));
    work.unit->compiler = compiler_of(work.route);
    work.unit->required = of->required;
    build->works[build->count++] = work;
    return work.unit->target ? fill_inputs(build, &work, err) : pj_error_no_memory(err);
}

static int refuse_native(const struct pj_build *build, size_t module, struct pj_error **err)
{
    const char *name = strcmp(build->manifest->name, "-") == 0 ? "<stdin>" : build->manifest->name;
    return pj_error_set(
        err, PJ_ERROR_USAGE,
        "%s: module '%s' has the target native, and build asks no GPU what that is: name the targets, for "
        "example -t sm_80 -t sm_90, or in the manifest targets: [sm_80, sm_90]",
        name, build->manifest->modules[module].name);
}

static int expand_spec(struct pj_build *build, size_t module, const struct pj_target_spec *spec,
                       struct pj_error **err)
{
    if (spec->form == PJ_TARGET_NATIVE)
        return refuse_native(build, module, err);
    if (spec->form == PJ_TARGET_ONE)
        return add_unit(build, module, spec->first, true, err);
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        if (pj_target_contains(spec, all[i]))
            r = add_unit(build, module, (struct pj_arch){.number = all[i]}, false, err);
    }
    return r;
}

void pj_build_keep_one(struct pj_build *build)
{
    for (size_t i = 0, first = 0; i < build->count; i++) {
        bool last = i + 1 == build->count || build->works[i + 1].module != build->works[i].module;
        bool all = true;
        for (size_t k = first; k <= i && last; k++)
            all &= build->works[k].left_out;
        if (last && all)
            build->works[i].left_out = false;
        first = last ? i + 1 : first;
    }
}

int pj_build_plan(struct pj_build *build, struct pj_error **err)
{
    bool selected = build->selection.target_count > 0;
    int r = 0;
    for (size_t i = 0; i < build->manifest->module_count && r == 0; i++) {
        const struct pj_module *module = &build->manifest->modules[i];
        const struct pj_target_spec *targets = selected ? build->selection.targets : module->targets;
        size_t count = selected ? build->selection.target_count : module->target_count;
        size_t first = build->count;
        if (!build->plan->module_images[i])
            continue;
        for (size_t k = 0; k < count && r == 0; k++)
            r = expand_spec(build, i, &targets[k], err);
        if (r == 0 && build->count == first && count > 0) /* a range between two that exist */
            r = add_unit(build, i, targets[0].first, true, err);
    }
    return r == 0 ? pj_build_check_names(build, err) : r;
}
