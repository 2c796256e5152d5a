/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver whether it accepts a cache's index as it is, without risking the cache. */
#ifndef PREJIT_SESSION_ACCEPT_H
#define PREJIT_SESSION_ACCEPT_H

#include "session/engine.h"

/** Has the driver store a tiny module in a private folder that holds a copy of the cache's `index` and one
 * stand-in entry file. A driver that does not accept the index starts a new one and deletes every entry file
 * [cache-model 20]: *ret_accepts tells whether the stand-in survived and the module was stored. */
int pj_accept_ask(struct pj_engine *engine, bool *ret_accepts, struct pj_error **err);

#endif
