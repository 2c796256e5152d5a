/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns in `ptx:`: the files they match, in bytewise order, each with a name of its own. */
#ifndef PREJIT_MANIFEST_GLOB_H
#define PREJIT_MANIFEST_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

/** One matched file: its path as opened, and `module/stem`. Both live in the arena. */
struct pj_glob_match {
    const char *path;
    const char *name;
};

/** `path` as it is opened: joined to `directory` where it is relative, unless that is "." or ""; in the
 * arena, NULL when memory is out. */
const char *pj_glob_path(const char *directory, const char *path, struct pj_arena *arena);

/** Is `path` (as opened) a pattern? It is where it has `*`, `?` or `[` and no file of just that name exists.
 */
bool pj_glob_is_pattern(const char *path, const char *pattern);

/** Expands `pattern`, as the manifest has it, within `directory`. A backslash stands for itself. Files whose
 * stems are equal get as much of their path as tells them apart, and their suffix where even that does not.
 * PJ_ERROR_MANIFEST, with a message for behind "`ptx`: ", for: no match, a folder among the matches, `**`, a
 * folder that cannot be read. */
int pj_glob_expand(const char *directory, const char *pattern, const char *module_name,
                   struct pj_arena *arena, struct pj_glob_match **ret_matches, size_t *ret_count,
                   struct pj_error **err);

#endif
