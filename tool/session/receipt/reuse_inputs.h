/* SPDX-License-Identifier: Apache-2.0 */
/* The files that jobs of a receipt were made from, compared with what they are now. */
#ifndef PREJIT_SESSION_RECEIPT_REUSE_INPUTS_H
#define PREJIT_SESSION_RECEIPT_REUSE_INPUTS_H

#include "session/run/session.h"

/** Is the file what it was? The same size and time is the same file; another time is looked into before
 * anything is called changed, because copies and image layers keep bytes, not times. */
int pj_reuse_same_input(const struct pj_receipt_input *input, bool *ret_same, struct pj_error **err);

/** Does the manifest name exactly the files that the receipt's jobs were made from, and are these and the
 * headers that were found besides what they were? */
int pj_reuse_inputs(const struct pj_session *session, bool *ret_same, struct pj_error **err);

#endif
