/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a snapshot that the store takes apart: files and index are read at different moments there. */
#ifndef PREJIT_CACHE_SCAN_H
#define PREJIT_CACHE_SCAN_H

#include <sys/stat.h>

#include "cache/snapshot.h"

/** An index of four million entries; no more is read. */
#define PJ_INDEX_MAX_BYTES (UINT64_C(64) << 20)

/** Opens `index` of the open cache `path`; PJ_ERROR_IO, with the errno, where it cannot be opened (EINVAL:
 * it is no regular file). A link is followed
 * only where it and the file it leads to are this user's or root's, and by root, to write, only where nobody
 * else can change where it leads. PJ_ERROR_ENVIRONMENT else. */
int pj_index_open(int cache_fd, const char *path, bool write, int *ret_fd, struct stat *ret_status,
                  struct pj_error **err);

/** Adds the entry files of the open cache to a snapshot without any, ascending by hash, as not listed. */
int pj_scan_entries(int cache_fd, struct pj_snapshot *snapshot, struct pj_error **err);

/** Sets the entries' positions in `index` (the first, where a hash stands there twice). */
void pj_scan_positions(struct pj_snapshot *snapshot, const struct pj_index *index);

#endif
