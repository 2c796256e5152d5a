/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's search, from its configuration: LD_LIBRARY_PATH, ld.so.conf, default folders. */
#include "host/library.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

enum { INCLUDE_DEPTH_MAX = 4 };

static const char *const default_folders[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

static int add_folder(struct pj_library_search *search, const char *prefix, const char *path, size_t size,
                      struct pj_error **err)
{
    while (size > 1 && path[size - 1] == '/')
        size--;
    if (size == 0)
        return 0;
    struct pj_library_folder folder = {
        .prefix = pj_arena_strdup(&search->arena, prefix),
        .path = pj_arena_strndup(&search->arena, path, size),
    };
    struct pj_library_folder *added = folder.path && folder.prefix ? PJ_ARRAY_PUSH(&search->folders) : NULL;
    if (!added)
        return pj_error_no_memory(err);
    *added = folder;
    return 0;
}

static int add_configuration(struct pj_library_search *search, const char *prefix, const char *path,
                             unsigned depth, struct pj_error **err);

/* "include PATTERN", relative to /etc. */
static int include(struct pj_library_search *search, const char *prefix, const char *pattern, unsigned depth,
                   struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer full = {0};
    glob_t matches = {0};
    pj_buffer_printf(&full, "%s%s%s", prefix, pattern[0] == '/' ? "" : "/etc/", pattern);
    if (full.failed)
        return pj_error_no_memory(err);
    int problem = glob(full.data, 0, NULL, &matches);
    int r = problem == GLOB_NOSPACE ? pj_error_no_memory(err) : 0;
    for (size_t i = 0; problem == 0 && r == 0 && i < matches.gl_pathc; i++)
        r = add_configuration(search, prefix, matches.gl_pathv[i], depth + 1, err);
    globfree(&matches);
    return r;
}

/* `path` is the caller's, prefix and all. */
static int add_configuration(struct pj_library_search *search, const char *prefix, const char *path,
                             unsigned depth, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (depth > INCLUDE_DEPTH_MAX)
        return 0;
    if (pj_file_read(AT_FDCWD, path, 1 << 20, &text, &problem) < 0)
        return pj_error_code(problem) == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    char *rest = text.data;
    int r = 0;
    for (char *line; r == 0 && (line = strsep(&rest, "\n")) != NULL;) {
        line[strcspn(line, "#\r")] = '\0';
        line += strspn(line, " \t");
        size_t size = strcspn(line, " \t");
        if (size == 7 && strncmp(line, "include", 7) == 0) {
            char *pattern = line + 7 + strspn(line + 7, " \t");
            pattern[strcspn(pattern, " \t")] = '\0';
            r = include(search, prefix, pattern, depth, err);
        } else if (line[0] == '/') {
            r = add_folder(search, prefix, line, size, err);
        }
    }
    return r;
}

static int add_library_path(struct pj_library_search *search, const struct pj_program *program,
                            struct pj_error **err)
{
    const char *list = pj_program_variable(program, "LD_LIBRARY_PATH");
    int r = 0;
    while (list && *list && r == 0) {
        size_t size = strcspn(list, ":;");
        if (list[0] == '/')
            r = add_folder(search, program->root, list, size, err);
        list += size + (list[size] != '\0');
    }
    return r;
}

int pj_library_search_make(const struct pj_host_root *root, const struct pj_program *program,
                           const char *driver, struct pj_library_search *ret_search, struct pj_error **err)
{
    struct pj_library_search search = {.folders = {0}};
    const char *prefix = program->root[0] ? program->root : root->prefix;
    const char *slash = driver ? strrchr(driver, '/') : NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    int r = slash ? add_folder(&search, "", driver, slash == driver ? 1 : (size_t)(slash - driver), err) : 0;
    if (r == 0)
        r = add_library_path(&search, program, err);
    pj_buffer_printf(&path, "%s/etc/ld.so.conf", prefix);
    if (r == 0)
        r = pj_buffer_check(&path, err);
    if (r == 0)
        r = add_configuration(&search, prefix, path.data, 0, err);
    for (size_t i = 0; i < PJ_COUNT(default_folders) && r == 0; i++)
        r = add_folder(&search, prefix, default_folders[i], strlen(default_folders[i]), err);
    if (r < 0) {
        pj_library_search_free(&search);
        return r;
    }
    *ret_search = search;
    return 0;
}

/* "580.159.04" of "libcuda.so.580.159.04"; NULL where the name ends otherwise. */
static const char *version_of(struct pj_arena *arena, const char *file, bool *ret_failed)
{
    const char *slash = strrchr(file, '/');
    const char *mark = strstr(slash ? slash : file, ".so.");
    const char *version = mark ? mark + 4 : NULL;
    if (!version || !strchr(version, '.') || strspn(version, "0123456789.") != strlen(version))
        return NULL;
    char *copy = pj_arena_strdup(arena, version);
    *ret_failed |= !copy;
    return copy;
}

int pj_library_at(struct pj_library_search *search, const struct pj_library_folder *folder, const char *name,
                  struct pj_library *ret_library, bool *ret_found, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer full = {0};
    struct stat status;
    bool failed = false;
    pj_buffer_printf(&full, "%s%s/%s", folder->prefix, folder->path, name);
    if (full.failed)
        return pj_error_no_memory(err);
    *ret_found = false;
    if (stat(full.data, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    PJ_CLEANUP_FREE char *target = realpath(full.data, NULL);
    if (!target && errno == ENOMEM)
        return pj_error_no_memory(err);
    struct pj_library library = {
        .path = pj_arena_printf(&search->arena, "%s/%s", folder->path, name),
        .folder = folder->path,
        .real = pj_arena_strdup(&search->arena, target ? target : full.data),
        .version = version_of(&search->arena, target ? target : full.data, &failed),
    };
    if (!library.path || !library.real || failed)
        return pj_error_no_memory(err);
    *ret_library = library;
    *ret_found = true;
    return 0;
}

int pj_library_find(struct pj_library_search *search, const char *name, struct pj_library *ret_library,
                    bool *ret_found, struct pj_error **err)
{
    int r = 0;
    *ret_found = false;
    for (size_t i = 0; i < search->folders.count && r == 0 && !*ret_found; i++)
        r = pj_library_at(search, &search->folders.items[i], name, ret_library, ret_found, err);
    return r;
}

void pj_library_search_free(struct pj_library_search *search)
{
    free(search->folders.items);
    pj_arena_free(&search->arena);
    *search = (struct pj_library_search){0};
}
