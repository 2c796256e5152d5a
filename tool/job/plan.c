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

int pj_plan_check_selection(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
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
    int r = pj_plan_check_selection(manifest, selection, err);
    if (r == 0)
        r = pj_plan_read_images(plan, selected, err);
    if (r < 0) {
        pj_plan_free(plan);
        return r;
    }
    *ret_plan = plan;
    return 0;
}

static const char *make_id(struct pj_plan *plan, const struct pj_job *job)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, job->name);
    if (job->options.given) {
        pj_buffer_putc(&text, '[');
        pj_jit_options_text(&job->options, &text);
        pj_buffer_putc(&text, ']');
    }
    if (job->target)
        pj_buffer_printf(&text, "@sm_%u", job->target);
    else
        pj_buffer_puts(&text, "@native");
    if (job->letter)
        pj_buffer_putc(&text, job->letter);
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

/* Files and images of a job, as its module has them. */
static int fill_files(struct pj_plan *plan, struct pj_job *job, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[job->module];
    const struct pj_plan_image **images = plan->module_images[job->module];
    size_t count = pj_plan_file_count(module);
    struct pj_plan_file *files = count > 1 ? pj_arena_calloc(&plan->arena, count, sizeof *files) : NULL;
    if (count > 1 && !files)
        return pj_error_no_memory(err);
    for (size_t i = 0; count > 1 && i < count; i++)
        files[i] = images[i]->file;
    job->files = files ? files : &images[0]->file;
    job->file_count = count;
    bool prepared = pj_module_is_prepared(module);
    job->link = module->kind == PJ_MODULE_LINK && !prepared;
    if (module->kind == PJ_MODULE_SOURCE) {
        job->size_bytes = images[0]->size_bytes;
        return 0;
    }
    job->images = prepared ? NULL : images;
    job->image_count = prepared ? 0 : count;
    for (size_t i = 0; i < count; i++)
        job->size_bytes += images[i]->size_bytes;
    return 0;
}

/* "-c", and the options behind it. */
static void link_option_text(struct pj_buffer *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer options = *text;
    *text = (struct pj_buffer){.failed = options.failed};
    pj_buffer_printf(text, "-c%s%s", options.size ? " " : "", pj_buffer_text(&options));
}

static int leave_out(struct pj_plan *plan, size_t module, uint16_t target, const char *why,
                     struct pj_error **err)
{
    /* Specs may overlap. */
    for (size_t i = plan->left_out.count; i-- > 0 && plan->left_out.items[i].module == module;) {
        if (plan->left_out.items[i].target == target)
            return 0;
    }
    struct pj_left_out *item = why ? PJ_ARRAY_PUSH(&plan->left_out) : NULL;
    if (!item)
        return pj_error_no_memory(err);
    *item = (struct pj_left_out){.module = module, .target = target, .why = why};
    return 0;
}

/* Adds the job of one module and target. `explicit_target`: named, so that what cannot run is incompatible
 * instead of left out. The letter of a target is the compiler's business: for the driver all letters are one
 * device [6]. */
static int add_job(struct pj_plan *plan, size_t module_index, const struct pj_plan_machine *machine,
                   struct pj_arch target, bool explicit_target, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[module_index];
    struct pj_job job = {
        .name = module->name,
        .module = module_index,
        .target = target.number,
        .letter = module->kind == PJ_MODULE_SOURCE || pj_module_is_prepared(module) ? target.letter : '\0',
        .explicit_target = explicit_target,
        .options = module->options,
        .required = module->required,
    };
    job.kind = target.number == 0                  ? PJ_JOB_UNRESOLVED
               : is_device(machine, target.number) ? PJ_JOB_NATIVE
                                                   : PJ_JOB_FOREIGN;
    int r = fill_files(plan, &job, err);
    if (r == 0)
        r = pj_plan_judge(plan, &job, machine, err);
    if (r < 0)
        return r;
    if (job.fate == PJ_JOB_LEFT_OUT) {
        plan->last_left_out = target.number;
        return leave_out(plan, module_index, target.number, job.left_out_why, err);
    }
    PJ_CLEANUP_BUFFER struct pj_buffer options = {0};
    pj_jit_options_key_text(&job.options, &options);
    if (job.link) /* each input is compiled to be linked [5] */
        link_option_text(&options);
    job.option_text = options.failed ? NULL : pj_arena_strdup(&plan->arena, pj_buffer_text(&options));
    job.id = make_id(plan, &job);
    if (!job.option_text || !job.id ||
        !pj_array_reserve((void **)&plan->jobs, plan->job_count, &plan->job_capacity, sizeof job))
        return pj_error_no_memory(err);
    plan->jobs[plan->job_count++] = job;
    return pj_plan_digest(module, &plan->jobs[plan->job_count - 1], err);
}

static struct pj_arch number(uint16_t device)
{
    return (struct pj_arch){.number = device};
}

static int expand_spec(struct pj_plan *plan, size_t module, const struct pj_plan_machine *machine,
                       const struct pj_target_spec *spec, struct pj_error **err)
{
    if (spec->form == PJ_TARGET_ONE)
        return add_job(plan, module, machine, spec->first, true, err);
    if (spec->form == PJ_TARGET_NATIVE) {
        if (machine->device_count == 0)
            return add_job(plan, module, machine, (struct pj_arch){0}, true, err);
        for (size_t i = 0; i < machine->device_count; i++) {
            int r = add_job(plan, module, machine, number(machine->devices[i]), true, err);
            if (r < 0)
                return r;
        }
        return 0;
    }
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (!pj_target_contains(spec, all[i]))
            continue;
        int r = add_job(plan, module, machine, number(all[i]), false, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The target is a job after all. */
static void take_back(struct pj_plan *plan, size_t module, uint16_t target)
{
    for (size_t i = plan->left_out.count; i-- > 0 && plan->left_out.items[i].module == module;) {
        if (plan->left_out.items[i].target != target)
            continue;
        plan->left_out.count--;
        memmove(&plan->left_out.items[i], &plan->left_out.items[i + 1],
                (plan->left_out.count - i) * sizeof *plan->left_out.items);
        return;
    }
}

/* A module that runs on none of its targets: nothing would be warmed for it and nobody would hear of it, so
 * the last one that was left out is a job after all, an incompatible one. */
static int keep_one(struct pj_plan *plan, size_t module, const struct pj_plan_machine *machine,
                    const struct pj_target_spec *spec, struct pj_error **err)
{
    uint16_t target = plan->last_left_out ? plan->last_left_out : spec->first.number;
    if (target == 0)
        return 0;
    take_back(plan, module, target);
    return add_job(plan, module, machine, number(target), true, err);
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
    return pj_plan_find_unserved(plan, machine, err);
}

bool pj_job_needs_preparing(const struct pj_job *job)
{
    return job->image_count == 0 && job->fate == PJ_JOB_OPEN;
}

int pj_plan_prepared(struct pj_plan *plan, size_t index, const struct pj_plan_machine *machine,
                     const char *bytes, size_t size, const struct pj_plan_file *files, size_t file_count,
                     struct pj_error **err)
{
    struct pj_job *job = &plan->jobs[index];
    struct pj_plan_image *image = pj_arena_calloc(&plan->arena, 1, sizeof *image);
    const struct pj_plan_image **images = pj_arena_calloc(&plan->arena, 1, sizeof *images);
    if (!image || !images)
        return pj_error_no_memory(err);
    *image = (struct pj_plan_image){
        .path = job->files[0].path, .form = PJ_FORM_PTX, .bytes = bytes, .size_bytes = size};
    pj_sha256_of(bytes, size, &image->sha256);
    images[0] = image;
    job->images = images;
    job->image_count = 1;
    job->size_bytes = size;
    job->content = image->sha256;
    job->files = files;
    job->file_count = file_count;
    int r = pj_plan_judge_bytes(plan, image, bytes, size, err);
    job->key = image->key;
    return r == 0 ? pj_plan_judge_prepared(plan, job, machine, err) : r;
}

/* Every one but the last of a module may go: a module of which nothing is left would be warmed for nobody,
 * and nobody would hear of it. */
static int drop_left_out(struct pj_plan *plan, struct pj_error **err)
{
    size_t kept = 0;
    int r = 0;
    for (size_t i = 0; i < plan->job_count; i++) {
        struct pj_job *job = &plan->jobs[i];
        bool last = (i + 1 == plan->job_count || plan->jobs[i + 1].module != job->module) &&
                    (kept == 0 || plan->jobs[kept - 1].module != job->module);
        if (job->fate == PJ_JOB_LEFT_OUT && last)
            job->fate = PJ_JOB_INCOMPATIBLE;
        if (job->fate != PJ_JOB_LEFT_OUT)
            plan->jobs[kept++] = *job;
        else if (r == 0)
            r = leave_out(plan, job->module, job->target, job->left_out_why, err);
    }
    plan->job_count = kept;
    return r;
}

int pj_plan_settle(struct pj_plan *plan, struct pj_error **err)
{
    int r = drop_left_out(plan, err);
    return r == 0 ? pj_plan_join_equal(plan, err) : r;
}

void pj_plan_free(struct pj_plan *plan)
{
    if (!plan)
        return;
    free(plan->jobs);
    free(plan->left_out.items);
    free(plan->unserved.items);
    pj_arena_free(&plan->arena);
    free(plan);
}
