/* SPDX-License-Identifier: Apache-2.0 */
/* The program that callers name to be run as worker. */
#ifndef PREJIT_SESSION_RUN_WORKER_PROGRAM_H
#define PREJIT_SESSION_RUN_WORKER_PROGRAM_H

#include "base/error.h"

/** PJ_ERROR_USAGE where `path` is NULL, empty or not absolute: workers start in other folders than the
 * caller's. */
int pj_worker_program_check(const char *path, struct pj_error **err);

#endif
