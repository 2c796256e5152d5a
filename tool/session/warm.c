/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: compile what is missing, commit, prove, record. */
#include "session/ask_gpus.h"
#include "session/engine/engine.h"
#include "session/frame/as_user.h"
#include "session/frame/closing.h"
#include "session/frame/opening.h"
#include "session/frame/request.h"
#include "session/in_place.h"
#include "session/offline/offline.h"
#include "session/receipt/other_build.h"
#include "session/receipt/reuse.h"
#include "session/repair.h"
#include "session/run/result.h"
#include "session/run/unserved.h"

static int run(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ENGINE struct pj_engine *engine = NULL;
    int r = pj_engine_new(session, &engine, err);
    if (r == 0)
        r = pj_engine_meet_driver(engine, err);
    if (r == 0 && session->outcomes && session->format != PJ_FORMAT_OTHER)
        r = pj_repair_compile_and_prove(engine, err);
    if (r == 0 && session->outcomes && session->format == PJ_FORMAT_OTHER)
        r = pj_in_place_work(engine, err);
    if (r == 0 && (session->interrupted || session->deadline_passed)) {
        pj_compile_stop(&engine->compile);
        r = pj_compile_commit(&engine->compile, err);
    }
    pj_session_settle_early_end(session);
    return r;
}

/* Why what was warmed is compiled anew. */
static int note_other_build(struct pj_session *session, struct pj_error **err)
{
    const char *text = NULL;
    bool compiled = false;
    for (size_t i = 0; session->outcomes && i < session->plan->job_count; i++)
        compiled |= session->outcomes[i].origin == PJ_ORIGIN_COMPILED;
    int r = compiled ? pj_other_build(session, &text, err) : 0;
    return text ? pj_session_note(session, err, "%s, which finds none of those entries", text) : r;
}

/* What the receipt holds; where it takes the driver's word to tell which GPUs are here, asked for that. */
static int look_for_nothing_to_do(struct pj_session *session, bool *ret_nothing, struct pj_error **err)
{
    bool told = false;
    int r = pj_ask_gpus(session, &told, err);
    if (r == 0)
        r = pj_reuse_everything(session, ret_nothing, err);
    return r == 0 && *ret_nothing && told ? pj_ask_gpus_remember(session, err) : r;
}

/* An option that would change nothing was meant for another run. */
static int refuse_linker(const struct pj_session *session, struct pj_error **err)
{
    if (!session->options->nvjitlink || session->nvjitlink.search)
        return 0;
    return pj_error_set(
        err, PJ_ERROR_USAGE,
        "--nvjitlink is for --offline PROFILE, and for modules with `linker: nvjitlink` and -ptx "
        "among its options: here the driver compiles");
}

int pj_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    bool nothing_to_do = false, waited = false;
    if (options->offline_count > 0)
        return pj_offline_warm(options, ret_result, err);
    if (options->ptxas)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--ptxas is for --offline PROFILE: here the driver compiles");
    int r = pj_request_open(options, "warm", &session, err);
    if (r == 0)
        r = refuse_linker(session, err);
    if (r == 0)
        r = pj_opening_note_environment(session, err);
    if (r == 0)
        r = pj_as_user_refuse_foreign_cache(session, err);
    if (r == 0)
        r = look_for_nothing_to_do(session, &nothing_to_do, err);
    if (r < 0)
        return r;
    if (!nothing_to_do) {
        r = pj_opening_check(session, err);
        if (r == 0)
            r = pj_opening_take_store(session, &waited, err);
        if (r == 0 && waited)
            r = pj_request_reload_receipt(session, err); /* the other run may have done it all */
        if (r == 0 && waited)
            r = look_for_nothing_to_do(session, &nothing_to_do, err);
        if (r < 0)
            return r;
    }
    if (nothing_to_do) {
        r = pj_unserved_from_receipt(session, err);
        return r < 0 ? r : pj_result_from_receipt(&session, ret_result, err);
    }
    r = pj_opening_prepare(session, err);
    if (r == 0)
        r = run(session, err);
    if (r == 0)
        r = note_other_build(session, err);
    if (r == 0)
        r = pj_opening_note_room(session, err);
    if (r == 0)
        r = pj_closing_remove_folder(session, err);
    if (r == 0 && !options->no_receipt && session->outcomes)
        r = pj_closing_save_receipt(session, err);
    return r < 0 ? r : pj_result_from_session(&session, ret_result, err);
}
