/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that a visible GPU compiles at first use, because no job is for it. */
#include "arch/nvrtc_options.h"
#include "job/plan_private.h"

/* Jobs of one module are neighbours. */
static bool has_job(const struct pj_plan *plan, size_t first_job, size_t module, uint16_t device)
{
    for (size_t i = first_job; i < plan->job_count && plan->jobs[i].module == module; i++) {
        if (plan->jobs[i].target == device)
            return true;
    }
    return false;
}

/* The PTX that NVRTC makes without an architecture of the program's own is for whatever GPU there is. */
static bool source_runs_on(const struct pj_module *module, uint16_t device)
{
    struct pj_nvrtc_options options;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    if (!options.has_architecture)
        return true;
    if (options.real) /* its PTX is that of the virtual architecture of the same number */
        options.architecture.letter = '\0';
    return pj_arch_ptx_runs_on(options.architecture, device);
}

/* Would the driver compile this module for this GPU? Judged as a job that nobody asked for. */
static int runs_on(struct pj_plan *plan, size_t index, const struct pj_plan_machine *machine, uint16_t device,
                   bool *ret_runs, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[index];
    struct pj_job job = {.name = module->name,
                         .module = index,
                         .link = module->kind == PJ_MODULE_LINK,
                         .target = device,
                         .kind = PJ_JOB_NATIVE,
                         .options = module->options,
                         .required = module->required};
    int r = pj_plan_judge(plan, &job, machine, err);
    *ret_runs = r == 0 && job.fate == PJ_JOB_OPEN &&
                (module->kind != PJ_MODULE_SOURCE || source_runs_on(module, device));
    return r;
}

static int find_for_module(struct pj_plan *plan, size_t module, size_t first_job,
                           const struct pj_plan_machine *machine, struct pj_error **err)
{
    for (size_t i = 0; i < machine->device_count; i++) {
        bool runs = false;
        if (has_job(plan, first_job, module, machine->devices[i]))
            continue;
        int r = runs_on(plan, module, machine, machine->devices[i], &runs, err);
        if (r < 0)
            return r;
        struct pj_unserved *item = runs ? PJ_ARRAY_PUSH(&plan->unserved) : NULL;
        if (runs && !item)
            return pj_error_no_memory(err);
        if (item)
            *item = (struct pj_unserved){.module = module, .target = machine->devices[i]};
    }
    return 0;
}

int pj_plan_find_unserved(struct pj_plan *plan, const struct pj_plan_machine *machine, struct pj_error **err)
{
    size_t job = 0;
    for (size_t i = 0; i < plan->manifest->module_count; i++) {
        if (!plan->module_images[i])
            continue;
        int r = find_for_module(plan, i, job, machine, err);
        if (r < 0)
            return r;
        while (job < plan->job_count && plan->jobs[job].module == i)
            job++;
    }
    return 0;
}
