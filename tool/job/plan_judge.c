/* SPDX-License-Identifier: Apache-2.0 */
/* A job's fate, as far as the plan can tell it: its module, its files, its target. */
#include <stdlib.h>
#include <string.h>

#include "arch/isa.h"
#include "arch/nvrtc_options.h"
#include "base/buffer.h"
#include "base/names.h"
#include "image/mangled.h"
#include "image/ptx_link.h"
#include "job/plan_private.h"

int pj_job_decide(struct pj_job *job, enum pj_job_fate fate, const char *code, const char *reason,
                  struct pj_error **err)
{
    job->fate = fate;
    job->reason_code = code;
    job->reason = reason;
    return reason ? 0 : pj_error_no_memory(err);
}

static int judge_pin(struct pj_plan *plan, const struct pj_module *module, const struct pj_plan_image *image,
                     struct pj_job *job, struct pj_error **err)
{
    if (!module->has_sha256 || memcmp(&module->sha256, &image->sha256, sizeof image->sha256) == 0)
        return 0;
    char wanted[PJ_SHA256_HEX], found[PJ_SHA256_HEX];
    pj_sha256_hex(&module->sha256, wanted);
    pj_sha256_hex(&image->sha256, found);
    return pj_job_decide(
        job, PJ_JOB_REJECTED, "sha256-mismatch",
        pj_arena_printf(&plan->arena,
                        "%s has SHA-256 %s, the manifest pins %s: update sha256 at %s:%zu, or restore "
                        "the file",
                        image->path, found, wanted, pj_plan_manifest_name(plan->manifest), module->line),
        err);
}

static const char *without_kernel(struct pj_plan *plan, const struct pj_plan_image *const *images,
                                  size_t count, const char *kernel)
{
    const struct pj_ptx *ptx = &images[0]->ptx;
    const char *meant = NULL;
    for (size_t i = 0; i < count && !meant; i++)
        meant = pj_mangled_find(images[i]->ptx.kernels, images[i]->ptx.kernel_count, kernel);
    if (meant)
        return pj_arena_printf(
            &plan->arena,
            "there is no kernel '%s', but '%s', as C++ mangles that name: write the mangled "
            "name under `kernels:`, or declare the kernel extern \"C\"",
            kernel, meant);
    if (count > 1)
        return pj_arena_printf(&plan->arena, "none of the %zu files has a kernel '%s'", count, kernel);
    if (ptx->kernel_count == 0)
        return pj_arena_printf(&plan->arena, "%s has no kernel '%s' (it has none at all)", images[0]->path,
                               kernel);
    return pj_arena_printf(&plan->arena, "%s has no kernel '%s' (it has %zu, the first is '%s')",
                           images[0]->path, kernel, ptx->kernel_count, ptx->kernels[0]);
}

/* How many of the module's kernels, from the first on, are in one of the images; false when memory is out. */
static bool find_kernels(const struct pj_module *module, const struct pj_plan_image *const *images,
                         size_t count, size_t *ret_found)
{
    PJ_CLEANUP_NAMES struct pj_names names = {0};
    size_t found = 0;
    for (size_t i = 0; i < count && module->kernel_count > 0; i++) {
        for (size_t k = 0; k < images[i]->ptx.kernel_count; k++) {
            if (!pj_names_add(&names, images[i]->ptx.kernels[k]))
                return false;
        }
    }
    pj_names_sort(&names);
    while (found < module->kernel_count && pj_names_have(&names, module->kernels[found]))
        found++;
    *ret_found = found;
    return true;
}

/* Which kernels a module has is known where all its images are PTX. */
static int judge_kernels(struct pj_plan *plan, const struct pj_module *module,
                         const struct pj_plan_image *const *images, size_t count, struct pj_job *job,
                         struct pj_error **err)
{
    for (size_t i = 0; i < count; i++) {
        if (images[i]->form == PJ_FORM_INPUT && images[i]->contents.kind != PJ_INPUT_PTX)
            return 0;
    }
    size_t found = 0;
    if (count == 1)
        found = pj_ptx_missing_kernel(&images[0]->ptx, module->kernels, module->kernel_count);
    else if (!find_kernels(module, images, count, &found))
        return pj_error_no_memory(err);
    if (found == module->kernel_count)
        return 0;
    return pj_job_decide(job, PJ_JOB_REJECTED, pj_ptx_finding_name(PJ_PTX_KERNEL_MISSING),
                         without_kernel(plan, images, count, module->kernels[found]), err);
}

static int judge_files(const struct pj_plan_image *const *images, size_t count, struct pj_job *job)
{
    for (size_t i = 0; i < count; i++) {
        if (images[i]->fault_code) {
            job->fate = PJ_JOB_REJECTED;
            job->reason_code = images[i]->fault_code;
            job->reason = images[i]->fault;
            return 0;
        }
        if (images[i]->warning_code && !job->reason_code) {
            job->reason_code = images[i]->warning_code;
            job->reason = images[i]->warning;
        }
    }
    return 0;
}

/* What the program compiles itself the driver does not see. */
static int judge_source(struct pj_plan *plan, const struct pj_module *module, struct pj_job *job,
                        struct pj_error **err)
{
    struct pj_nvrtc_options options;
    pj_nvrtc_options_read(module->nvrtc, module->nvrtc_count, &options);
    if (options.lto)
        return pj_job_decide(job, PJ_JOB_SKIPPED, "nvjitlink-links",
                             "NVRTC gives it LTO-IR (-dlto), which nvJitLink links at each start, and the "
                             "driver's cache keeps "
                             "nothing of that. If the link gives PTX (-ptx), the driver compiles this PTX: "
                             "save the LTO-IR that "
                             "nvrtcGetLTOIR gives the program to a file, and name it under `link:` with "
                             "`linker: nvjitlink` and "
                             "`nvjitlink: [-lto, -ptx]`",
                             err);
    if (module->takes == PJ_TAKES_CUBIN)
        return pj_job_decide(
            job, PJ_JOB_SKIPPED, "nvrtc-compiles",
            pj_arena_printf(
                &plan->arena,
                "its program takes the cubin (`takes: cubin` at %s:%zu), which NVRTC itself compiles "
                "at each start: the driver has nothing to compile; `prejit build` makes that cubin "
                "ahead of time",
                pj_plan_manifest_name(plan->manifest), module->line),
            err);
    if (options.optix || options.syntax_only)
        return pj_job_decide(job, PJ_JOB_SKIPPED, "nothing-to-warm",
                             "with these options NVRTC gives no PTX that a program could load: the driver "
                             "has nothing to compile",
                             err);
    return 0;
}

bool pj_plan_is_finished_cubin(const struct pj_plan_image *image)
{
    const struct pj_contents *contents = &image->contents;
    return image->form == PJ_FORM_INPUT && contents->kind == PJ_INPUT_CUBIN && contents->count > 0 &&
           contents->items[0].has_relocatable && !contents->items[0].relocatable;
}

static int judge_link(struct pj_plan *plan, const struct pj_module *module,
                      const struct pj_plan_image *const *images, struct pj_job *job, struct pj_error **err)
{
    if (module->linker == PJ_LINKER_NVJITLINK)
        return pj_job_decide(
            job, PJ_JOB_SKIPPED, "nvjitlink-links",
            pj_arena_printf(
                &plan->arena,
                "nvJitLink itself makes a cubin of it at each start (%s:%zu has no -ptx under "
                "`nvjitlink`): the driver has nothing to compile; `prejit build` makes that cubin "
                "ahead of time; if the program passes -ptx, write `nvjitlink: [-lto, -ptx]`, with "
                "what else it passes",
                pj_plan_manifest_name(plan->manifest), module->line),
            err);
    for (size_t i = 0; i < module->input_count; i++) {
        const struct pj_contents *contents = &images[i]->contents;
        if (pj_plan_is_finished_cubin(images[i]))
            return pj_job_decide(
                job, PJ_JOB_REJECTED, "not-linkable",
                pj_arena_printf(
                    &plan->arena,
                    "%s is a cubin that is loaded as it is, and the driver's linker does not take it: "
                    "make it with `nvcc -rdc=true -cubin` or `ptxas -c`, or name its PTX",
                    images[i]->path),
                err);
        if (contents->kind == PJ_INPUT_PTX && !pj_ptx_is_linkable(&images[i]->ptx))
            return pj_job_decide(
                job, PJ_JOB_REJECTED, "too-old-for-linker",
                pj_arena_printf(&plan->arena,
                                "%s is PTX ISA %u.%u, and the driver's linker takes PTX from 3.1 on: "
                                "write `.version 3.1` there, or load it by itself (`ptx:`)",
                                images[i]->path, images[i]->ptx.version.major, images[i]->ptx.version.minor),
                err);
        /* Beside PTX or a cubin the driver passes over it in silence [47]. */
        if (contents->has_ltoir && !contents->has_ptx && !contents->has_cubin)
            return pj_job_decide(
                job, PJ_JOB_REJECTED, "needs-nvjitlink",
                pj_arena_printf(&plan->arena,
                                "%s holds LTO-IR, which the driver's linker does not take: write `linker: "
                                "nvjitlink` at %s:%zu if the program links with nvJitLink, or name PTX",
                                images[i]->path, pj_plan_manifest_name(plan->manifest), module->line),
                err);
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

/* What cannot run on a target that nobody named is left out. `why`: in one clause, without the target. */
static int not_for_target(struct pj_job *job, const char *code, const char *reason, const char *why,
                          struct pj_error **err)
{
    job->left_out_why = why;
    return pj_job_decide(job, job->explicit_target ? PJ_JOB_INCOMPATIBLE : PJ_JOB_LEFT_OUT, code,
                         why ? reason : NULL, err);
}

static int judge_ptx_target(struct pj_plan *plan, const struct pj_plan_image *image,
                            const struct pj_plan_machine *machine, struct pj_job *job, struct pj_error **err)
{
    struct pj_ptx_finding finding = {0};
    char target[PJ_ARCH_TEXT];
    int r = pj_ptx_check_target(&image->ptx, job->target, driver_isa(machine), &plan->arena, &finding, err);
    if (r < 0 || finding.code == PJ_PTX_OK)
        return r;
    const char *reason = finding.message;
    if (image->form == PJ_FORM_INPUT)
        reason = pj_arena_printf(&plan->arena, "%s: %s", image->path, finding.message);
    const char *code = pj_ptx_finding_name(finding.code);
    if (finding.code != PJ_PTX_NEWER_THAN_GPU)
        return pj_job_decide(job, PJ_JOB_REJECTED, code, reason, err);
    const char *why =
        pj_arena_printf(&plan->arena, ".target %s runs %s", pj_arch_text(image->ptx.target, target),
                        pj_arch_runs_where(image->ptx.target));
    return not_for_target(job, code, reason, why, err);
}

static unsigned cubin_number(const struct pj_plan_image *image)
{
    return image->contents.count > 0 ? image->contents.items[0].arch.number : 0;
}

bool pj_plan_cubin_runs_on(const struct pj_plan_image *image, uint16_t number)
{
    unsigned own = cubin_number(image);
    if (image->form != PJ_FORM_INPUT || image->contents.kind != PJ_INPUT_CUBIN || own == 0)
        return true;
    return own / 10 == number / 10u && own <= number;
}

static int judge_cubin_target(struct pj_plan *plan, const struct pj_plan_image *image, struct pj_job *job,
                              struct pj_error **err)
{
    if (pj_plan_cubin_runs_on(image, job->target))
        return 0;
    return not_for_target(
        job, "other-architecture",
        pj_arena_printf(&plan->arena,
                        "%s is a cubin for sm_%u, which does not run on sm_%u: name its PTX, or a cubin for "
                        "each target",
                        image->path, cubin_number(image), job->target),
        pj_arena_printf(&plan->arena, "a cubin for sm_%u does not run there", cubin_number(image)), err);
}

bool pj_plan_driver_takes(const struct pj_plan_machine *machine, uint16_t target)
{
    struct pj_isa highest, lowest;
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    const int cuda_13 = 13000;
    for (size_t i = 0; i < machine->device_count; i++) {
        if (machine->devices[i] == target)
            return true;
    }
    if (machine->cuda_version == 0 || !pj_isa_highest_for_cuda(machine->cuda_version, &highest))
        return true;
    if (pj_isa_lowest_for((struct pj_arch){.number = target}, &lowest) && pj_isa_compare(lowest, highest) > 0)
        return false;
    if (machine->cuda_version < cuda_13 || target > all[count - 1])
        return true;
    for (size_t i = 0; i < count; i++) {
        if (all[i] == target)
            return true;
    }
    return pj_isa_compare(lowest, (struct pj_isa){9, 0}) > 0; /* what came after the list */
}

/* A target that was named, and for which the driver makes no code whatever the module is. */
static int judge_driver(struct pj_plan *plan, const struct pj_plan_machine *machine, struct pj_job *job,
                        struct pj_error **err)
{
    int version = machine->cuda_version;
    if (job->target == 0 || pj_plan_driver_takes(machine, job->target))
        return 0;
    PJ_CLEANUP_BUFFER struct pj_buffer known = {0};
    size_t count;
    const uint16_t *all = pj_arch_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (pj_plan_driver_takes(machine, all[i]))
            pj_buffer_printf(&known, "%ssm_%u", known.size ? ", " : "", all[i]);
    }
    if (known.failed)
        return pj_error_no_memory(err);
    return not_for_target(
        job, "unknown-to-driver",
        pj_arena_printf(&plan->arena,
                        "a driver of CUDA %d.%d makes no code for sm_%u: leave this target out, "
                        "or name one of %s",
                        version / 1000, version % 1000 / 10, job->target, pj_buffer_text(&known)),
        pj_arena_printf(&plan->arena, "unknown to a driver of CUDA %d.%d", version / 1000,
                        version % 1000 / 10),
        err);
}

static int judge_target(struct pj_plan *plan, const struct pj_plan_image *const *images, size_t count,
                        const struct pj_plan_machine *machine, struct pj_job *job, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < count && r == 0 && job->fate == PJ_JOB_OPEN && job->target; i++) {
        bool is_ptx = images[i]->form == PJ_FORM_PTX || images[i]->contents.kind == PJ_INPUT_PTX;
        if (is_ptx)
            r = judge_ptx_target(plan, images[i], machine, job, err);
        else if (images[i]->contents.kind == PJ_INPUT_CUBIN)
            r = judge_cubin_target(plan, images[i], job, err);
    }
    return r;
}

/* Names of C++ may be as long as they like. */
static const char *cut_name(struct pj_plan *plan, const char *name)
{
    enum { NAME_MAX_BYTES = 200 };
    return pj_arena_printf(&plan->arena, "\"%.*s%s\"", NAME_MAX_BYTES, name,
                           strlen(name) > NAME_MAX_BYTES ? "..." : "");
}

static const char *undefined_function(struct pj_plan *plan, const char *path, const struct pj_ptx_lack *lack)
{
    const char *missing = cut_name(plan, lack->missing->name), *caller = "a kernel";
    if (!lack->caller->is_kernel) {
        caller = cut_name(plan, lack->caller->name);
        if (caller)
            caller = pj_arena_printf(&plan->arena, "the function %s, which a kernel needs,", caller);
    }
    if (!missing || !caller)
        return NULL;
    return pj_arena_printf(&plan->arena,
                           "%s: line %zu: %s calls the function %s, which no file of this link defines: name "
                           "%s as well",
                           path, lack->missing->line, caller, missing,
                           pj_ptx_is_device_runtime(lack->missing->name) ? "the toolkit's libcudadevrt.a"
                                                                         : "the one that does");
}

/* What the kernels of a link of PTX alone lack, the driver's linker will miss [48][70]. */
static int judge_needs(struct pj_plan *plan, const struct pj_plan_image *const *images, size_t count,
                       struct pj_job *job, struct pj_error **err)
{
    PJ_CLEANUP_FREE const struct pj_ptx **texts = calloc(count, sizeof *texts);
    struct pj_ptx_lack lack;
    if (!texts)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (images[i]->contents.kind != PJ_INPUT_PTX)
            return 0; /* what other files define is not known */
        texts[i] = &images[i]->ptx;
    }
    int r = pj_ptx_find_lack(texts, count, &lack, err);
    if (r <= 0)
        return r;
    return pj_job_decide(job, PJ_JOB_REJECTED, "undefined-function",
                         undefined_function(plan, images[lack.text]->path, &lack), err);
}

/* What is loaded by itself has to hold all that it calls, reached or not: the driver refuses it else. Which
 * functions a driver supplies is known of PTX as old as the drivers that were asked. */
static int judge_alone(struct pj_plan *plan, const struct pj_plan_image *image, struct pj_job *job,
                       struct pj_error **err)
{
    const struct pj_isa asked = {9, 0};
    const char *code = pj_ptx_finding_name(PJ_PTX_NEEDS_LINKING);
    if (!image->warning_code || strcmp(image->warning_code, code) != 0 ||
        pj_isa_number(image->ptx.version) > pj_isa_number(asked))
        return 0;
    return pj_job_decide(job, PJ_JOB_REJECTED, image->warning_code,
                         pj_arena_printf(&plan->arena, "%s: %s", image->path, image->warning), err);
}

int pj_plan_judge_module(struct pj_plan *plan, struct pj_job *job, struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[job->module];
    const struct pj_plan_image *const *images = plan->module_images[job->module];
    size_t count = pj_plan_file_count(module);
    int r = judge_files(images, count, job);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_pin(plan, module, images[0], job, err);
    if (r < 0 || job->fate != PJ_JOB_OPEN)
        return r;
    if (module->kind != PJ_MODULE_SOURCE)
        return judge_kernels(plan, module, images, count, job, err);
    if (images[0]->size_bytes > 0)
        return 0; /* its kernels are known when it is compiled */
    return pj_job_decide(job, PJ_JOB_REJECTED, "not-source",
                         pj_arena_printf(&plan->arena,
                                         "%s: it is an empty file: check what should have written it",
                                         images[0]->path),
                         err);
}

int pj_plan_judge(struct pj_plan *plan, struct pj_job *job, const struct pj_plan_machine *machine,
                  struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[job->module];
    const struct pj_plan_image *const *images = plan->module_images[job->module];
    int r = pj_plan_judge_module(plan, job, err);
    if (r < 0 || job->fate != PJ_JOB_OPEN)
        return r;
    if (module->kind == PJ_MODULE_SOURCE)
        return judge_source(plan, module, job, err);
    if (pj_module_is_prepared(module))
        return 0; /* what the linker makes of its files is judged when it is there */
    if (module->kind == PJ_MODULE_LINK)
        r = judge_link(plan, module, images, job, err);
    else
        r = judge_alone(plan, images[0], job, err);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_driver(plan, machine, job, err);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_target(plan, images, pj_plan_file_count(module), machine, job, err);
    if (r == 0 && job->fate == PJ_JOB_OPEN && module->kind == PJ_MODULE_LINK)
        r = judge_needs(plan, images, module->input_count, job, err);
    return r;
}

/* A source cannot stand under `link:`; the PTX that NVRTC makes of it can. */
static int explain_link(struct pj_plan *plan, const struct pj_module *module, struct pj_job *job,
                        struct pj_error **err)
{
    bool needs_linking =
        job->reason_code && strcmp(job->reason_code, pj_ptx_finding_name(PJ_PTX_NEEDS_LINKING)) == 0;
    if (!needs_linking || module->kind != PJ_MODULE_SOURCE)
        return 0;
    char target[PJ_ARCH_TEXT];
    const struct pj_arch arch = {.number = job->target, .letter = job->letter};
    (void)pj_arch_text(arch, target);
    job->reason =
        pj_arena_printf(&plan->arena,
                        "%s; this file is the PTX that `prejit build -t %s --out-dir DIR` leaves of a "
                        "source, NVRTC's own bytes: DIR/%s.%s.ptx",
                        job->reason, target, module->name, target);
    return job->reason ? 0 : pj_error_no_memory(err);
}

int pj_plan_judge_prepared(struct pj_plan *plan, struct pj_job *job, const struct pj_plan_machine *machine,
                           struct pj_error **err)
{
    const struct pj_module *module = &plan->manifest->modules[job->module];
    const struct pj_plan_image *const *images = job->images;
    int r = judge_files(images, 1, job);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_kernels(plan, module, images, 1, job, err);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_alone(plan, images[0], job, err);
    if (r == 0)
        r = explain_link(plan, module, job, err);
    return r == 0 && job->fate == PJ_JOB_OPEN ? judge_target(plan, images, 1, machine, job, err) : r;
}
