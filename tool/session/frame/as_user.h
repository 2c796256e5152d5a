/* SPDX-License-Identifier: Apache-2.0 */
/* For whom a run works: `--user`, and root on a cache of somebody else. */
#ifndef PREJIT_SESSION_FRAME_AS_USER_H
#define PREJIT_SESSION_FRAME_AS_USER_H

#include "session/run/session.h"

/** The whole process becomes the user that `text` names (UID, UID:GID or a name), before it touches anything.
 * Sees to it that the user may execute `program`, which workers are started from. *ret_note (free()) is a
 * line to tell people, NULL where there is nothing to tell. */
int pj_as_user(const char *text, const char *program, char **ret_note, struct pj_error **err);

/** PJ_ERROR_ENVIRONMENT, with the two ways out, where root would work on the cache of another user, or where
 * others can change what the cache is or holds: what root and its driver leave there (an `index`, entries,
 * the receipt) that user's programs could neither write nor replace, and what others put there root's driver
 * would load. */
int pj_as_user_refuse_foreign_cache(const struct pj_session *session, struct pj_error **err);

#endif
