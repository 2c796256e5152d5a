/* SPDX-License-Identifier: Apache-2.0 */
/* The files that jobs of a receipt were made from, compared with what they are now. */
#ifndef PREJIT_SESSION_RECEIPT_REUSE_INPUTS_H
#define PREJIT_SESSION_RECEIPT_REUSE_INPUTS_H

#include "session/run/session.h"

/** Does the manifest name exactly the files that the receipt's jobs were made from, and are these and the
 * headers that were found besides what they were? */
int pj_reuse_inputs(const struct pj_session *session, bool *ret_same, struct pj_error **err);

#endif
