/* SPDX-License-Identifier: Apache-2.0 */
/* The run's folder goes, the receipt is written. */
#include "session/frame/closing.h"

#include <errno.h>

#include "session/receipt/file.h"

/* What cannot be removed now keeps the next run from having nothing to do: it tries again. */
int pj_closing_remove_folder(struct pj_session *session, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_store_remove_run_folder(session->store, &problem) == 0)
        return 0;
    return pj_session_note(session, err, "%s; the next run tries again", pj_error_message(problem));
}

/* A receipt is a hint: without one the next run proves again, and this one's result stands. A disk that takes
 * no more is another matter: the driver's next store meets it too. */
int pj_closing_save_receipt(struct pj_session *session, struct pj_error **err)
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
