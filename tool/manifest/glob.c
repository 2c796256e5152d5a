/* SPDX-License-Identifier: Apache-2.0 */
/* glob(3) with exact order and unique names. */
#include "manifest/glob.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"

static bool is_here(const char *directory)
{
    return directory[0] == '\0' || strcmp(directory, ".") == 0;
}

const char *pj_glob_path(const char *directory, const char *path, struct pj_arena *arena)
{
    PJ_CLEANUP_FREE char *joined = pj_path_join(is_here(directory) ? "" : directory, path);
    return joined ? pj_arena_strdup(arena, joined) : NULL;
}

bool pj_glob_is_pattern(const char *path, const char *pattern)
{
    struct stat status;
    return strpbrk(pattern, "*?[") != NULL && lstat(path, &status) != 0;
}

static void escape(struct pj_buffer *buffer, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            pj_buffer_putc(buffer, '\\');
        pj_buffer_putc(buffer, *text);
    }
}

/* What glob(3) is asked for. Only the pattern's own characters are special, not those of the folder. */
static void build_pattern(const char *directory, const char *pattern, struct pj_buffer *ret_pattern)
{
    if (pattern[0] != '/' && !is_here(directory)) {
        escape(ret_pattern, directory, "\\*?[");
        if (directory[strlen(directory) - 1] != '/')
            pj_buffer_putc(ret_pattern, '/');
    }
    escape(ret_pattern, pattern, "\\");
}

/* Length of the part that all matches share: up to the last '/' before the pattern's first special character.
 */
static size_t fixed_length(const char *path, const char *pattern)
{
    size_t before = strlen(path) - strlen(pattern);
    size_t fixed = before;
    for (size_t i = 0; pattern[i] && !strchr("*?[", pattern[i]); i++) {
        if (pattern[i] == '/')
            fixed = before + i + 1;
    }
    return fixed;
}

/* A match while its name is looked for. */
struct candidate {
    const char *path;
    const char *name;
    const char *tail; /* the path behind what all share */
    size_t parts;     /* of the tail's end that the name has; beyond the tail's own count: with the suffix */
};

static size_t count_parts(const char *tail)
{
    size_t parts = 1;
    for (; *tail; tail++)
        parts += *tail == '/';
    return parts;
}

static const char *last_parts(const char *tail, size_t parts)
{
    const char *start = tail + strlen(tail);
    while (start > tail) {
        if (start[-1] == '/' && --parts == 0)
            break;
        start--;
    }
    return start;
}

static bool set_name(struct candidate *candidate, const char *module_name, struct pj_arena *arena)
{
    bool whole = candidate->parts > count_parts(candidate->tail);
    const char *part = last_parts(candidate->tail, candidate->parts);
    const char *file = strrchr(part, '/') ? strrchr(part, '/') + 1 : part;
    const char *dot = strrchr(file, '.');
    size_t length = !whole && dot && dot > file ? (size_t)(dot - part) : strlen(part);
    candidate->name = pj_arena_printf(arena, "%s/%.*s", module_name, (int)length, part);
    return candidate->name != NULL;
}

static int compare_names(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->path, b->path);
}

static int compare_paths(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return strcmp(a->path, b->path);
}

/* Gives one more part to every candidate whose name is not its own; true where there was such a one. */
static bool lengthen(struct candidate *candidates, size_t count)
{
    bool longer = false;
    qsort(candidates, count, sizeof *candidates, compare_names);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && strcmp(candidates[i].name, candidates[end].name) == 0)
            end++;
        for (size_t k = i; end - i > 1 && k < end; k++) {
            if (candidates[k].parts <= count_parts(candidates[k].tail)) {
                candidates[k].parts++;
                candidates[k].name = NULL;
                longer = true;
            }
        }
        i = end;
    }
    return longer;
}

static int name_all(struct candidate *candidates, size_t count, const char *module_name,
                    struct pj_arena *arena, struct pj_error **err)
{
    do {
        for (size_t i = 0; i < count; i++) {
            if (!candidates[i].name && !set_name(&candidates[i], module_name, arena))
                return pj_error_no_memory(err);
        }
    } while (lengthen(candidates, count));
    qsort(candidates, count, sizeof *candidates, compare_paths);
    return 0;
}

static int take_matches(const glob_t *found, size_t fixed, const char *module_name, struct pj_arena *arena,
                        struct pj_glob_match **ret_matches, struct pj_error **err)
{
    size_t count = found->gl_pathc;
    PJ_CLEANUP_FREE struct candidate *candidates = calloc(count, sizeof *candidates);
    struct pj_glob_match *matches = pj_arena_calloc(arena, count, sizeof *matches);
    if (!candidates || !matches)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const char *path = found->gl_pathv[i];
        size_t length = strlen(path);
        candidates[i].path = pj_arena_strdup(arena, path);
        if (!candidates[i].path)
            return pj_error_no_memory(err);
        candidates[i].tail = candidates[i].path + (fixed <= length ? fixed : 0);
        candidates[i].parts = 1;
    }
    int r = name_all(candidates, count, module_name, arena, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        matches[i] = (struct pj_glob_match){.path = candidates[i].path, .name = candidates[i].name};
    *ret_matches = matches;
    return 0;
}

int pj_glob_expand(const char *directory, const char *pattern, const char *module_name,
                   struct pj_arena *arena, struct pj_glob_match **ret_matches, size_t *ret_count,
                   struct pj_error **err)
{
    if (strstr(pattern, "**"))
        return pj_error_set(
            err, PJ_ERROR_MANIFEST,
            "read `%s`; `**` is not known: `*` matches within one folder, so write one pattern, "
            "and one module, for each depth (`*.ptx`, `*/*.ptx`)",
            pattern);
    const char *path = pj_glob_path(directory, pattern, arena);
    PJ_CLEANUP_BUFFER struct pj_buffer asked = {0};
    build_pattern(directory, pattern, &asked);
    if (!path || asked.failed)
        return pj_error_no_memory(err);
    glob_t found = {0};
    errno = 0;
    /* Unsorted, since glob(3) sorts by the locale; a folder that cannot be read is an error, since what it
     * holds would be dropped in silence. A folder among the matches is refused when it is opened: telling it
     * here would cost a stat of every file, in each run that finds nothing to do. */
    int status = glob(pj_buffer_text(&asked), GLOB_NOSORT | GLOB_ERR, NULL, &found);
    int r;
    if (status == 0)
        r = take_matches(&found, fixed_length(path, pattern), module_name, arena, ret_matches, err);
    else if (status == GLOB_NOSPACE)
        r = pj_error_no_memory(err);
    else if (status == GLOB_ABORTED && errno != ENOENT && errno != 0)
        r = pj_error_errno(err, PJ_ERROR_MANIFEST, errno, "cannot read a folder of the glob `%s`", path);
    else
        r = pj_error_set(err, PJ_ERROR_MANIFEST,
                         "no file matches `%s`: check the pattern, and whether the files are made by now",
                         path);
    if (r == 0)
        *ret_count = found.gl_pathc;
    globfree(&found);
    return r;
}
