/* SPDX-License-Identifier: Apache-2.0 */
/* The course of an offline run. */
#include "session/offline/offline.h"

#include <string.h>

#include "base/file.h"
#include "session/frame/as_user.h"
#include "session/frame/closing.h"
#include "session/frame/opening.h"
#include "session/frame/request.h"
#include "session/offline/private.h"
#include "session/run/machine.h"
#include "session/run/result.h"

static void free_offline(struct pj_offline *offline)
{
    pj_maker_free(offline->maker);
    pj_close(offline->folder_fd);
    pj_buffer_free(&offline->image_bytes);
    pj_buffer_free(&offline->file_bytes);
}

static int open_cache(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    bool waited = false;
    int r = pj_as_user_refuse_foreign_cache(session, err);
    if (r == 0)
        r = pj_opening_check(session, err);
    if (r == 0)
        r = pj_opening_take_store(session, &waited, err);
    if (r == 0 && waited)
        r = pj_request_reload_receipt(session, err);
    pj_machine_forget(session); /* it says nothing of those that the entries are for */
    if (r == 0)
        r = pj_opening_prepare(session, err);
    if (r == 0 && session->format == PJ_FORMAT_OTHER)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "the cache %s has an index of another format than the one that this prejit makes "
            "entries of (%d): name another cache with --cache, or run `prejit warm` where the "
            "driver is, which works with any format",
            session->location.path, PJ_CACHE_FORMAT);
    return r == 0 ? pj_offline_check_beside(offline, err) : r;
}

/* A run that fails leaves what was compiled to the next one. */
static void keep_uncommitted(struct pj_offline *offline)
{
    struct pj_session *session = offline->session;
    for (size_t i = 0; session->outcomes && i < offline->unit_count; i++) {
        for (size_t k = 0; k < offline->profile_count; k++) {
            if (offline->units[i].entries[k].assembled)
                session->outcomes[offline->units[i].job].stage = PJ_STAGE_COMPILED;
        }
    }
}

static int work(struct pj_offline *offline, struct pj_error **err)
{
    int r = pj_offline_plan(offline, err);
    if (r == 0)
        r = pj_offline_find(offline, err);
    if (r == 0)
        r = pj_offline_compile(offline, err);
    if (r == 0)
        r = pj_offline_commit(offline, err);
    if (r == 0)
        r = pj_offline_check_listed(offline, err);
    if (r == 0)
        r = pj_offline_settle(offline, err);
    if (r < 0)
        keep_uncommitted(offline);
    return r;
}

/* What everybody must know of such a cache, whoever reads the table. */
static int note_unseen(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    PJ_CLEANUP_BUFFER struct pj_buffer drivers = {0};
    bool stored = false;
    for (size_t i = 0; i < session->plan->job_count; i++)
        stored |= session->outcomes[i].verdict == PJ_VERDICT_STORED;
    for (size_t i = 0; i < offline->profile_count; i++)
        pj_buffer_printf(&drivers, "%s%s", i ? ", " : "", offline->profiles[i].driver_version);
    if (drivers.failed)
        return pj_error_no_memory(err);
    if (!stored)
        return 0;
    return pj_session_note(
        session, err,
        "offline: %s%s%sfor driver %s, not yet seen by a driver; another driver finds none of "
        "it; where the driver is, `prejit warm -t native` with this manifest and cache proves it",
        offline->compiler ? "compiled by " : "", offline->compiler ? offline->compiler : "",
        offline->compiler ? " " : "", pj_buffer_text(&drivers));
}

static int refuse_options(const struct pj_options *options, struct pj_error **err)
{
    if (options->repeat_driver)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--driver %s and --offline exclude each other: an offline run opens no driver",
                            options->repeat_driver);
    if (options->ptxas && options->nvjitlink)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--ptxas %s and --nvjitlink %s exclude each other: one of them compiles",
                            options->ptxas, options->nvjitlink);
    return 0;
}

int pj_offline_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    __attribute__((cleanup(free_offline))) struct pj_offline offline = {.folder_fd = -1};
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    int r = refuse_options(options, err);
    if (r == 0)
        r = pj_request_open(options, "warm", &session, err);
    offline.session = session;
    if (r == 0)
        r = pj_opening_note_environment(session, err);
    if (r == 0)
        r = pj_offline_read_profiles(&offline, err);
    if (r == 0)
        r = pj_offline_refuse_native(session, err);
    if (r == 0)
        r = open_cache(&offline, err);
    if (r == 0)
        r = work(&offline, err);
    if (r < 0)
        return r;
    pj_session_settle_early_end(session);
    r = note_unseen(&offline, err);
    if (r == 0)
        r = pj_opening_note_room(session, err);
    if (r == 0)
        r = pj_closing_remove_folder(session, err);
    if (r == 0 && !options->no_receipt)
        r = pj_closing_save_receipt(session, err);
    return r < 0 ? r : pj_result_from_session(&session, ret_result, err);
}
