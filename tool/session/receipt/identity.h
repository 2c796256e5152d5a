/* SPDX-License-Identifier: Apache-2.0 */
/* What tells whether a receipt still speaks of this machine, this driver and this request, without opening a
 * driver. */
#ifndef PREJIT_SESSION_RECEIPT_IDENTITY_H
#define PREJIT_SESSION_RECEIPT_IDENTITY_H

#include "session/run/session.h"

/** Fills session->now with all that can be known without the driver. */
int pj_identity_now(struct pj_session *session, struct pj_error **err);

/** Compares session->receipt with now: sets same_driver, same_gpus and same_request. */
void pj_identity_compare(struct pj_session *session);

/** Is a library's file the very one that it was? */
bool pj_identity_same_file(const struct pj_receipt_file *file);

/** Would the compiler that was looked for in `search` and had these files be found again, and is it the same?
 * False where none was (NULL, or no files), or now->search is not set. */
bool pj_identity_same_compiler(const struct pj_compiler *now, const char *search,
                               const struct pj_receipt_file *files, size_t count);

#endif
