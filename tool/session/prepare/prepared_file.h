/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared PTX that is kept beside the cache, `<cache>/.prejit/prepared/`, so that NVRTC need not run again.
 */
#ifndef PREJIT_SESSION_PREPARE_PREPARED_FILE_H
#define PREJIT_SESSION_PREPARE_PREPARED_FILE_H

#include "report/prepared.h"
#include "session/run/session.h"

/** The PTX kept for `request`, where nothing that it came from changed: the compiler, the source, every
 * header. *ret_ptx stays NULL where there is none; else it (NUL-terminated), and what the record points to,
 * live in the session's arena. */
int pj_prepared_load(struct pj_session *session, const struct pj_compiler *compiler, const char *request,
                     struct pj_prepared *ret_prepared, const char **ret_ptx, struct pj_error **err);

/** Keeps PTX with its record; needs the session's store. Older files beyond a limit go. With no_receipt
 * nothing is kept, and nothing kept is believed: such a record is a receipt, too. */
int pj_prepared_save(struct pj_session *session, const struct pj_prepared *prepared, const char *ptx,
                     struct pj_error **err);

#endif
