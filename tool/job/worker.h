/* SPDX-License-Identifier: Apache-2.0 */
/* The worker process: opens the driver, loads what it is told to, answers. The parent never does any of this
 * itself. */
#ifndef PREJIT_JOB_WORKER_H
#define PREJIT_JOB_WORKER_H

#include "base/error.h"

/** Serves the parent over `socket` until it closes. `parent_pid` is who must still be the parent (a worker
 * whose parent died before the death signal was set leaves at once). Returns 0 when the parent closed the
 * socket. */
int pj_worker_serve(int socket, long parent_pid, struct pj_error **err);

#endif
