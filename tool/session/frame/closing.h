/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves behind in the cache when it is over. */
#ifndef PREJIT_SESSION_FRAME_CLOSING_H
#define PREJIT_SESSION_FRAME_CLOSING_H

#include "session/run/session.h"

/** Removes the run's folder. What of it stays is noted, and keeps the next run from having nothing to do. */
int pj_closing_remove_folder(struct pj_session *session, struct pj_error **err);

/** Writes the receipt. One that cannot be written is noted, unless the disk takes no more: the driver's next
 * store would meet that too, and it is the error. */
int pj_closing_save_receipt(struct pj_session *session, struct pj_error **err);

#endif
