/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is asked for: manifest, selection, cache; what an earlier run of the same request knew; the
 * jobs. */
#ifndef PREJIT_SESSION_FRAME_REQUEST_H
#define PREJIT_SESSION_FRAME_REQUEST_H

#include "session/run/session.h"

/** Begins a session: reads manifest and receipt, decides on the cache, and notes what identifies machine and
 * request. The manifest's and the environment's faults are errors here. */
int pj_request_open(const struct pj_options *options, const char *command, struct pj_session **ret_session,
                    struct pj_error **err);

/** Plans the jobs for the machine as it is known now, and makes their outcomes. */
int pj_request_expand(struct pj_session *session, struct pj_error **err);

/** Reads the receipt again, after another run may have written it. */
int pj_request_reload_receipt(struct pj_session *session, struct pj_error **err);

#endif
