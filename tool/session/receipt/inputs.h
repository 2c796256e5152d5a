/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a receipt's jobs were made from. Internal to the receipt's file. */
#ifndef PREJIT_SESSION_RECEIPT_INPUTS_H
#define PREJIT_SESSION_RECEIPT_INPUTS_H

#include "session/run/session.h"

/** Fills in the receipt's `inputs`, each file once as each state of it was seen, and the positions of its
 * jobs, which are parallel to the plan's. In the session's arena; paths are the plan's. */
int pj_receipt_fill_inputs(struct pj_session *session, struct pj_receipt *receipt, struct pj_error **err);

#endif
