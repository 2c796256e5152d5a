/* SPDX-License-Identifier: Apache-2.0 */
/* Finds headers that NVRTC takes from the folders which prejit adds. */
#include <string.h>

#include "arch/nvrtc_options.h"
#include "session/prepare/private.h"

enum { DEPTH_MAX = 200, FOLDERS_MAX = 512 };

/* A folder of -I. */
struct folder {
    const char *path;
    size_t size;
    bool added; /* by prejit */
};

struct folders {
    struct folder items[FOLDERS_MAX];
    size_t count;
};

static void read_folders(const struct pj_making *making, size_t own_count, struct folders *ret_folders)
{
    const char *const *arguments = (const char *const *)making->arguments;
    struct pj_nvrtc_option option;
    ret_folders->count = 0;
    for (size_t at = 0; pj_nvrtc_option_next(arguments, making->argument_count, &at, &option);) {
        size_t size = option.value_size;
        if (option.kind != PJ_NVRTC_INCLUDE || size == 0 || ret_folders->count == FOLDERS_MAX)
            continue;
        while (size > 1 && option.value[size - 1] == '/')
            size--;
        ret_folders->items[ret_folders->count++] =
            (struct folder){.path = option.value, .size = size, .added = option.index >= own_count};
    }
}

/* The folder that the header lies in: the longest, because one added folder lies in the other, and of two
 * that are the same the first, because that is where NVRTC found it. NULL = none of them. */
static const struct folder *folder_of(const struct folders *folders, const char *header, size_t size)
{
    const struct folder *best = NULL;
    for (size_t i = 0; i < folders->count; i++) {
        const struct folder *folder = &folders->items[i];
        bool below = size > folder->size && memcmp(header, folder->path, folder->size) == 0 &&
                     header[folder->size] == '/';
        if (below && (!best || folder->size > best->size))
            best = folder;
    }
    return best;
}

int pj_prepare_hidden_header(const struct pj_making *making, size_t own_count, const char *list,
                             struct pj_arena *arena, const char **ret_note, struct pj_error **err)
{
    struct folders folders;
    bool hidden[DEPTH_MAX + 1] = {false}; /* by depth: the file there was taken from an added folder */
    const struct folder *first_folder = NULL;
    const char *first = NULL;
    size_t first_size = 0, others = 0;
    *ret_note = NULL;
    read_folders(making, own_count, &folders);
    for (const char *line = list; *line;) {
        size_t depth = strspn(line, " "), length = strcspn(line, "\n");
        const struct folder *folder =
            depth < length ? folder_of(&folders, line + depth, length - depth) : NULL;
        size_t at = depth < DEPTH_MAX ? depth : DEPTH_MAX - 1;
        hidden[at + 1] = folder && folder->added;
        if (hidden[at + 1] && !hidden[at]) {
            others += first != NULL;
            first_size = first ? first_size : length - depth;
            first_folder = first ? first_folder : folder;
            first = first ? first : line + depth;
        }
        line += length + (line[length] == '\n');
    }
    if (!first)
        return 0;
    const char *more = others > 0 ? pj_arena_printf(arena, " and %zu more", others) : "";
    *ret_note =
        more ? pj_arena_printf(
                   arena,
                   "%.*s%s came from %.*s, which the module's options do not name: a program with just "
                   "these options fails, or takes another file; if the program has that folder, add "
                   "-I%.*s to the module's nvrtc",
                   (int)(first_size - first_folder->size - 1), first + first_folder->size + 1, more,
                   (int)first_folder->size, first_folder->path, (int)first_folder->size, first_folder->path)
             : NULL;
    return *ret_note ? 0 : pj_error_no_memory(err);
}
