/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps root from a cache in which other users can put something: its way, its folders, its files. */
#ifndef PREJIT_CACHE_GUARD_H
#define PREJIT_CACHE_GUARD_H

#include "base/way.h"
#include "cache/snapshot.h"

/** Judges, as root, the way to the cache `path`, and where it is there `.prejit`, the hash directories and
 * a link for `index` in it. The first fault is told. */
int pj_guard_look(const char *path, struct pj_way *ret_way, struct pj_error **err);

/** The same of the open cache, where the way to it has no fault. `path` names it in `way`. */
int pj_guard_look_inside(int cache_fd, const char *path, struct pj_way *way, struct pj_error **err);

/** Judges an entry file that others made, or can write, for somebody who is root: refuses with what to do.
 * Success where there is none, or this process is not root's. */
int pj_guard_entries(const struct pj_snapshot *snapshot, const char *path, struct pj_error **err);

/** Refuses a way with a fault: PJ_ERROR_ENVIRONMENT, saying whose the culprit is and the two ways out. `path`
 * is the cache; `owner` names the culprit's owner (NULL = its number). */
int pj_guard_refuse(const struct pj_way *way, const char *path, const char *owner, struct pj_error **err);

#endif
