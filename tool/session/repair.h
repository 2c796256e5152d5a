/* SPDX-License-Identifier: Apache-2.0 */
/* Compile, prove, and once more what the driver did not find. */
#ifndef PREJIT_SESSION_REPAIR_H
#define PREJIT_SESSION_REPAIR_H

#include "session/engine/engine.h"

/** Compiles and commits every job in stage WAITING, proves and judges every open one, and does it again for
 * those that were missed: once, or a few times where workers share the cache with others. Returns early, with
 * nothing judged, where the cache's format turns out to be unknown. */
int pj_repair_compile_and_prove(struct pj_engine *engine, struct pj_error **err);

/** Indices of the jobs whose outcome is `wanted`; `ret_jobs` has room for all. */
size_t pj_repair_collect(const struct pj_session *session, bool (*wanted)(const struct pj_outcome *),
                         size_t *ret_jobs);

#endif
