/* SPDX-License-Identifier: Apache-2.0 */
/* What lies on the way to an entry file and keeps it from being read or stored. */
#ifndef PREJIT_SESSION_RUN_OBSTACLE_H
#define PREJIT_SESSION_RUN_OBSTACLE_H

#include "session/run/session.h"

/** `message`, and behind it the command that removes the obstacle on the way to the entry `hash`, where there
 * is one: "…; remove it: rm -rf /c/4/2". In the session's arena; NULL where memory is out. */
const char *pj_obstacle_explain(struct pj_session *session, uint64_t hash, const char *message);

#endif
