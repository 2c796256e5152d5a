/* SPDX-License-Identifier: Apache-2.0 */
/* Sources, and files that nvJitLink links, become PTX: in workers of their own, or from what an earlier run
 * kept.
 */
#ifndef PREJIT_SESSION_PREPARE_PREPARE_H
#define PREJIT_SESSION_PREPARE_PREPARE_H

#include "session/run/session.h"

/** Notes where NVRTC and nvJitLink are looked for, where a module needs them: `search` of session->nvrtc and
 * session->nvjitlink. It identifies the request. */
int pj_prepare_search(struct pj_session *session, struct pj_error **err);

/** Gives the plan the PTX of every source job whose target is known. What was kept is taken where nothing
 * changed; the rest is compiled, twice where that was not done before (or always, with check_stable), and
 * refused where the two differ. `plan` compiles only where it was asked to. What is wrong with a source is
 * its job's fate; negative only where nothing works. */
int pj_prepare_sources(struct pj_session *session, struct pj_error **err);

#endif
