/* SPDX-License-Identifier: Apache-2.0 */
/* The lock on `index`, as the driver takes it, but waiting its turn. */
#ifndef PREJIT_CACHE_LOCK_H
#define PREJIT_CACHE_LOCK_H

#include <stdbool.h>

#include "base/error.h"

/** Locks the whole file, shared or exclusive, waiting at most `wait_ms`. PJ_ERROR_BUSY, naming the holder
 * where the kernel does, when it was not had; PJ_ERROR_ENVIRONMENT where the file system refuses locks. */
int pj_lock_take(int fd, bool exclusive, double wait_ms, struct pj_error **err);

void pj_lock_drop(int fd);

#endif
