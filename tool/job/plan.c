/* SPDX-License-Identifier: Apache-2.0 */
/* From modules and targets to jobs. */
#include "job/plan.h"

#include <stdlib.h>
#include <string.h>

#include "arch/isa.h"
#include "base/buffer.h"
#include "base/text.h"
#include "job/plan_private.h"

/* Is module `name` asked for by `wanted`: the name itself, or the part before '/' that a glob's modules
 * share. */
static bool names_module(const char *wanted, const char *name)
{
    size_t length = strlen(wanted);
    return strncmp(wanted, name, length) == 0 && (name[length] == '\0' || name[length] == '/');
}

bool pj_plan_selects(const struct pj_plan_selection *selection, const struct pj_module *module)
{
    for (size_t i = 0; i < selection->module_count; i++) {
        if (names_module(selection->modules[i], module->name))
            return true;
    }
    return selection->module_count == 0;
}

/* The module that was meant, else which ones there are. */
static int refuse_name(const struct pj_manifest *manifest, const char *wanted, struct pj_error **err)
{
    enum { SHOWN = 5 };
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_FREE const char **names = calloc(manifest->module_count + 1, sizeof *names);
    if (!names)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < manifest->module_count; i++)
        names[i] = manifest->modules[i].name;
    const char *meant = pj_text_suggest(wanted, names, manifest->module_count);
    pj_buffer_printf(&text, "-m %s: %s has no module of that name", wanted, pj_plan_manifest_name(manifest));
    if (meant)
        pj_buffer_printf(&text, "; did you mean '%s'?", meant);
    for (size_t i = 0; !meant && i < manifest->module_count && i < SHOWN; i++)
        pj_buffer_printf(&text, "%s%s", i == 0 ? "; it has " : ", ", names[i]);
    if (!meant && manifest->module_count > SHOWN)
        pj_buffer_printf(&text, " and %zu more", manifest->module_count - SHOWN);
    int r = pj_buffer_check(&text, err);
    return r < 0 ? r : pj_error_set(err, PJ_ERROR_USAGE, "%s", pj_buffer_text(&text));
}

/* A name given with -m that selects nothing is a mistake, never an empty run. */
static int check_names(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
                       struct pj_error **err)
{
    for (size_t k = 0; k < selection->module_count; k++) {
        bool found = false;
        for (size_t i = 0; i < manifest->module_count && !found; i++)
            found = names_module(selection->modules[k], manifest->modules[i].name);
        if (!found)
            return refuse_name(manifest, selection->modules[k], err);
    }
    return 0;
}

int pj_plan_read(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
                 struct pj_plan **ret_plan, struct pj_error **err)
{
    struct pj_plan *plan = calloc(1, sizeof *plan);
    PJ_CLEANUP_FREE bool *selected = calloc(manifest->module_count + 1, sizeof *selected);
    if (!plan || !selected) {
        free(plan);
        return pj_error_no_memory(err);
    }
    plan->manifest = manifest;
    for (size_t i = 0; i < manifest->module_count; i++)
        selected[i] = pj_plan_selects(selection, &manifest->modules[i]);
    int r = check_names(manifest, selection, err);
    if (r == 0)
        r = pj_plan_read_images(plan, selected, err);
    if (r < 0) {
        pj_plan_free(plan);
        return r;
    }
    *ret_plan = plan;
    return 0;
}

static const char *make_id(struct pj_plan *plan, const char *name, const struct pj_jit_options *options,
                           uint16_t target)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, name);
    if (options->given) {
        pj_buffer_putc(&text, '[');
        pj_jit_options_text(options, &text);
        pj_buffer_putc(&text, ']');
    }
    if (target)
        pj_buffer_printf(&text, "@sm_%u", target);
    else
        pj_buffer_puts(&text, "@native");
    return text.failed ? NULL : pj_arena_strdup(&plan->arena, pj_buffer_text(&text));
}

static bool is_device(const struct pj_plan_machine *machine, uint16_t target)
{
    for (size_t i = 0; i < machine->device_count; i++) {
        if (machine->devices[i] == target)
            return true;
    }
    return false;
}

/* What is wrong with the module by itself, whatever the target; NULL code where nothing is. */
static int judge_module(struct pj_plan *plan, const struct pj_module *module,
                        const struct pj_plan_image *image, struct pj_job *job, struct pj_error **err)
{
    const struct pj_ptx_finding *finding = &image->finding;
    if (finding->code != PJ_PTX_OK) {
        job->reason_code = pj_ptx_finding_name(finding->code);
        job->reason = finding->message;
        if (!pj_ptx_usable(finding->code)) {
            job->fate = PJ_JOB_REJECTED;
            return 0;
        }
    }
    if (module->has_sha256 && memcmp(&module->sha256, &image->sha256, sizeof image->sha256) != 0) {
        char wanted[PJ_SHA256_HEX], found[PJ_SHA256_HEX];
        pj_sha256_hex(&module->sha256, wanted);
        pj_sha256_hex(&image->sha256, found);
        job->fate = PJ_JOB_REJECTED;
        job->reason_code = "sha256-mismatch";
        job->reason =
            pj_arena_printf(&plan->arena,
                            "%s has SHA-256 %s, the manifest pins %s: update sha256 at %s:%zu, or restore "
                            "the file",
                            image->path, found, wanted, pj_plan_manifest_name(plan->manifest), module->line);
        return job->reason ? 0 : pj_error_no_memory(err);
    }
    size_t missing = pj_ptx_missing_kernel(&image->ptx, module->kernels, module->kernel_count);
    if (missing < module->kernel_count) {
        job->fate = PJ_JOB_REJECTED;
        job->reason_code = pj_ptx_finding_name(PJ_PTX_KERNEL_MISSING);
        job->reason = pj_arena_printf(&plan->arena, "%s has no kernel '%s' (it has %zu, the first is '%s')",
                                      image->path, module->kernels[missing], image->ptx.kernel_count,
                                      image->ptx.kernel_count ? image->ptx.kernels[0] : "none");
        return job->reason ? 0 : pj_error_no_memory(err);
    }
    return 0;
}

static struct pj_isa driver_isa(const struct pj_plan_machine *machine)
{
    struct pj_isa isa = {0};
    if (machine->cuda_version == 0 || !pj_isa_highest_for_cuda(machine->cuda_version, &isa))
        isa = (struct pj_isa){0};
    return isa;
}

/* Adds the job of one module and target number. `explicit_target`: named, so that what cannot run is
 * incompatible instead of left out. */
static int add_job(struct pj_plan *plan, size_t module_index, const struct pj_plan_machine *machine,
                   uint16_t target, bool explicit_target, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[module_index];
    const struct pj_plan_image *image = plan->module_images[module_index];
    struct pj_job job = {.name = module->name,
                         .module = module_index,
                         .image = image,
                         .target = target,
                         .required = module->required};
    job.kind = target == 0 ? PJ_JOB_UNRESOLVED : is_device(machine, target) ? PJ_JOB_NATIVE : PJ_JOB_FOREIGN;
    job.options = module->options;
    int r = judge_module(plan, module, image, &job, err);
    if (r < 0)
        return r;
    if (job.fate == PJ_JOB_OPEN && target) {
        struct pj_ptx_finding finding = {0};
        r = pj_ptx_check_target(&image->ptx, target, driver_isa(machine), &plan->arena, &finding, err);
        if (r < 0)
            return r;
        if (finding.code == PJ_PTX_NEWER_THAN_GPU && !explicit_target) {
            plan->left_out++;
            plan->last_left_out = target;
            return 0;
        }
        if (finding.code != PJ_PTX_OK) {
            job.fate = finding.code == PJ_PTX_NEWER_THAN_GPU ? PJ_JOB_INCOMPATIBLE : PJ_JOB_REJECTED;
            job.reason_code = pj_ptx_finding_name(finding.code);
            job.reason = finding.message;
        }
    }
    PJ_CLEANUP_BUFFER struct pj_buffer options = {0};
    pj_jit_options_key_text(&job.options, &options);
    job.option_text = options.failed ? NULL : pj_arena_strdup(&plan->arena, pj_buffer_text(&options));
    job.id = make_id(plan, module->name, &job.options, target);
    if (!job.option_text || !job.id ||
        !pj_array_reserve((void **)&plan->jobs, plan->job_count, &plan->job_capacity, sizeof job))
        return pj_error_no_memory(err);
    plan->jobs[plan->job_count++] = job;
    return 0;
}

/* Does the driver of this CUDA version know the architecture? Unknown versions: yes, its own word decides. */
static bool driver_knows(const struct pj_plan_machine *machine, uint16_t number)
{
    struct pj_isa highest, lowest;
    if (machine->cuda_version == 0 || !pj_isa_highest_for_cuda(machine->cuda_version, &highest))
        return true;
    return !pj_isa_lowest_for((struct pj_arch){.number = number}, &lowest) ||
           pj_isa_compare(lowest, highest) <= 0;
}

static int expand_spec(struct pj_plan *plan, size_t module, const struct pj_plan_machine *machine,
                       const struct pj_target_spec *spec, struct pj_error **err)
{
    if (spec->form == PJ_TARGET_ONE)
        return add_job(plan, module, machine, spec->first.number, true, err);
    if (spec->form == PJ_TARGET_NATIVE) {
        if (machine->device_count == 0)
            return add_job(plan, module, machine, 0, true, err);
        for (size_t i = 0; i < machine->device_count; i++) {
            int r = add_job(plan, module, machine, machine->devices[i], true, err);
            if (r < 0)
                return r;
        }
        return 0;
    }
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (!pj_target_contains(spec, all[i]) || !driver_knows(machine, all[i]))
            continue;
        int r = add_job(plan, module, machine, all[i], false, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A module that runs on none of its targets: nothing would be warmed for it and nobody would hear of it, so
 * the last one that was left out is a job after all, an incompatible one. */
static int keep_one(struct pj_plan *plan, size_t module, const struct pj_plan_machine *machine,
                    const struct pj_target_spec *spec, struct pj_error **err)
{
    uint16_t target = plan->last_left_out ? plan->last_left_out : spec->first.number;
    if (target == 0)
        return 0;
    if (plan->last_left_out)
        plan->left_out--;
    return add_job(plan, module, machine, target, true, err);
}

static int expand_module(struct pj_plan *plan, size_t module, const struct pj_plan_machine *machine,
                         const struct pj_target_spec *targets, size_t count, struct pj_error **err)
{
    size_t before = plan->job_count;
    int r = 0;
    plan->last_left_out = 0;
    for (size_t i = 0; i < count && r == 0; i++)
        r = expand_spec(plan, module, machine, &targets[i], err);
    return r == 0 && plan->job_count == before && count > 0
               ? keep_one(plan, module, machine, &targets[0], err)
               : r;
}

int pj_plan_expand(struct pj_plan *plan, const struct pj_plan_selection *selection,
                   const struct pj_plan_machine *machine, struct pj_error **err)
{
    for (size_t i = 0; i < plan->manifest->module_count; i++) {
        const struct pj_module *module = &plan->manifest->modules[i];
        if (!plan->module_images[i])
            continue;
        bool selected = selection->target_count > 0;
        int r = expand_module(plan, i, machine, selected ? selection->targets : module->targets,
                              selected ? selection->target_count : module->target_count, err);
        if (r < 0)
            return r;
    }
    return pj_plan_join_equal(plan, err);
}

void pj_plan_free(struct pj_plan *plan)
{
    if (!plan)
        return;
    free(plan->jobs);
    pj_arena_free(&plan->arena);
    free(plan);
}
