/* SPDX-License-Identifier: Apache-2.0 */
/* Which directory is the compute cache, how large it may be, and where that was said: the driver's own rule.
 */
#ifndef PREJIT_CACHE_LOCATION_H
#define PREJIT_CACHE_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** The driver's default limit where CUDA_CACHE_MAXSIZE is not set [cache-model 24]. */
#define PJ_CACHE_DEFAULT_LIMIT_BYTES (UINT64_C(1) << 30)

enum pj_cache_source {
    PJ_CACHE_FROM_OPTION,      /* --cache */
    PJ_CACHE_FROM_MANIFEST,    /* cache.path, cache.max_size */
    PJ_CACHE_FROM_ENVIRONMENT, /* CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE */
    PJ_CACHE_FROM_DEFAULT,     /* $HOME/.nv/ComputeCache, 1 GiB */
};

/** What decides: NULL = not set. Strings are read only during the call. */
struct pj_cache_inputs {
    const char *option_path;
    const char *manifest_path;
    uint64_t manifest_max_size_bytes; /* 0 = not given */
    const char *cuda_cache_path;      /* value of CUDA_CACHE_PATH */
    const char *cuda_cache_maxsize;   /* value of CUDA_CACHE_MAXSIZE */
    const char *cuda_cache_disable;   /* value of CUDA_CACHE_DISABLE */
    const char *home;                 /* value of HOME */
    bool any_path; /* CUDA_CACHE_PATH is taken as the driver takes it, `~` and `$` and all */
};

struct pj_cache_location {
    char *path; /* absolute; free() */
    enum pj_cache_source path_source;
    uint64_t limit_bytes;
    enum pj_cache_source limit_source;
};

/** Decides. PJ_ERROR_ENVIRONMENT where the driver would keep nothing: CUDA_CACHE_DISABLE=1, CUDA_CACHE_PATH
 * set but empty, no HOME, CUDA_CACHE_MAXSIZE 0, no number or a small one with a unit [cache-model 24, 25, 26,
 * 39], and where CUDA_CACHE_PATH holds what only a shell replaces; for --cache the latter is PJ_ERROR_USAGE.
 * Each message says what was found and what to set. A path with ".." is resolved as far as it exists. */
int pj_cache_locate(const struct pj_cache_inputs *inputs, struct pj_cache_location *ret_location,
                    struct pj_error **err);

void pj_cache_location_free(struct pj_cache_location *location);

#endif
