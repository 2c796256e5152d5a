/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: compile what is missing, commit, prove, record. */
#include <errno.h>

#include "session/as_user.h"
#include "session/engine.h"
#include "session/in_place.h"
#include "session/opening.h"
#include "session/receipt_file.h"
#include "session/repair.h"
#include "session/result.h"
#include "session/reuse.h"

/* What cannot be removed now keeps the next run from having nothing to do: it tries again. */
static int remove_run_folder(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_store_remove_run_folder(session->store, &problem) == 0)
        return 0;
    return pj_session_note(session, err, "%s; the next run tries again", pj_error_message(problem));
}

/* A receipt is a hint: without one the next run proves again, and this one's result stands. A disk that takes
 * no more is another matter: the driver's next store meets it too. */
static int save_receipt(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_receipt_save(session, &problem);
    if (r == 0)
        return 0;
    int errnum = problem->errnum;
    if (r == PJ_ERROR_NO_MEMORY || errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG ||
        errnum == EROFS || errnum == EIO) {
        *err = PJ_STEAL(problem);
        return r;
    }
    return pj_session_note(session, err, "%s; the next run proves everything again",
                           pj_error_message(problem));
}

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

int pj_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err)
{
    PJ_CLEANUP_SESSION struct pj_session *session = NULL;
    bool nothing_to_do = false, waited = false;
    int r = pj_session_open(options, "warm", &session, err);
    if (r == 0)
        r = pj_as_user_refuse_foreign_cache(session, err);
    if (r == 0)
        r = pj_reuse_everything(session, &nothing_to_do, err);
    if (r < 0)
        return r;
    if (!nothing_to_do) {
        r = pj_opening_check(session, err);
        if (r == 0)
            r = pj_opening_take_store(session, &waited, err);
        if (r == 0 && waited)
            r = pj_session_reload_receipt(session, err); /* the other run may have done it all */
        if (r == 0 && waited)
            r = pj_reuse_everything(session, &nothing_to_do, err);
        if (r < 0)
            return r;
    }
    if (nothing_to_do)
        return pj_result_from_receipt(&session, ret_result, err);
    r = pj_opening_prepare(session, err);
    if (r == 0)
        r = run(session, err);
    if (r == 0)
        r = pj_opening_note_room(session, err);
    if (r == 0)
        r = remove_run_folder(session, err);
    if (r == 0 && !options->no_receipt && session->outcomes)
        r = save_receipt(session, err);
    return r < 0 ? r : pj_result_from_session(&session, ret_result, err);
}
