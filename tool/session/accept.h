/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver whether it accepts a cache's index as it is, without risking the cache. */
#ifndef PREJIT_SESSION_ACCEPT_H
#define PREJIT_SESSION_ACCEPT_H

#include "session/engine/engine.h"

enum pj_acceptance {
    PJ_ACCEPT_YES,     /* it stored beside the stand-in */
    PJ_ACCEPT_DELETES, /* the stand-in is gone */
    PJ_ACCEPT_UNKNOWN, /* nothing was stored: a worker that failed, an interrupt, a layout that cannot be
                          watched */
};

/** Has the driver store a tiny module in a private folder that holds a copy of the cache's `index` and one
 * stand-in entry file. A driver that does not accept the index starts a new one and deletes every entry file
 * [cache-model 20]. */
int pj_accept_ask(struct pj_engine *engine, enum pj_acceptance *ret_acceptance, struct pj_error **err);

#endif
