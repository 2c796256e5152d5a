/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler's answer means for a unit: refusals, usage, the cubin. */
#include <string.h>

#include "base/names.h"
#include "image/complaint.h"
#include "image/cubin.h"
#include "image/usage.h"
#include "session/build/private.h"

int pj_build_note_arguments(struct pj_build *build, struct pj_build_work *work,
                            const struct pj_making *making, struct pj_error **err)
{
    struct pj_build_unit *unit = work->unit;
    size_t before = unit->argument_count;
    const char **all = pj_arena_calloc(&build->arena, before + making->argument_count + 1, sizeof *all);
    if (!all)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < before; i++)
        all[i] = unit->arguments[i];
    for (size_t i = 0; i < making->argument_count; i++)
        all[before + i] = making->arguments[i];
    unit->arguments = all;
    unit->argument_count = before + making->argument_count;
    return 0;
}

/* What the compiler has to say besides the reason: figures of what did compile are not to the point. */
static const char *without_figures(struct pj_arena *arena, const char *log)
{
    static const char *const figures[] = {"ptxas info", "ptxas         .", "info "};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        bool figure = false;
        for (size_t i = 0; i < PJ_COUNT(figures); i++)
            figure |= strncmp(line, figures[i], strlen(figures[i])) == 0;
        if (!figure)
            pj_buffer_printf(&text, "%s%.*s", text.size > 0 ? "\n" : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return text.failed ? NULL : pj_arena_strdup(arena, pj_buffer_text(&text));
}

static int take_refusal(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                        const char *library, struct pj_error **err)
{
    const char *log = pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG));
    const char *line = pj_maker_first_error(log, &build->arena);
    work->unit->log = *log ? without_figures(&build->arena, log) : NULL;
    const struct pj_module *module = &build->manifest->modules[work->module];
    const char *hint = pj_source_missing_folder(module, build->manifest->directory, &build->arena);
    const char *cure = pj_complaint_cure(log);
    if (!line || !hint || (*log && !work->unit->log))
        return pj_error_no_memory(err);
    return pj_build_settle(work, PJ_BUILD_REJECTED, "refused-by-compiler",
                           pj_arena_printf(&build->arena, "%s refused it: %s%s%s%s%s%s", library,
                                           making->result_name, *line ? ": " : "", line, hint,
                                           cure ? "; " : "", cure ? cure : ""),
                           err);
}

int pj_build_take_failure(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                          const char *library, struct pj_error **err)
{
    switch (making->end) {
    case PJ_MAKING_REFUSED:
        return take_refusal(build, work, making, library, err);
    case PJ_MAKING_IMPOSSIBLE:
        return pj_build_settle(work, PJ_BUILD_REJECTED, "not-handed-over", making->reason, err);
    case PJ_MAKING_CHANGED:
        return pj_build_settle(work, PJ_BUILD_REJECTED, "image-changed", making->reason, err);
    case PJ_MAKING_CRASHED:
        return pj_build_settle(work, PJ_BUILD_CRASHED, "crashed", making->reason, err);
    case PJ_MAKING_TIMED_OUT:
        return pj_build_settle(work, PJ_BUILD_TIMED_OUT, "timed-out", making->reason, err);
    case PJ_MAKING_OUT_OF_MEMORY:
        return pj_build_settle(work, PJ_BUILD_OUT_OF_MEMORY, "out-of-memory", making->reason, err);
    case PJ_MAKING_NOT_TRIED:
    case PJ_MAKING_MADE:
    default:
        return 0;
    }
}

static struct pj_build_kernel kernel_of(const struct pj_usage_function *function)
{
    return (struct pj_build_kernel){
        .name = function->name,
        .has_registers = function->registers.known,
        .registers = (uint32_t)function->registers.value,
        /* ptxas says it only where there is some; of what it did not compile it says nothing. */
        .has_shared =
            function->shared_bytes.known || function->linked_shared_bytes.known || function->registers.known,
        .shared_bytes =
            function->shared_bytes.known ? function->shared_bytes.value : function->linked_shared_bytes.value,
        .has_stack = function->stack_bytes.known,
        .stack_bytes = function->stack_bytes.value,
        .has_spills = function->spill_store_bytes.known && function->spill_load_bytes.known,
        .spill_store_bytes = function->spill_store_bytes.value,
        .spill_load_bytes = function->spill_load_bytes.value,
        .has_constant = function->constant_bytes.known,
        .constant_bytes = function->constant_bytes.value,
    };
}

static int add_warnings(struct pj_build *build, struct pj_build_unit *unit, const struct pj_usage *usage,
                        struct pj_error **err)
{
    const char **all =
        pj_arena_calloc(&build->arena, unit->warning_count + usage->warning_count + 1, sizeof *all);
    if (!all)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < unit->warning_count; i++)
        all[i] = unit->warnings[i];
    for (size_t i = 0; i < usage->warning_count; i++)
        all[unit->warning_count + i] = usage->warnings[i];
    unit->warnings = all;
    unit->warning_count += usage->warning_count;
    return 0;
}

static int warn(struct pj_build *build, struct pj_build_unit *unit, const char *text, struct pj_error **err)
{
    const struct pj_usage one = {.warnings = &text, .warning_count = 1};
    return add_warnings(build, unit, &one, err);
}

/* A text that is too long to be read tells nothing: the code is good all the same. */
static int warn_unread(struct pj_build *build, struct pj_build_unit *unit, const struct pj_error *problem,
                       struct pj_error **err)
{
    const char *text = pj_arena_printf(&build->arena, "warning : what its kernels take is not known: %s",
                                       pj_error_message(problem));
    return text ? warn(build, unit, text, err) : pj_error_no_memory(err);
}

int pj_build_take_usage(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                        struct pj_error **err)
{
    const struct pj_buffer *log = pj_making_result(making, PJ_OUTPUT_LOG);
    struct pj_usage usage = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_usage_read(pj_buffer_text(log), log->size, &build->arena, &usage, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0) {
        work->unit->kernel_count = 0; /* of an earlier compiler: the linker may have changed it */
        return warn_unread(build, work->unit, problem, err);
    }
    r = add_warnings(build, work->unit, &usage, err);
    if (r < 0 || usage.kernel_count == 0)
        return r;
    struct pj_build_kernel *kernels = pj_arena_calloc(&build->arena, usage.kernel_count, sizeof *kernels);
    if (!kernels)
        return pj_error_no_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < usage.count && count < usage.kernel_count; i++) {
        if (usage.functions[i].kernel)
            kernels[count++] = kernel_of(&usage.functions[i]);
    }
    work->unit->kernels = kernels; /* the linker's word comes last, and counts */
    work->unit->kernel_count = count;
    return 0;
}

static int reject(struct pj_build *build, struct pj_build_work *work, const char *text, struct pj_error **err)
{
    return pj_build_settle(
        work, PJ_BUILD_REJECTED, "unsound-output",
        pj_arena_printf(&build->arena, "what %s gave is no cubin to load: %s", work->unit->compiler, text),
        err);
}

/* Kernels that the manifest names are looked for where the compiler said which there are. */
static int check_kernels(struct pj_build *build, struct pj_build_work *work, struct pj_error **err)
{
    const struct pj_module *module = &build->manifest->modules[work->module];
    const struct pj_build_unit *unit = work->unit;
    PJ_CLEANUP_NAMES struct pj_names names = {0};
    size_t found = 0;
    if (module->kernel_count == 0 || unit->kernel_count == 0)
        return 0;
    for (size_t i = 0; i < unit->kernel_count; i++) {
        if (!pj_names_add(&names, unit->kernels[i].name))
            return pj_error_no_memory(err);
    }
    pj_names_sort(&names);
    while (found < module->kernel_count && pj_names_have(&names, module->kernels[found]))
        found++;
    if (found == module->kernel_count)
        return 0;
    return pj_build_settle(work, PJ_BUILD_REJECTED, "kernel-missing",
                           pj_arena_printf(&build->arena,
                                           "it has no kernel '%s' (it has %zu, the first is '%s')",
                                           module->kernels[found], unit->kernel_count, unit->kernels[0].name),
                           err);
}

/* How the name of every function's section begins. */
static const char code_section[] = ".text.";

int pj_build_take_cubin(struct pj_build *build, struct pj_build_work *work, struct pj_making *making,
                        struct pj_error **err)
{
    struct pj_buffer *bytes = pj_making_result(making, PJ_OUTPUT_CUBIN);
    struct pj_build_unit *unit = work->unit;
    struct pj_cubin cubin;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_cubin_read(pj_buffer_text(bytes), bytes->size, &cubin, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return reject(build, work, pj_error_message(problem), err);
    if (cubin.arch_number != work->arch.number)
        return reject(build, work, "it is for another architecture", err);
    if (cubin.relocatable)
        return reject(build, work, "it is still to be linked", err);
    r = check_kernels(build, work, err);
    if (r < 0 || unit->verdict != PJ_BUILD_NOT_TRIED)
        return r;
    if (!memmem(pj_buffer_text(bytes), bytes->size, code_section, sizeof code_section - 1))
        r = warn(build, unit,
                 "warning : no kernel is in it, so that nothing of it can be launched (templates need "
                 "`name_expressions`)",
                 err);
    if (r < 0)
        return r;
    unit->has_cubin = true;
    unit->cubin.bytes = bytes->size;
    pj_sha256_of(pj_buffer_text(bytes), bytes->size, &unit->cubin.sha256);
    unit->verdict = PJ_BUILD_BUILT;
    work->cubin = *bytes;
    *bytes = (struct pj_buffer){0};
    return 0;
}
