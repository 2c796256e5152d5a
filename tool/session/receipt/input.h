/* SPDX-License-Identifier: Apache-2.0 */
/* One file that a job was made from, as a receipt or the record of a source has it. */
#ifndef PREJIT_SESSION_RECEIPT_INPUT_H
#define PREJIT_SESSION_RECEIPT_INPUT_H

#include "session/run/session.h"

/** What is noted of a job's file; the path is borrowed. One that was changed a moment before the session
 * began, or later, may be changed again with nothing to tell but its bytes: its inode is noted as 0, which is
 * no file's, so that a later run looks into it. */
struct pj_receipt_input pj_receipt_input_of(const struct pj_session *session,
                                            const struct pj_plan_file *file);

/** The job's file that was noted; the path is borrowed. */
struct pj_plan_file pj_receipt_input_file(const struct pj_receipt_input *input);

/** *ret_same: the file is there and is what was noted: unchanged by its inode's time, or else by its bytes,
 * which copies and image layers keep. One that was noted as absent is not there. Negative only for out of
 * memory. */
int pj_receipt_input_same(const struct pj_receipt_input *input, bool *ret_same, struct pj_error **err);

#endif
