/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own word about the GPUs, where the kernel lists none (WSL2, bare containers). */
#ifndef PREJIT_SESSION_ASK_GPUS_H
#define PREJIT_SESSION_ASK_GPUS_H

#include "session/run/session.h"

/** Where the receipt holds but for the question which GPUs are here: has a worker start the driver and tell.
 * The same ones set session->same_gpus and *ret_told; others become session->machine. A driver that does not
 * start leaves both as they are: the run meets it again, and says so. */
int pj_ask_gpus(struct pj_session *session, bool *ret_told, struct pj_error **err);

/** After pj_ask_gpus told the same GPUs: notes the boot in the receipt, so that the driver is not asked again
 * before the next one. Where that is not known, or the receipt cannot be written, the next run asks again. */
int pj_ask_gpus_remember(const struct pj_session *session, struct pj_error **err);

#endif
