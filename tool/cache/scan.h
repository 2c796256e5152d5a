/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a snapshot that the store takes apart: files and index are read at different moments there. */
#ifndef PREJIT_CACHE_SCAN_H
#define PREJIT_CACHE_SCAN_H

#include "cache/snapshot.h"

/** An index of four million entries; no more is read. */
#define PJ_INDEX_MAX_BYTES (UINT64_C(64) << 20)

/** Adds the entry files of the open cache to a snapshot without any, ascending by hash, as not listed. */
int pj_scan_entries(int cache_fd, struct pj_snapshot *snapshot, struct pj_error **err);

/** Sets the entries' positions in `index` (the first, where a hash stands there twice). */
void pj_scan_positions(struct pj_snapshot *snapshot, const struct pj_index *index);

#endif
