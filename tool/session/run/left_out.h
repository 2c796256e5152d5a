/* SPDX-License-Identifier: Apache-2.0 */
/* Which targets of a range, family or `all` a run does without. */
#ifndef PREJIT_SESSION_RUN_LEFT_OUT_H
#define PREJIT_SESSION_RUN_LEFT_OUT_H

#include "session/run/session.h"

/** A note for each reason that the settled plan has for leaving targets out: the first modules and targets by
 * name. Modules that lack the same ones for one reason share it. */
int pj_left_out_note(struct pj_session *session, struct pj_error **err);

#endif
