/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of an offline run: planned for no machine, and judged by what the profiles prove. */
#include <string.h>

#include "session/offline/private.h"
#include "session/prepare/prepare.h"
#include "session/run/device_runtime.h"
#include "session/run/left_out.h"
#include "session/run/outcome.h"

static bool has_native(const struct pj_target_spec *targets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (targets[i].form == PJ_TARGET_NATIVE)
            return true;
    }
    return false;
}

int pj_offline_refuse_native(const struct pj_session *session, struct pj_error **err)
{
    const struct pj_manifest *manifest = session->manifest;
    const struct pj_plan_selection *selection = &session->selection;
    bool selected = selection->target_count > 0;
    if (selected && has_native(selection->targets, selection->target_count))
        return pj_error_set(
            err, PJ_ERROR_USAGE,
            "-t native: with --offline there is no GPU to ask what that is: name the targets, "
            "for example -t sm_80 -t sm_90");
    for (size_t i = 0; i < manifest->module_count && !selected; i++) {
        const struct pj_module *module = &manifest->modules[i];
        if (!pj_plan_selects(selection, module) || !has_native(module->targets, module->target_count))
            continue;
        return pj_error_set(
            err, PJ_ERROR_USAGE,
            "%s: module '%s' has the target native, and with --offline there is no GPU to ask "
            "what that is: name the targets, for example -t sm_80 -t sm_90, or in the manifest "
            "targets: [sm_80, sm_90]",
            strcmp(manifest->name, "-") == 0 ? "<stdin>" : manifest->name, module->name);
    }
    return 0;
}

static const char *why_no_target(const struct pj_offline *offline, const struct pj_profile *profile,
                                 uint16_t number)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_printf(&text, "%s does not say that driver %s compiles for sm_%u; it names", profile->name,
                     profile->driver_version, number);
    for (size_t i = 0; i < profile->arch_count; i++)
        pj_buffer_printf(&text, "%s sm_%u", i ? "," : "", profile->archs[i]);
    return text.failed ? NULL : pj_arena_strdup(&offline->session->arena, pj_buffer_text(&text));
}

/* Before sources are prepared for it. */
static int judge_target(struct pj_offline *offline, struct pj_job *job, struct pj_error **err)
{
    for (size_t i = 0; i < offline->profile_count && job->fate == PJ_JOB_OPEN; i++) {
        const struct pj_profile *profile = &offline->profiles[i];
        if (pj_profile_has_arch(profile, job->target))
            continue;
        job->left_out_why = pj_arena_printf(&offline->session->arena, "not named by %s for driver %s",
                                            profile->name, profile->driver_version);
        if (!job->left_out_why)
            return pj_error_no_memory(err);
        int r = pj_job_decide(job, job->explicit_target ? PJ_JOB_INCOMPATIBLE : PJ_JOB_LEFT_OUT,
                              "not-in-profile", why_no_target(offline, profile, job->target), err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* How many options stand in the key. */
static size_t count_options(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == '-' && (at == text || at[-1] == ' ');
    return count;
}

static enum pj_profile_kind kind_of(const struct pj_job *job)
{
    size_t options = count_options(job->option_text);
    return job->link      ? PJ_PROFILE_LINK
           : options == 0 ? PJ_PROFILE_PLAIN
           : options == 1 ? PJ_PROFILE_ONE_OPTION
                          : PJ_PROFILE_OPTIONS;
}

static int judge_kind(struct pj_offline *offline, struct pj_job *job, struct pj_error **err)
{
    enum pj_profile_kind kind = kind_of(job);
    for (size_t i = 0; i < offline->profile_count; i++) {
        const struct pj_profile *profile = &offline->profiles[i];
        if (profile->proven[kind])
            continue;
        return pj_job_decide(
            job, PJ_JOB_REJECTED, "not-proven",
            pj_arena_printf(&offline->session->arena,
                            "%s does not prove `%s` for driver %s, which this job needs: make the "
                            "profile anew with `prejit profile`, or leave the module to `prejit "
                            "warm` where the driver is",
                            profile->name, pj_profile_kind_name(kind), profile->driver_version),
            err);
    }
    return 0;
}

static int judge_inputs(struct pj_offline *offline, struct pj_job *job, struct pj_error **err)
{
    bool any_ptx = false;
    for (size_t i = 0; i < job->image_count; i++) {
        const struct pj_plan_image *image = job->images[i];
        any_ptx |= pj_offline_is_ptx(image);
        /* A header does not say with which letter it was made: sm_100a code does not link for sm_103. */
        if (image->form == PJ_FORM_INPUT && image->contents.kind == PJ_INPUT_CUBIN &&
            image->contents.items[0].arch.number != job->target)
            return pj_job_decide(
                job, PJ_JOB_REJECTED, "not-predicted",
                pj_arena_printf(
                    &offline->session->arena,
                    "%s is a cubin for sm_%u, and whether the driver links it for sm_%u goes by a "
                    "letter that it does not record: name a cubin for sm_%u or its PTX, or leave the "
                    "module to `prejit warm` where the driver is",
                    image->path, image->contents.items[0].arch.number, job->target, job->target),
                err);
        if (pj_offline_is_ptx(image) || image->contents.kind == PJ_INPUT_CUBIN)
            continue;
        return pj_job_decide(
            job, PJ_JOB_REJECTED, "not-predicted",
            pj_arena_printf(
                &offline->session->arena,
                "%s is not PTX but %s, and which entries a driver makes of what that "
                "holds is not predicted: name the PTX, or leave the module to `prejit warm` where the "
                "driver is",
                image->path, pj_input_kind_name(image->contents.kind)),
            err);
    }
    return any_ptx ? 0 : pj_job_decide(job, PJ_JOB_SKIPPED, "nothing-to-warm", PJ_NOTHING_TO_WARM, err);
}

/* What the table of CUDA versions allows, a profile may know to be too new. */
static int judge_isa(struct pj_offline *offline, struct pj_job *job, struct pj_error **err)
{
    for (size_t i = 0; i < job->image_count; i++) {
        const struct pj_isa isa = job->images[i]->ptx.version;
        for (size_t k = 0; pj_offline_is_ptx(job->images[i]) && k < offline->profile_count; k++) {
            const struct pj_profile *profile = &offline->profiles[k];
            if (pj_isa_compare(isa, profile->ptx_isa) <= 0)
                continue;
            return pj_job_decide(
                job, PJ_JOB_REJECTED, pj_ptx_finding_name(PJ_PTX_NEWER_THAN_DRIVER),
                pj_arena_printf(&offline->session->arena,
                                "%s is PTX %u.%u, and %s says that driver %s takes PTX up to %u.%u: "
                                "make it with an older toolkit",
                                job->images[i]->path, (unsigned)isa.major, (unsigned)isa.minor, profile->name,
                                profile->driver_version, (unsigned)profile->ptx_isa.major,
                                (unsigned)profile->ptx_isa.minor),
                err);
        }
    }
    return 0;
}

static int judge_job(struct pj_offline *offline, struct pj_job *job, struct pj_error **err)
{
    int r = judge_inputs(offline, job, err);
    if (r == 0 && job->fate == PJ_JOB_OPEN)
        r = judge_kind(offline, job, err);
    return r == 0 && job->fate == PJ_JOB_OPEN ? judge_isa(offline, job, err) : r;
}

static int make_outcomes(struct pj_session *session, struct pj_error **err)
{
    const struct pj_plan *plan = session->plan;
    session->outcomes = pj_arena_calloc(&session->arena, plan->job_count + 1, sizeof *session->outcomes);
    if (!session->outcomes)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < plan->job_count; i++)
        pj_outcome_from_plan(&session->outcomes[i], &plan->jobs[i]);
    return 0;
}

int pj_offline_expand(struct pj_session *session, struct pj_profile *profiles, size_t count,
                      struct pj_error **err)
{
    struct pj_offline for_profiles = {.session = session, .profiles = profiles, .profile_count = count};
    struct pj_offline *offline = &for_profiles;
    const struct pj_plan_machine machine = {.cuda_version = pj_offline_cuda_version(offline)};
    int cuda_version = session->machine.cuda_version;
    int r = pj_plan_expand(session->plan, &session->selection, &machine, err);
    for (size_t i = 0; r == 0 && i < session->plan->job_count; i++)
        r = judge_target(offline, &session->plan->jobs[i], err);
    session->machine.cuda_version = machine.cuda_version; /* PTX of sources is judged by it */
    if (r == 0)
        r = pj_prepare_sources(session, err);
    session->machine.cuda_version = cuda_version;
    for (size_t i = 0; r == 0 && i < session->plan->job_count; i++) {
        struct pj_job *job = &session->plan->jobs[i];
        if (job->fate == PJ_JOB_OPEN && job->image_count > 0)
            r = judge_job(offline, job, err);
    }
    if (r == 0)
        r = pj_plan_settle(session->plan, err);
    if (r == 0)
        r = pj_left_out_note(session, err);
    if (r == 0)
        r = pj_device_runtime_note(session, err);
    return r == 0 ? make_outcomes(session, err) : r;
}

int pj_offline_plan(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    int r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    return r < 0 ? r : pj_offline_expand(session, offline->profiles, offline->profile_count, err);
}
