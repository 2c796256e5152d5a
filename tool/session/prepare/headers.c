/* SPDX-License-Identifier: Apache-2.0 */
/* From NVRTC's list of includes to files with digests. */
#include "session/prepare/headers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define HEADER_MAX_BYTES (UINT64_C(1) << 28)

struct names {
    char **items;
    size_t count, capacity;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* Such a name is found in memory before any folder is looked into. */
static bool is_in_memory(const struct pj_module *module, const char *name)
{
    for (size_t i = 0; i < module->header_count; i++) {
        if (strcmp(module->headers[i].name, name) == 0)
            return true;
    }
    return false;
}

static int add_line(const struct pj_source *source, const char *line, size_t length, const char *directory,
                    struct names *names, struct pj_error **err)
{
    while (length > 0 && *line == ' ') {
        line++;
        length--;
    }
    PJ_CLEANUP_FREE char *name = strndup(line, length);
    if (!name)
        return pj_error_no_memory(err);
    if (length == 0 || is_in_memory(source->module, name))
        return 0;
    char *path = strcmp(directory, ".") == 0 ? PJ_STEAL(name) : pj_path_join(directory, name);
    char **slot = path ? PJ_ARRAY_PUSH(names) : NULL;
    if (!slot) {
        free(path);
        return pj_error_no_memory(err);
    }
    *slot = path;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(const struct pj_source *source, const char *list, const char *directory,
                      struct names *names, struct pj_error **err)
{
    for (const char *line = list; *line;) {
        size_t length = strcspn(line, "\n");
        int r = add_line(source, line, length, directory, names, err);
        if (r < 0)
            return r;
        line += length + (line[length] == '\n');
    }
    if (names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return 0;
}

/* False where it cannot be read. */
static int read_file(const char *path, struct pj_buffer *bytes, struct pj_plan_file *file, bool *ret_is_file,
                     struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    pj_buffer_reset(bytes);
    int r = pj_file_open_regular(AT_FDCWD, path, &fd, &file->status, &problem);
    if (r == 0)
        r = pj_file_read_fd(fd, path, HEADER_MAX_BYTES, bytes, &problem);
    /* Its times once more: it may have changed between being opened and being read. */
    *ret_is_file = r == 0 && fstat(fd, &file->status) == 0;
    if (r == 0)
        pj_sha256_of(pj_buffer_text(bytes), bytes->size, &file->sha256);
    return r == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
}

static bool is_own(const struct pj_plan_file *files, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(files[i].path, path) == 0)
            return true;
    }
    return false;
}

/* NVRTC lists what is built into it as well [55]. */
static bool is_built_in(const char *path)
{
    static const char prefix[] = "__nv_";
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, prefix, sizeof prefix - 1) == 0;
}

/* What NVRTC read may be other bytes than those that were read here afterwards. No time but ctime tells: the
 * others can be set. */
bool pj_headers_changed(const struct pj_plan_file *file, const struct timespec *begin)
{
    const struct timespec *time = &file->status.st_ctim;
    return time->tv_sec > begin->tv_sec || (time->tv_sec == begin->tv_sec && time->tv_nsec >= begin->tv_nsec);
}

/* Keeps the first doubt. */
static int doubt(const char **reason, const char *path, const char *what, struct pj_arena *arena,
                 struct pj_error **err)
{
    if (!*reason)
        *reason = pj_arena_printf(arena, "NVRTC read the header %s, which %s", path, what);
    return *reason ? 0 : pj_error_no_memory(err);
}

static int add_headers(const struct names *names, const struct timespec *begin, struct pj_arena *arena,
                       struct pj_plan_file *files, size_t own, size_t *ret_count, const char **ret_doubt,
                       struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    for (size_t i = 0; i < names->count; i++) {
        struct pj_plan_file *file = &files[*ret_count];
        bool is_file = false;
        if (is_own(files, own, names->items[i]) ||
            (i > 0 && strcmp(names->items[i], names->items[i - 1]) == 0))
            continue;
        int r = read_file(names->items[i], &bytes, file, &is_file, err);
        if (r < 0)
            return r;
        if (!is_file && !is_built_in(names->items[i]))
            r = doubt(ret_doubt, names->items[i], "cannot be read", arena, err);
        else if (is_file && begin && pj_headers_changed(file, begin))
            r = doubt(ret_doubt, names->items[i], "was changed meanwhile", arena, err);
        if (r < 0)
            return r;
        if (!is_file)
            continue;
        file->path = pj_arena_strdup(arena, names->items[i]);
        if (!file->path)
            return pj_error_no_memory(err);
        (*ret_count)++;
    }
    return 0;
}

int pj_headers_files(const struct pj_source *source, const char *list, const char *directory,
                     const struct timespec *begin, struct pj_arena *arena, struct pj_plan_file **ret_files,
                     size_t *ret_count, const char **ret_doubt, struct pj_error **err)
{
    struct names names = {0};
    size_t own = pj_plan_file_count(source->module), count = own;
    int r = read_names(source, list, directory, &names, err);
    struct pj_plan_file *files = NULL;
    *ret_doubt = NULL;
    if (r == 0) {
        files = pj_arena_calloc(arena, own + names.count, sizeof *files);
        r = files ? 0 : pj_error_no_memory(err);
    }
    for (size_t i = 0; i < own && r == 0; i++)
        files[i] = (struct pj_plan_file){.path = source->images[i]->path,
                                         .status = source->images[i]->status,
                                         .sha256 = source->images[i]->sha256,
                                         .named = true};
    if (r == 0)
        r = add_headers(&names, begin, arena, files, own, &count, ret_doubt, err);
    free_names(&names);
    if (r == 0) {
        *ret_files = files;
        *ret_count = count;
    }
    return r;
}
