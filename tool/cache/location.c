/* SPDX-License-Identifier: Apache-2.0 */
/* Decides where the cache is and how large it may be, by the driver's own rule. */
#include "cache/location.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

/* The driver reads both settings as C's strtol does: blanks before the number, anything behind it, a word is
 * 0. Exactly 1 disables; 2, -1 and "true" do not [cache-model 39]. */
static bool is_disabled(const char *value)
{
    return value && strtol(value, NULL, 10) == 1;
}

static int find_path(const struct pj_cache_inputs *inputs, char **ret_path, enum pj_cache_source *ret_source,
                     struct pj_error **err)
{
    const char *path = inputs->cuda_cache_path;
    enum pj_cache_source source = PJ_CACHE_FROM_ENVIRONMENT;
    if (inputs->option_path) {
        path = inputs->option_path;
        source = PJ_CACHE_FROM_OPTION;
        if (*path == '\0')
            return pj_error_set(err, PJ_ERROR_USAGE, "--cache is empty: name a directory");
    } else if (inputs->manifest_path) {
        path = inputs->manifest_path;
        source = PJ_CACHE_FROM_MANIFEST;
        if (*path == '\0')
            return pj_error_set(err, PJ_ERROR_MANIFEST,
                                "cache.path of the manifest is empty: name a directory or leave it out");
    } else if (path && *path == '\0') {
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "CUDA_CACHE_PATH is set but empty, so the driver keeps no cache at all: set it "
                            "to a directory or unset it");
    }
    *ret_source = source;
    if (path)
        return pj_path_absolute(path, ret_path, err);
    if (!inputs->home || inputs->home[0] == '\0')
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "neither CUDA_CACHE_PATH nor HOME is set, so the driver keeps no cache at all: "
                            "set CUDA_CACHE_PATH to a directory, here and for the program");
    PJ_CLEANUP_FREE char *below = pj_path_join(inputs->home, ".nv/ComputeCache");
    if (!below)
        return pj_error_no_memory(err);
    *ret_source = PJ_CACHE_FROM_DEFAULT;
    return pj_path_absolute(below, ret_path, err);
}

/* Below this no entry fits: header, key and an ELF header alone need more. */
enum { SMALLEST_LIMIT_BYTES = 256 };

static int limit_too_small(const char *text, uint64_t limit, struct pj_error **err)
{
    uint64_t meant = 0;
    if (!pj_text_to_size(text, &meant) || meant < SMALLEST_LIMIT_BYTES)
        meant = PJ_CACHE_DEFAULT_LIMIT_BYTES;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "CUDA_CACHE_MAXSIZE is \"%s\", which the driver reads as %" PRIu64
                        " bytes, so it stores nothing: set CUDA_CACHE_MAXSIZE=%" PRIu64 " or unset it",
                        text, limit, meant);
}

static int find_limit(const struct pj_cache_inputs *inputs, uint64_t *ret_limit,
                      enum pj_cache_source *ret_source, struct pj_error **err)
{
    const char *text = inputs->cuda_cache_maxsize;
    uint64_t limit = PJ_CACHE_DEFAULT_LIMIT_BYTES;
    enum pj_cache_source source = PJ_CACHE_FROM_DEFAULT;
    if (inputs->manifest_max_size_bytes > 0) {
        limit = inputs->manifest_max_size_bytes;
        source = PJ_CACHE_FROM_MANIFEST;
    } else if (text) {
        source = PJ_CACHE_FROM_ENVIRONMENT;
        limit = strtoull(text, NULL, 10); /* as the driver: "-1" and too many digits are the largest number */
        if (limit < SMALLEST_LIMIT_BYTES)
            return limit_too_small(text, limit, err);
    }
    *ret_limit = limit;
    *ret_source = source;
    return 0;
}

int pj_cache_locate(const struct pj_cache_inputs *inputs, struct pj_cache_location *ret_location,
                    struct pj_error **err)
{
    if (is_disabled(inputs->cuda_cache_disable))
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "CUDA_CACHE_DISABLE is %s, so the driver neither reads nor writes the cache: "
                            "unset it, here and for the program",
                            inputs->cuda_cache_disable);
    struct pj_cache_location location = {.path = NULL};
    int r = find_limit(inputs, &location.limit_bytes, &location.limit_source, err);
    if (r < 0)
        return r;
    r = find_path(inputs, &location.path, &location.path_source, err);
    if (r < 0)
        return r;
    *ret_location = location;
    return 0;
}

void pj_cache_location_free(struct pj_cache_location *location)
{
    free(location->path);
    location->path = NULL;
}
