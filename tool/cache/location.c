/* SPDX-License-Identifier: Apache-2.0 */
/* Decides where the cache is and how large it may be, by the driver's own rule. */
#include "cache/location.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/setting.h"
#include "base/way.h"

/* The driver reads both settings as C's strtol does: blanks before the number, anything behind it, a word is
 * 0. Exactly 1 disables; 2, -1 and "true" do not [cache-model 39]. */
static bool is_disabled(const char *value)
{
    return value && strtol(value, NULL, 10) == 1;
}

/* A directory called `~` or `$HOME` is what nobody wants. */
static int refuse_literal(const char *path, bool is_option, const char *home, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *meant = pj_setting_written_out(path, home);
    const char *written = meant ? meant : "/var/cache/nv";
    if (is_option)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--cache is \"%s\", which nobody expands: write the path out: --cache %s", path,
                            written);
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "CUDA_CACHE_PATH is \"%s\", which nobody expands, so the driver makes a directory of "
                        "that name: write the path out: CUDA_CACHE_PATH=%s",
                        path, written);
}

/* Under whatever name: a link to it, too. */
static bool is_root_directory(const char *path)
{
    struct stat root, status;
    return strcmp(path, "/") == 0 || (stat("/", &root) == 0 && stat(path, &status) == 0 &&
                                      root.st_dev == status.st_dev && root.st_ino == status.st_ino);
}

/* A cache's folders are called 0 to f, and are not told from others there. */
static int refuse_root_directory(const char *path, enum pj_cache_source source, struct pj_error **err)
{
    if (source == PJ_CACHE_FROM_OPTION)
        return pj_error_set(
            err, PJ_ERROR_USAGE,
            "--cache is \"%s\", the root directory, which would be strewn with the cache's folders "
            "0 to f and its index: name a directory for the cache alone: --cache /var/cache/nv",
            path);
    if (source == PJ_CACHE_FROM_MANIFEST)
        return pj_error_set(
            err, PJ_ERROR_MANIFEST,
            "cache.path of the manifest is \"%s\", the root directory, which would be strewn with "
            "the cache's folders 0 to f and its index: name a directory for the cache alone, like "
            "/var/cache/nv",
            path);
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "CUDA_CACHE_PATH is \"%s\", the root directory, which would be strewn with the cache's "
        "folders 0 to f and its index: set it to a directory for the cache alone, here and for the "
        "program: CUDA_CACHE_PATH=/var/cache/nv",
        path);
}

static bool has_dots(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/..")) != NULL; at++) {
        if (at[3] == '/' || at[3] == '\0')
            return true;
    }
    return false;
}

/* The longest beginning of `path` that is there, resolved; the rest begins at *ret_rest. NULL when memory is
 * out. */
static char *resolve_beginning(const char *path, const char **ret_rest)
{
    size_t length = strlen(path);
    PJ_CLEANUP_FREE char *beginning = strdup(path);
    while (beginning) {
        char *real = realpath(length > 0 ? beginning : "/", NULL);
        if (real)
            *ret_rest = path + length;
        if (real || errno == ENOMEM || length == 0)
            return real;
        do
            beginning[--length] = '\0';
        while (path[length] != '/');
    }
    return NULL;
}

/* Can others exchange a part of the path, while it is resolved for root? */
static int is_unsafe(const char *path, bool *ret_unsafe, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    int r = geteuid() == 0 ? pj_way_walk("", path, PJ_WAY_TO_PARENT, &way, err) : 0;
    *ret_unsafe = way.fault != PJ_WAY_CLOSED;
    return r;
}

/* "a/../b" resolved as far as it is there, since people copy what they are shown. What is not there yet stays
 * as it is; so does a way that root will refuse. */
static int resolve_dots(char **path, struct pj_error **err)
{
    bool unsafe = false;
    if (!has_dots(*path))
        return 0;
    int r = is_unsafe(*path, &unsafe, err);
    if (r < 0 || unsafe)
        return r;
    const char *rest;
    PJ_CLEANUP_FREE char *real = resolve_beginning(*path, &rest);
    if (!real)
        return pj_error_no_memory(err);
    if (has_dots(rest))
        return 0;
    rest += *rest == '/';
    char *resolved = *rest ? pj_path_join(real, rest) : PJ_STEAL(real);
    if (!resolved)
        return pj_error_no_memory(err);
    free(*path);
    *path = resolved;
    return 0;
}

static int make_absolute(const char *path, char **ret_path, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *absolute = NULL;
    int r = pj_path_absolute(path, &absolute, err);
    if (r == 0)
        r = resolve_dots(&absolute, err);
    if (r == 0)
        *ret_path = PJ_STEAL(absolute);
    return r;
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
    bool may_be_literal =
        source == PJ_CACHE_FROM_OPTION || (source == PJ_CACHE_FROM_ENVIRONMENT && !inputs->any_path);
    if (path && may_be_literal && pj_setting_is_literal(path))
        return refuse_literal(path, source == PJ_CACHE_FROM_OPTION, inputs->home, err);
    *ret_source = source;
    if (path) {
        PJ_CLEANUP_FREE char *absolute = NULL;
        int r = make_absolute(path, &absolute, err);
        if (r == 0 && !(source == PJ_CACHE_FROM_ENVIRONMENT && inputs->any_path) &&
            is_root_directory(absolute))
            r = refuse_root_directory(absolute, source, err);
        if (r == 0)
            *ret_path = PJ_STEAL(absolute);
        return r;
    }
    if (!inputs->home || inputs->home[0] == '\0')
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "neither CUDA_CACHE_PATH nor HOME is set, so the driver keeps no cache at all: "
                            "set CUDA_CACHE_PATH to a directory, here and for the program");
    PJ_CLEANUP_FREE char *below = pj_path_join(inputs->home, ".nv/ComputeCache");
    if (!below)
        return pj_error_no_memory(err);
    *ret_source = PJ_CACHE_FROM_DEFAULT;
    return make_absolute(below, ret_path, err);
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
        struct pj_size_setting size = pj_setting_size(text);
        limit = size.read_bytes;
        if (size.reading == PJ_SIZE_NOTHING)
            return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                                "CUDA_CACHE_MAXSIZE is \"%s\", which the driver reads as %" PRIu64
                                " byte%s, so it stores nothing: set CUDA_CACHE_MAXSIZE=%" PRIu64
                                " or unset it",
                                text, limit, limit == 1 ? "" : "s", size.meant_bytes);
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
