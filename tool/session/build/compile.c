/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's part of `build`. */
#include <stdlib.h>
#include <string.h>

#include "arch/nvrtc_options.h"
#include "host/toolkit.h"
#include "session/build/private.h"
#include "session/prepare/headers.h"

static bool is_open(const struct pj_build_work *work)
{
    return work->unit->verdict == PJ_BUILD_NOT_TRIED && !work->left_out && work->route != PJ_ROUTE_LINK;
}

/* "--maxrregcount=64", "--ptxas-options=-O4": the options of the load, as NVRTC takes them. */
static int extra_options(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_jit_options *options = &build->manifest->modules[work->module].options;
    const char **extra = pj_arena_calloc(&build->arena, PJ_JIT_OPTION_COUNT + 1, sizeof *extra);
    struct pj_jit_flag flag;
    size_t used = 0;
    if (!extra)
        return pj_error_no_memory(err);
    extra[used++] = "--ptxas-options=-v";
    for (unsigned position = 0; pj_jit_options_next(options, &position, &flag); used++) {
        extra[used] = flag.option == PJ_JIT_MAX_REGISTERS
                          ? pj_arena_printf(&build->arena, "--maxrregcount=%u", options->values[flag.option])
                          : pj_arena_printf(&build->arena, "--ptxas-options=%s", flag.text);
        if (!extra[used])
            return pj_error_no_memory(err);
    }
    work->source.extra = extra;
    work->source.extra_count = used;
    return 0;
}

static uint32_t outputs_of(const struct pj_build_work *work)
{
    uint32_t outputs = PJ_OUTPUT_LOG | PJ_OUTPUT_HEADERS | PJ_OUTPUT_NAMES;
    switch (work->route) {
    case PJ_ROUTE_NVRTC:
    case PJ_ROUTE_NVRTC_OBJECT:
        return outputs | PJ_OUTPUT_CUBIN | PJ_OUTPUT_PTX;
    case PJ_ROUTE_NVRTC_LTOIR:
        return outputs | PJ_OUTPUT_LTOIR;
    case PJ_ROUTE_NVRTC_PTX:
    case PJ_ROUTE_LINK:
    default:
        return outputs | PJ_OUTPUT_PTX;
    }
}

static int make_order(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *nvrtc,
                      const char *include, bool trace, struct pj_error **err)
{
    bool real = work->route == PJ_ROUTE_NVRTC || work->route == PJ_ROUTE_NVRTC_OBJECT;
    work->source = (struct pj_source){
        .module = &build->manifest->modules[work->module],
        .images = build->plan->module_images[work->module],
        .arch = work->arch,
        .real = real,
    };
    int r = real ? extra_options(build, work, err) : 0;
    uint32_t outputs = outputs_of(work) & ~(trace ? 0u : (uint32_t)PJ_OUTPUT_HEADERS);
    return r == 0 ? pj_source_order(&work->source, nvrtc, include, outputs, trace, &build->arena,
                                    &work->compile, err)
                  : r;
}

/* False: this NVRTC does not know the target, and the unit is settled. */
static int check_target(struct pj_build *build, struct pj_build_work *work, const struct pj_compiler *nvrtc,
                        bool *ret_known, struct pj_error **err)
{
    const struct pj_module *module = &build->manifest->modules[work->module];
    struct pj_nvrtc_options options;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    *ret_known = options.has_architecture || pj_source_knows(nvrtc, work->arch.number);
    if (*ret_known)
        return 0;
    work->left_out = !work->explicit_target;
    return pj_build_settle(work, PJ_BUILD_INCOMPATIBLE, "nvrtc-does-not-know",
                           pj_source_why_not(nvrtc, work->arch.number, &build->arena), err);
}

/* Runs the orders of the units that `wanted` picks. */
static int run_orders(struct pj_build *build, struct pj_maker *maker,
                      bool (*wanted)(const struct pj_build_work *), struct pj_error **err)
{
    PJ_CLEANUP_FREE struct pj_making *makings = calloc(build->count + 1, sizeof *makings);
    PJ_CLEANUP_FREE size_t *owners = calloc(build->count + 1, sizeof *owners);
    size_t count = 0;
    if (!makings || !owners)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < build->count; i++) {
        if (!wanted(&build->works[i]))
            continue;
        owners[count] = i;
        makings[count++] = build->works[i].compile;
    }
    int r = count > 0 ? pj_maker_run(maker, makings, count, err) : 0;
    for (size_t i = 0; i < count; i++)
        build->works[owners[i]].compile = makings[i];
    return r;
}

/* The list of headers needs an option that not every NVRTC has. */
static bool knows_no_trace(struct pj_build_work *work)
{
    return is_open(work) && work->compile.end == PJ_MAKING_REFUSED &&
           strcmp(work->compile.result_name, "NVRTC_ERROR_INVALID_OPTION") == 0 &&
           strstr(pj_buffer_text(pj_making_result(&work->compile, PJ_OUTPUT_LOG)), "-Xcudafe");
}

static bool is_untried(const struct pj_build_work *work)
{
    return is_open(work) && work->compile.end == PJ_MAKING_NOT_TRIED;
}

static int run_again_without_trace(struct pj_build *build, struct pj_maker *maker, const char *include,
                                   struct pj_error **err)
{
    int r = 0;
    bool any = false;
    for (size_t i = 0; i < build->count && r == 0; i++) {
        struct pj_build_work *work = &build->works[i];
        if (!knows_no_trace(work))
            continue;
        any = true;
        pj_making_free(&work->compile);
        work->compile = (struct pj_making){0};
        r = make_order(build, work, pj_maker_compiler(maker), include, false, err);
        work->compile.quiet = true;
        work->compile.deaths = 0;
        work->compile.end = PJ_MAKING_NOT_TRIED;
    }
    return r == 0 && any ? run_orders(build, maker, is_untried, err) : r;
}

/* The code is as good as any; of the list that tells what it was made from, something is missing. */
static int warn_of_list(struct pj_build *build, struct pj_build_unit *unit, const char *doubt,
                        struct pj_error **err)
{
    const char **all = pj_arena_calloc(&build->arena, unit->warning_count + 1, sizeof *all);
    const char *text =
        pj_arena_printf(&build->arena, "warning : %s: it is not among the inputs listed here", doubt);
    if (!all || !text)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < unit->warning_count; i++)
        all[i] = unit->warnings[i];
    all[unit->warning_count++] = text;
    unit->warnings = all;
    return 0;
}

/* Digests of other bytes than those that NVRTC read must not stand beside what it made. */
static int refuse_changed(struct pj_build *build, struct pj_build_work *work, const char *path,
                          struct pj_error **err)
{
    return pj_build_settle(work, PJ_BUILD_REJECTED, "image-changed",
                           pj_arena_printf(&build->arena,
                                           "NVRTC read the header %s, which was changed meanwhile; run again",
                                           path),
                           err);
}

static int take_headers(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_plan_file *files = NULL;
    size_t count = 0, known = work->unit->input_count;
    const char *doubt = NULL, *list = pj_buffer_text(pj_making_result(&work->compile, PJ_OUTPUT_HEADERS));
    int r = pj_headers_files(&work->source, list, build->manifest->directory, NULL, &build->arena, &files,
                             &count, &doubt, err);
    struct pj_build_file *inputs = r == 0 ? pj_arena_calloc(&build->arena, count + 1, sizeof *inputs) : NULL;
    if (r < 0 || !inputs)
        return r < 0 ? r : pj_error_no_memory(err);
    for (size_t i = known; i < count; i++) {
        if (pj_headers_changed(&files[i], &build->nvrtc_begin))
            return refuse_changed(build, work, files[i].path, err);
    }
    memcpy(inputs, work->unit->inputs, known * sizeof *inputs);
    for (size_t i = known; i < count; i++)
        inputs[i] = (struct pj_build_file){.path = files[i].path,
                                           .kind = "header",
                                           .bytes = (uint64_t)files[i].status.st_size,
                                           .sha256 = files[i].sha256};
    work->unit->inputs = inputs;
    work->unit->input_count = count;
    return doubt ? warn_of_list(build, work->unit, doubt, err) : 0;
}

/* One name a line, in the order of the expressions. */
static int take_names(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_module *module = &build->manifest->modules[work->module];
    const char *line = pj_buffer_text(pj_making_result(&work->compile, PJ_OUTPUT_NAMES));
    struct pj_build_name *names =
        pj_arena_calloc(&build->arena, module->name_expression_count + 1, sizeof *names);
    if (!names)
        return pj_error_no_memory(err);
    size_t count = 0;
    for (; count < module->name_expression_count && *line; count++) {
        size_t length = strcspn(line, "\n");
        names[count].expression = module->name_expressions[count];
        names[count].name = pj_arena_strndup(&build->arena, line, length);
        if (!names[count].name)
            return pj_error_no_memory(err);
        line += length + (line[length] == '\n');
    }
    work->unit->names = names;
    work->unit->name_count = count;
    return 0;
}

static int take_made(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    const struct pj_buffer *ptx = pj_making_result(&work->compile, PJ_OUTPUT_PTX);
    int r = take_headers(build, work, err);
    if (r < 0 || unit->verdict != PJ_BUILD_NOT_TRIED)
        return r;
    r = take_names(build, work, err);
    if (r == 0)
        r = pj_build_take_usage(build, work, &work->compile, err);
    unit->has_ms = true;
    unit->ms += work->compile.call_ms;
    if (!build->nvrtc_build)
        build->nvrtc_build = pj_toolkit_build_in(pj_buffer_text(ptx), ptx->size, &build->arena);
    if (ptx->size > 0) {
        unit->has_ptx = true;
        unit->ptx.bytes = ptx->size;
        pj_sha256_of(pj_buffer_text(ptx), ptx->size, &unit->ptx.sha256);
    }
    return r == 0 && work->route == PJ_ROUTE_NVRTC ? pj_build_take_cubin(build, work, &work->compile, err)
                                                   : r;
}

static int take_results(struct pj_build *build, const struct pj_compiler *nvrtc, struct pj_error **err)
{
    const char *name = pj_arena_printf(&build->arena, "NVRTC %s", nvrtc->library.version);
    int r = name ? 0 : pj_error_no_memory(err);
    for (size_t i = 0; i < build->count && r == 0; i++) {
        struct pj_build_work *work = &build->works[i];
        if (!is_open(work) || work->compile.end == PJ_MAKING_NOT_TRIED)
            continue;
        r = pj_build_note_arguments(build, work, &work->compile, err);
        if (r == 0)
            r = work->compile.end == PJ_MAKING_MADE
                    ? take_made(build, work, err)
                    : pj_build_take_failure(build, work, &work->compile, name, err);
    }
    return r;
}

static int compile_with(struct pj_build *build, struct pj_maker *maker, struct pj_error **err)
{
    const struct pj_compiler *nvrtc = pj_maker_compiler(maker);
    const char *include = NULL;
    if (!nvrtc->known) /* the run ended before the library was met */
        return 0;
    int r = pj_toolkit_include(nvrtc->library.path, pj_toolkit_home(), &build->arena, &include, err);
    for (size_t i = 0; i < build->count && r == 0; i++) {
        bool known = false;
        if (!is_open(&build->works[i]))
            continue;
        r = check_target(build, &build->works[i], nvrtc, &known, err);
        if (r == 0 && known)
            r = make_order(build, &build->works[i], nvrtc, include, true, err);
    }
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &build->nvrtc_begin);
    if (r == 0)
        r = run_orders(build, maker, is_open, err);
    if (r == 0)
        r = run_again_without_trace(build, maker, include, err);
    return r == 0 ? take_results(build, nvrtc, err) : r;
}

int pj_build_compile(struct pj_build *build, struct pj_error **err)
{
    bool needed = false;
    struct pj_maker *maker = NULL;
    for (size_t i = 0; i < build->count && !needed; i++)
        needed = is_open(&build->works[i]);
    if (!needed)
        return 0;
    int r = pj_build_open(build, PJ_LIBRARY_NVRTC, &maker, err);
    if (r < 0)
        return r;
    r = compile_with(build, maker, err);
    pj_build_close(build, maker, build->nvrtc_build, &build->report.nvrtc);
    return r;
}
