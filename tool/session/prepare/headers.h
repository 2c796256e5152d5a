/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a source's PTX comes from: itself, its headers in memory, and those that NVRTC says it read. */
#ifndef PREJIT_SESSION_PREPARE_HEADERS_H
#define PREJIT_SESSION_PREPARE_HEADERS_H

#include <time.h>

#include "session/prepare/source.h"

/** Reads NVRTC's list (one file a line, blanks in front for its depth, relative to `directory`), and gives
 * the files of `source` with those of the list that exist, each once, hashed. What is in memory, or built
 * into NVRTC, is no file. All in `arena`.
 *
 * *ret_doubt: NULL, or why the files are not those that NVRTC read, so that nothing may be concluded from
 * them later: one of the list cannot be read, or was changed since `begin` (of the first compilation, by
 * CLOCK_REALTIME_COARSE, which file systems use; NULL = not looked at). */
int pj_headers_files(const struct pj_source *source, const char *list, const char *directory,
                     const struct timespec *begin, struct pj_arena *arena, struct pj_plan_file **ret_files,
                     size_t *ret_count, const char **ret_doubt, struct pj_error **err);

/** Was a file of pj_headers_files changed since `begin`, a time as there? */
bool pj_headers_changed(const struct pj_plan_file *file, const struct timespec *begin);

#endif
