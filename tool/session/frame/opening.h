/* SPDX-License-Identifier: Apache-2.0 */
/* The cache is opened for a run, and what was found and done there is said. */
#ifndef PREJIT_SESSION_FRAME_OPENING_H
#define PREJIT_SESSION_FRAME_OPENING_H

#include "session/run/session.h"

/** Refuses, before anything is written or started, where warming would be useless: what `doctor` finds to be
 * an error about the cache. */
int pj_opening_check(const struct pj_session *session, struct pj_error **err);

/** Takes the run lock into session->store. *ret_waited: another run had it first, and may have done the work.
 */
int pj_opening_take_store(struct pj_session *session, bool *ret_waited, struct pj_error **err);

/** Prepares the store (S0) and notes what it found and mended. */
int pj_opening_prepare(struct pj_session *session, struct pj_error **err);

/** Notes what had to make room, and what a smaller limit elsewhere would do. */
int pj_opening_note_room(struct pj_session *session, struct pj_error **err);

/** Notes variables of this environment with which programs compile again, or cannot, whatever the cache
 * holds: those with which they compile again end the run with PJ_EXIT_COLD. And that other users can write
 * the cache, whose entries are then whoever's. */
int pj_opening_note_environment(struct pj_session *session, struct pj_error **err);

#endif
