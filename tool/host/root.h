/* SPDX-License-Identifier: Apache-2.0 */
/* The root that /proc, /sys, /etc and /dev are read below, so that every machine state can be a folder of a
 * test. */
#ifndef PREJIT_HOST_ROOT_H
#define PREJIT_HOST_ROOT_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/** Where the machine's own folders start; `prefix` is "" for the real machine. Borrowed. */
struct pj_host_root {
    const char *prefix;
};

/** PREJIT_ROOT of the environment, ignored where privileges differ (secure_getenv). */
struct pj_host_root pj_host_root_from_environment(void);

/** Prefix and `path` joined; NULL when memory is out; free(). */
char *pj_host_path(const struct pj_host_root *root, const char *path);

/** Reads a special file (at most 1 MB) below the root. PJ_ERROR_IO where it cannot be read. */
int pj_host_read(const struct pj_host_root *root, const char *path, struct pj_buffer *ret_text,
                 struct pj_error **err);

/** mtime in whole seconds of a file below the root; 0 where there is none. */
int64_t pj_host_mtime(const struct pj_host_root *root, const char *path);

#endif
