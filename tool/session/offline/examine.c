/* SPDX-License-Identifier: Apache-2.0 */
/* Would an offline run work here? Asked by doctor. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/offline/private.h"
#include "session/run/given_file.h"

static bool was_said(const struct pj_doctor *doctor, enum pj_finding_code code)
{
    for (size_t i = 0; i < doctor->findings.count; i++) {
        if (doctor->findings.items[i].code == code)
            return true;
    }
    return false;
}

/* What a run would be refused for is a finding; no memory is none. */
static int say(struct pj_doctor *doctor, enum pj_finding_code code, const char *subject,
               const struct pj_error *problem, struct pj_error **err)
{
    if (pj_error_code(problem) == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    return pj_finding_add(&doctor->findings, code, subject, NULL, err, "%s", pj_error_message(problem));
}

static int open_compiler(struct pj_offline *offline, struct pj_doctor *doctor, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (was_said(doctor, PJ_FINDING_TOOLKIT_OPTION_WRONG))
        return 0;
    int r = pj_offline_open_compiler(offline, &problem);
    if (r == PJ_ERROR_INTERRUPTED)
        return pj_error_set(err, PJ_ERROR_INTERRUPTED, "%s", pj_error_message(problem));
    return r < 0 ? say(doctor, PJ_FINDING_OFFLINE_COMPILER_MISSING, "ptxas", problem, err) : 0;
}

/* Which build it is: not known of a library whose name does not tell. */
static int note_compiler(const struct pj_offline *offline, struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_report_library *library = &pj_maker_compiler(offline->maker)->library;
    const char *name = offline->library == PJ_LIBRARY_PTXAS ? "ptxas" : "nvJitLink";
    if (!library->build)
        return pj_finding_add(&doctor->findings, PJ_FINDING_OFFLINE_COMPILER_UNSURE, library->path, NULL, err,
                              "it is nvJitLink %s, and its build shows with the first cubin",
                              library->version);
    doctor->offline_compiler = pj_arena_printf(&doctor->arena, "%s %s", name, library->build);
    return doctor->offline_compiler ? 0 : pj_error_no_memory(err);
}

static int examine_profile(struct pj_offline *offline, const char *given, struct pj_doctor *doctor,
                           struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    const struct pj_compiler *compiler = offline->maker ? pj_maker_compiler(offline->maker) : NULL;
    offline->profile_count = 0;
    if (pj_offline_read_profiles(offline, &problem) < 0)
        return say(doctor, PJ_FINDING_OFFLINE_PROFILE_UNFIT, given, problem, err);
    if (!compiler || !compiler->known || !doctor->offline_compiler)
        return 0;
    const char *tool = offline->library == PJ_LIBRARY_PTXAS ? "ptxas" : "nvjitlink";
    if (pj_offline_check_compiler(offline, compiler, tool, &problem) < 0)
        return say(doctor, PJ_FINDING_OFFLINE_COMPILER_UNFIT, given, problem, err);
    pj_buffer_printf(&doctor->offline_text, "warm --offline: %s (%s) is proven for driver %s\n",
                     doctor->offline_compiler, compiler->library.path, offline->profiles[0].driver_version);
    return pj_buffer_check(&doctor->offline_text, err);
}

static int examine_manifest(struct pj_session *session, struct pj_doctor *doctor, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (!session->manifest || pj_offline_refuse_native(session, &problem) == 0)
        return 0;
    return say(doctor, PJ_FINDING_OFFLINE_NATIVE, session->manifest->name, problem, err);
}

static int examine(struct pj_offline *offline, struct pj_options *options, struct pj_doctor *doctor,
                   struct pj_error **err)
{
    const struct pj_doctor_options *asked = doctor->options;
    int r = open_compiler(offline, doctor, err);
    if (r == 0 && offline->maker && pj_maker_compiler(offline->maker)->known)
        r = note_compiler(offline, doctor, err);
    options->offline_count = 1;
    for (size_t i = 0; i < asked->offline_count && r == 0; i++) {
        options->offline = &asked->offline[i];
        r = examine_profile(offline, asked->offline[i], doctor, err);
    }
    return r == 0 ? examine_manifest(offline->session, doctor, err) : r;
}

int pj_offline_examine(struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_doctor_options *asked = doctor->options;
    struct pj_options options = {
        .manifest = asked->manifest,
        .ptxas = asked->ptxas,
        .nvjitlink = asked->nvjitlink,
        .worker_program = asked->worker_program,
        .interrupt_fd = asked->interrupt_fd,
        .workers = 1,
    };
    struct pj_offline offline = {.folder_fd = -1};
    PJ_CLEANUP_SESSION struct pj_session *session = calloc(1, sizeof *session);
    if (!session)
        return pj_error_no_memory(err);
    session->options = &options;
    session->begin_ms = pj_clock_ms();
    session->root = doctor->root;
    offline.session = session;
    int r = 0;
    if (asked->manifest && strcmp(asked->manifest, "-") != 0) /* which was read, and is not there twice */
        r = pj_given_manifest_load(asked->manifest, &session->manifest, err);
    if (r == 0)
        r = examine(&offline, &options, doctor, err);
    pj_maker_free(offline.maker);
    return r;
}
