/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of this machine for which nothing is warmed. */
#ifndef PREJIT_SESSION_RUN_UNSERVED_H
#define PREJIT_SESSION_RUN_UNSERVED_H

#include "session/run/session.h"

/** Fills session->unserved from the expanded plan, with a note for each. */
int pj_unserved_note(struct pj_session *session, struct pj_error **err);

/** The same for a run that has nothing to do: what its receipt tells is still so. */
int pj_unserved_from_receipt(struct pj_session *session, struct pj_error **err);

#endif
