/* SPDX-License-Identifier: Apache-2.0 */
/* Looks through folders for names that are alike. */
#include "base/nearby.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum { NAMES_MAX = 2000, FOLDERS_MAX = 100, LOOK_BYTES = 64 * 1024 };

struct names {
    struct pj_arena arena;
    const char *items[NAMES_MAX];
    size_t count;
};

/* The names in `folder` of folders, or of regular files; none where it cannot be read. False when memory is
 * out. */
static bool read_names(const char *folder, bool folders, struct names *names)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool has_memory = true;
    if (!directory)
        return errno != ENOMEM;
    while (names->count < NAMES_MAX && (entry = readdir(directory)) != NULL) {
        struct stat status;
        if (entry->d_name[0] == '.' || fstatat(dirfd(directory), entry->d_name, &status, 0) != 0 ||
            (folders ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode)))
            continue;
        names->items[names->count] = pj_arena_strdup(&names->arena, entry->d_name);
        has_memory = names->items[names->count] != NULL;
        if (!has_memory)
            break;
        names->count++;
    }
    (void)closedir(directory);
    return has_memory;
}

static void free_names(struct names **names)
{
    if (*names)
        pj_arena_free(&(*names)->arena);
    free(*names);
}

#define CLEANUP_NAMES __attribute__((cleanup(free_names)))

/* As read_names; NULL when memory is out, of which `buffer` keeps a note. */
static struct names *names_of(const char *folder, bool folders, struct pj_buffer *buffer)
{
    struct names *names = calloc(1, sizeof *names);
    if (names && !read_names(folder, folders, names))
        free_names(&names), names = NULL;
    buffer->failed |= !names;
    return names;
}

static const char *extension_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? dot : name + strlen(name);
}

static bool is_yaml(const char *extension)
{
    return strcasecmp(extension, ".yaml") == 0 || strcasecmp(extension, ".yml") == 0;
}

/* Have both the same digits in the same order? */
static bool same_digits(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    for (;;) {
        a += strcspn(a, digits);
        b += strcspn(b, digits);
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

static bool is_alike(const char *name, const char *candidate)
{
    const char *a = extension_of(name), *b = extension_of(candidate);
    size_t a_length = (size_t)(a - name), b_length = (size_t)(b - candidate);
    if ((strcasecmp(a, b) != 0 && !(is_yaml(a) && is_yaml(b))) || !same_digits(name, candidate))
        return false;
    if (a_length == b_length && strncasecmp(name, candidate, a_length) == 0)
        return true;
    return a_length >= 5 && strcmp(a, b) == 0 && pj_text_suggest(name, &candidate, 1) != NULL;
}

static void put_path(const char *folder, const char *name, struct pj_buffer *ret_path)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(strcmp(folder, ".") == 0 ? "" : folder, name);
    if (path)
        pj_buffer_puts(ret_path, path);
    else
        ret_path->failed = true;
}

static bool find_alike(const char *folder, const char *name, struct pj_buffer *ret_path)
{
    CLEANUP_NAMES struct names *names = names_of(folder, false, ret_path);
    if (!names)
        return false;
    const char *best = NULL;
    for (size_t i = 0; i < names->count; i++) {
        const char *candidate = names->items[i];
        bool closer = !best || (strcasecmp(candidate, name) == 0 && strcasecmp(best, name) != 0) ||
                      (strcasecmp(best, name) != 0 && strcmp(candidate, best) < 0);
        if (is_alike(name, candidate) && closer)
            best = candidate;
    }
    if (best)
        put_path(folder, best, ret_path);
    return best != NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same name in a folder below. */
static bool find_below(const char *folder, const char *name, struct pj_buffer *ret_path)
{
    CLEANUP_NAMES struct names *folders = names_of(folder, true, ret_path);
    if (!folders)
        return false;
    qsort(folders->items, folders->count, sizeof *folders->items, compare_names);
    for (size_t i = 0; i < folders->count && i < FOLDERS_MAX; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
        struct stat status;
        put_path(folder, folders->items[i], &path);
        pj_buffer_printf(&path, "/%s", name);
        ret_path->failed |= path.failed;
        if (path.failed || stat(pj_buffer_text(&path), &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        pj_buffer_puts(ret_path, pj_buffer_text(&path));
        return true;
    }
    return false;
}

bool pj_nearby_file(const char *path, struct pj_buffer *ret_path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct stat status;
    PJ_CLEANUP_FREE char *folder =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    ret_path->failed |= !folder;
    if (!folder || *name == '\0')
        return false;
    if (stat(folder, &status) != 0) { /* the folder is what is wrong */
        char *above = strrchr(folder, '/');
        *(above ? above : folder) = '\0';
        const char *parent = *folder ? folder : above ? "/" : ".";
        return find_alike(parent, name, ret_path) || find_below(parent, name, ret_path);
    }
    return find_alike(folder, name, ret_path) || find_below(folder, name, ret_path);
}

static bool has_modules(const char *path, bool *failed)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct stat status;
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = pj_file_open_regular(AT_FDCWD, path, &fd, &status, NULL);
    *failed |= r == PJ_ERROR_NO_MEMORY;
    if (r < 0)
        return false;
    size_t size = status.st_size < LOOK_BYTES ? (size_t)status.st_size : LOOK_BYTES;
    char *room = pj_buffer_reserve(&bytes, size + 1);
    *failed |= !room;
    if (!room || pj_file_pread(fd, path, room, size, 0, NULL) < 0)
        return false;
    room[size] = '\0';
    return strncmp(room, "modules:", 8) == 0 || strstr(room, "\nmodules:") != NULL;
}

bool pj_nearby_manifest(const char *folder, struct pj_buffer *ret_path)
{
    static const char *const usual[] = {"prejit.yaml", "prejit.yml", "app.yaml", "app.yml"};
    CLEANUP_NAMES struct names *names = names_of(folder, false, ret_path);
    PJ_CLEANUP_BUFFER struct pj_buffer only = {0};
    size_t found = 0;
    if (!names)
        return false;
    for (size_t i = 0; i < PJ_COUNT(usual); i++) {
        for (size_t k = 0; k < names->count; k++) {
            if (strcmp(names->items[k], usual[i]) == 0) {
                put_path(folder, usual[i], ret_path);
                return true;
            }
        }
    }
    for (size_t i = 0; i < names->count && found < 2; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
        put_path(folder, names->items[i], &path);
        ret_path->failed |= path.failed;
        if (!is_yaml(extension_of(names->items[i])) || path.failed ||
            !has_modules(pj_buffer_text(&path), &ret_path->failed))
            continue;
        pj_buffer_reset(&only);
        pj_buffer_puts(&only, pj_buffer_text(&path));
        found++;
    }
    ret_path->failed |= only.failed;
    if (found == 1)
        pj_buffer_puts(ret_path, pj_buffer_text(&only));
    return found == 1;
}
