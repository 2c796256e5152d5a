/* SPDX-License-Identifier: Apache-2.0 */
/* Warming a cache whose format this version does not know: the driver stores, and is asked what is there. */
#ifndef PREJIT_SESSION_IN_PLACE_H
#define PREJIT_SESSION_IN_PLACE_H

#include "session/engine/engine.h"

/** Finds out by loading what is in the cache, compiles the rest straight into it, proves.
 * PJ_ERROR_ENVIRONMENT where a store of this driver would delete what lies there. */
int pj_in_place_work(struct pj_engine *engine, struct pj_error **err);

#endif
