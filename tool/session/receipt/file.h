/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt as a file in the cache. */
#ifndef PREJIT_SESSION_RECEIPT_FILE_H
#define PREJIT_SESSION_RECEIPT_FILE_H

#include "session/run/session.h"

/** Is the open file a regular one that nobody but this user and root can have written? Whoever can write such
 * a file can make prejit say "nothing to do". */
bool pj_receipt_is_trusted(int fd);

/** Reads the receipt of `request` (pj_session.selection_text) in `<cache>/.prejit/`; where there is none,
 * that of the last run, which still tells the driver's stamp. *ret_receipt is NULL where there is none at
 * all, where it is not readable, or where it is to be ignored: not owned by this user or root, writable by
 * others, a link, or not a receipt of this version. Negative only for out of memory. */
int pj_receipt_load(const char *cache_path, const char *request, struct pj_receipt **ret_receipt,
                    struct pj_error **err);

/** Calls `visit` for each receipt in the cache, whatever its request, that pj_receipt_load would give; the
 * receipt is gone when it returns. What it returns below 0 ends that and is returned. */
int pj_receipt_each(const char *cache_path,
                    int (*visit)(void *context, const struct pj_receipt *receipt, struct pj_error **err),
                    void *context, struct pj_error **err);

/** Writes the receipt of a finished run: temporary file, fsync, rename. One above PJ_RECEIPT_MAX_BYTES is not
 * kept, nor is an earlier one: PJ_ERROR_UNSUPPORTED. */
int pj_receipt_save(struct pj_session *session, struct pj_error **err);

/** Writes session->receipt again, in the place where it lies, as one that holds for this boot (now.boot_id).
 * Whoever calls it has the cache's run lock. Nothing happens where another run wrote it meanwhile. */
int pj_receipt_renew(const struct pj_session *session, int cache_fd, struct pj_error **err);

#endif
