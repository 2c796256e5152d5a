/* SPDX-License-Identifier: Apache-2.0 */
/* After an upgrade of the driver: whose entries the cache holds. */
#ifndef PREJIT_SESSION_RECEIPT_OTHER_BUILD_H
#define PREJIT_SESSION_RECEIPT_OTHER_BUILD_H

#include "session/run/session.h"

/** "the cache was warmed for driver 580.1, and this one is 590.2", where the receipt is that of another build
 * of the driver than the one at hand, whose entries it does not find; NULL where it is not, or where nobody
 * can tell. In the session's arena. */
int pj_other_build(struct pj_session *session, const char **ret_text, struct pj_error **err);

#endif
