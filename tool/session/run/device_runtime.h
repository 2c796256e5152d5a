/* SPDX-License-Identifier: Apache-2.0 */
/* Where CUDA's device runtime is, for modules that lack it. */
#ifndef PREJIT_SESSION_RUN_DEVICE_RUNTIME_H
#define PREJIT_SESSION_RUN_DEVICE_RUNTIME_H

#include "session/run/session.h"

/** A note with the path of libcudadevrt.a where a job of the settled plan is to be linked with it; nothing
 * where this machine has none. */
int pj_device_runtime_note(struct pj_session *session, struct pj_error **err);

#endif
