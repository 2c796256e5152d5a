/* SPDX-License-Identifier: Apache-2.0 */
/* Why a driver finds nothing in a cache, where that is the fault of modes or mounts and not of the entries.
 */
#ifndef PREJIT_SESSION_RUN_UNREADABLE_H
#define PREJIT_SESSION_RUN_UNREADABLE_H

#include "session/run/session.h"

/** Can this user's driver use the cache's `index`, or make it? */
int pj_unreadable_ask(const struct pj_session *session, bool *ret_usable, struct pj_error **err);

/** The driver reads no entry where it can neither open `index` for writing nor make it, without a word
 * [cache-model 18]. Where that is so for this user, jobs that were missed get it as their reason, and a note
 * says where, what was found, and the cure. */
int pj_unreadable_explain(struct pj_session *session, struct pj_error **err);

/** Work on the cache failed, with code `failure` and *err. Where that is because this user may not (EACCES,
 * EPERM), puts behind the message whose the cache is, and the cure. Returns the code that *err has then. */
int pj_unreadable_refuse(const char *cache, int failure, struct pj_error **err);

#endif
