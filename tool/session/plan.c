/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the jobs without opening a driver. */
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "session/frame/opening.h"
#include "session/frame/request.h"
#include "session/offline/offline.h"
#include "session/receipt/reuse.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"
#include "session/run/result.h"
#include "session/run/unreadable.h"

/* What `warm` would find at the entry's name: a file that it would compile anew is none. */
static int find_entry(struct pj_session *session, size_t job, int cache_fd, struct pj_error **err)
{
    struct pj_outcome *outcome = &session->outcomes[job];
    enum pj_entry_state state = PJ_ENTRY_ABSENT;
    const char *problem = NULL;
    int r = pj_outcome_check_entry(session, job, cache_fd, &state, &problem, err);
    bool sound = state == PJ_ENTRY_SOUND;
    outcome->origin = sound ? PJ_ORIGIN_REUSED : PJ_ORIGIN_NONE;
    outcome->witnesses.entry_present = sound ? PJ_WITNESS_YES : PJ_WITNESS_NO;
    if (problem && state != PJ_ENTRY_ABSENT) {
        outcome->reason_code = pj_outcome_damage_code(state);
        outcome->reason = problem;
    }
    return r;
}

/* Which of the named entries lie in the cache already? `verify` is what proves. */
static int find_entries(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    struct pj_snapshot snapshot = {0};
    int r = pj_unreadable_refuse(session->location.path, pj_session_snapshot(session, &snapshot, err), err);
    pj_snapshot_free(&snapshot);
    (void)pj_session_open_cache(session, &cache_fd, &ignored);
    for (size_t i = 0; i < session->plan->job_count && r == 0; i++) {
        const struct pj_job *job = &session->plan->jobs[i];
        if (job->has_names && job->entry_count > 0)
            r = pj_outcome_set_entries(session, &session->outcomes[i], job->entries, job->entry_count, err);
        if (r == 0 && session->outcomes[i].entry_count > 0)
            r = find_entry(session, i, cache_fd, err);
    }
    return r;
}

/* The driver of a profile in place of the one that a receipt tells of: its stamp, and what it takes. */
static int take_profile(struct pj_session *session, struct pj_profile *ret_profile, struct pj_error **err)
{
    const struct pj_options *options = session->options;
    struct pj_profile profile = {0};
    if (options->offline_count == 0)
        return 0;
    for (size_t i = 1; i < options->offline_count; i++) {
        if (strcmp(options->offline[i], options->offline[0]) != 0)
            return pj_error_set(err, PJ_ERROR_USAGE,
                                "--offline %s: plan names the entries of one driver, and --offline %s named "
                                "another one already: plan once for each",
                                options->offline[i], options->offline[0]);
    }
    if (options->repeat_driver)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--driver %s and --offline exclude each other: the profile stands for the driver",
                            options->repeat_driver);
    int r = pj_offline_load_profile(session, options->offline[0], &profile, err);
    if (r < 0)
        return r;
    struct pj_report_profile *told = pj_arena_calloc(&session->arena, 1, sizeof *told);
    if (!told)
        return pj_error_no_memory(err);
    *told = (struct pj_report_profile){.driver_version = profile.driver_version, .stamp = profile.stamp};
    session->offline = (struct pj_report_offline){.profiles = told, .profile_count = 1};
    pj_machine_forget(session);
    session->stamp = profile.stamp;
    session->format = PJ_FORMAT_KNOWN;
    session->machine.cuda_version = profile.cuda_version;
    *ret_profile = profile;
    return pj_offline_refuse_native(session, err);
}

int pj_plan(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    struct pj_profile profile = {0};
    int r = pj_request_open(options, "plan", &session, err);
    if (r == 0)
        r = pj_opening_note_environment(session, err);
    if (r == 0)
        r = take_profile(session, &profile, err);
    if (r == 0)
        r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    if (r == 0)
        r = options->offline_count > 0 ? pj_offline_expand(session, &profile, 1, err)
                                       : pj_request_expand(session, err);
    if (r == 0 && session->format != PJ_FORMAT_KNOWN)
        r = pj_session_note(
            session, err,
            "what of it lies in the cache is not known: entries are named after the driver's build, which "
            "`prejit warm` learns; for the driver of a profile add --offline %s",
            pj_offline_example());
    else if (r == 0)
        r = pj_plan_name(session->plan, session->stamp, err);
    if (r == 0 && session->format == PJ_FORMAT_KNOWN)
        r = pj_reuse_links(session, err);
    if (r == 0)
        r = find_entries(session, err);
    return r < 0 ? r : pj_result_from_session(&session, ret_result, err);
}
