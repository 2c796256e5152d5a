/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of its library a worker has mapped: they, not a search path, tell which library it was. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"
#include "job/worker_driver.h"

enum { MAPS_MAX_BYTES = 16 << 20 };

/* How the names of a library's files begin, the library itself first. */
static const char *const prefixes[PJ_LIBRARY_COUNT][3] = {
    [PJ_LIBRARY_DRIVER] = {"/libcuda.so", "/libcuda", "/libnvidia-"}, /* libcudadebugger is a helper */
    [PJ_LIBRARY_NVRTC] = {"/libnvrtc.so", "/libnvrtc", NULL},
    [PJ_LIBRARY_NVJITLINK] = {"/libnvJitLink.so", "/libnvJitLink", NULL},
};

static bool begins(const char *path, const char *prefix)
{
    const char *name = strrchr(path, '/');
    return name && prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_file_of(enum pj_wire_library library, const char *path)
{
    return begins(path, prefixes[library][1]) || begins(path, prefixes[library][2]);
}

static bool is_listed(const struct pj_wire_file *files, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(files[i].path, path) == 0)
            return true;
    }
    return false;
}

static int add_file(struct pj_arena *arena, const char *path, struct pj_wire_file *files, uint32_t *count,
                    struct pj_error **err)
{
    struct stat status;
    if (*count == PJ_WIRE_FILES_MAX || is_listed(files, *count, path) || stat(path, &status) != 0)
        return 0;
    struct pj_wire_file file = {
        .path = pj_arena_strdup(arena, path),
        .device = status.st_dev,
        .inode = status.st_ino,
        .size_bytes = (uint64_t)status.st_size,
        .mtime_seconds = status.st_mtim.tv_sec,
    };
    if (!file.path)
        return pj_error_no_memory(err);
    files[(*count)++] = file;
    return 0;
}

/* The library itself, by what its name begins with, or as `opened`: it may have any name. */
static bool is_itself(enum pj_wire_library library, const char *opened, const char *path)
{
    return begins(path, prefixes[library][0]) || (opened && strcmp(path, opened) == 0);
}

/* One pass over the lines of /proc/self/maps; `itself` chooses between the library and its helpers. */
static int add_matching(const char *maps, enum pj_wire_library library, const char *opened, bool itself,
                        struct pj_arena *arena, struct pj_wire_file *files, uint32_t *count,
                        struct pj_error **err)
{
    int r = 0;
    for (const char *line = maps; *line && r == 0;) {
        size_t length = strcspn(line, "\n");
        const char *path = memchr(line, '/', length);
        PJ_CLEANUP_FREE char *copy = path ? strndup(path, length - (size_t)(path - line)) : NULL;
        if (path && !copy)
            return pj_error_no_memory(err);
        if (copy && (itself || is_file_of(library, copy)) && is_itself(library, opened, copy) == itself)
            r = add_file(arena, copy, files, count, err);
        line += length + (line[length] == '\n');
    }
    return r;
}

int pj_worker_list_files(enum pj_wire_library library, const char *opened, struct pj_arena *arena,
                         struct pj_wire_file **ret_files, uint32_t *ret_count, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer maps = {0};
    struct pj_wire_file *files = pj_arena_calloc(arena, PJ_WIRE_FILES_MAX, sizeof *files);
    uint32_t count = 0;
    if (!files)
        return pj_error_no_memory(err);
    int r = pj_file_read_special(AT_FDCWD, "/proc/self/maps", MAPS_MAX_BYTES, &maps, err);
    /* The library first, because readers take the driver's version from the first name. */
    if (r == 0)
        r = add_matching(pj_buffer_text(&maps), library, opened, true, arena, files, &count, err);
    if (r == 0)
        r = add_matching(pj_buffer_text(&maps), library, opened, false, arena, files, &count, err);
    if (r < 0)
        return r;
    *ret_files = files;
    *ret_count = count;
    return 0;
}
