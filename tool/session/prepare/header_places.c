/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through NVRTC's list of includes with the folders that each could have come from. */
#include "session/prepare/header_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/nvrtc_options.h"
#include "base/file.h"

enum { DEPTH_MAX = 200, PLACES_MAX = 4000 };

/* Part of a text. */
struct span {
    const char *text;
    size_t size;
};

struct places {
    const char *directory;
    struct span *folders; /* -I, in order; the last one is the toolkit's, where there is one */
    size_t folder_count;
    struct span includers[DEPTH_MAX + 1]; /* folder of who includes at each depth */
    char **items;
    size_t count, capacity;
};

static struct span folder_of(const char *name, size_t size)
{
    while (size > 0 && name[size - 1] != '/')
        size--;
    return (struct span){.text = name, .size = size > 1 ? size - 1 : size};
}

static int read_folders(const struct pj_making *making, struct places *places, struct pj_error **err)
{
    const char *const *arguments = (const char *const *)making->arguments;
    struct pj_nvrtc_option option;
    places->folders = calloc(making->argument_count + 1, sizeof *places->folders);
    if (!places->folders)
        return pj_error_no_memory(err);
    for (size_t index = 0; pj_nvrtc_option_next(arguments, making->argument_count, &index, &option);) {
        struct span folder = {.text = option.value, .size = option.value_size};
        while (folder.size > 1 && folder.text[folder.size - 1] == '/')
            folder.size--;
        if (option.kind == PJ_NVRTC_INCLUDE && folder.size > 0)
            places->folders[places->folder_count++] = folder;
    }
    return 0;
}

/* What is left of `name` below `folder`; NULL where it is not below. An empty folder is where NVRTC runs. */
static const char *below(const struct span *folder, const char *name)
{
    if (folder->size == 0)
        return name[0] == '/' ? NULL : name;
    bool is = strncmp(name, folder->text, folder->size) == 0 && name[folder->size] == '/';
    return is ? name + folder->size + 1 : NULL;
}

static int add_place(struct places *places, const struct span *folder, const char *rest,
                     struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (places->count == PLACES_MAX)
        return 0;
    pj_buffer_printf(&text, "%.*s%s%s", (int)folder->size, folder->text, folder->size ? "/" : "", rest);
    int r = pj_buffer_check(&text, err);
    if (r < 0)
        return r;
    char *path = strcmp(places->directory, ".") == 0 ? strdup(pj_buffer_text(&text))
                                                     : pj_path_join(places->directory, pj_buffer_text(&text));
    if (!path)
        return pj_error_no_memory(err);
    /* Anything else than nothing was passed over as it is. */
    bool empty = stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
    char **slot = empty ? PJ_ARRAY_PUSH(places) : NULL;
    if (slot)
        *slot = path;
    else
        free(path);
    return empty && !slot ? pj_error_no_memory(err) : 0;
}

/* The folder number `index` in the order of the search. */
static const struct span *folder_at(const struct places *places, const struct span *includer, size_t index)
{
    return index == 0 ? includer : &places->folders[index - 1];
}

static bool same_folder(const struct span *a, const struct span *b)
{
    return a->size == b->size && strncmp(a->text, b->text, a->size) == 0;
}

/* All folders that the header can have come from, and those before each. */
static int add_header(struct places *places, const struct span *includer, const char *name,
                      struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i <= places->folder_count; i++) {
        const struct span *own = folder_at(places, includer, i);
        const char *rest = below(own, name);
        for (size_t k = 0; rest && k < i && r == 0; k++) {
            const struct span *before = folder_at(places, includer, k);
            r = same_folder(before, own) ? 0 : add_place(places, before, rest, err);
        }
    }
    return r;
}

static bool is_in_toolkit(const struct places *places, const struct span *folder)
{
    const struct span *toolkit = places->folder_count ? &places->folders[places->folder_count - 1] : NULL;
    return toolkit && toolkit->text[0] == '/' && folder->size >= toolkit->size &&
           strncmp(folder->text, toolkit->text, toolkit->size) == 0;
}

/* One line of the list, without its blanks. */
static int add_line(struct places *places, size_t depth, const char *text, size_t size, struct pj_error **err)
{
    const struct span *includer = &places->includers[depth];
    char *name = strndup(text, size);
    if (!name)
        return pj_error_no_memory(err);
    int r = is_in_toolkit(places, includer) ? 0 : add_header(places, includer, name, err);
    free(name);
    places->includers[depth + 1] = folder_of(text, size);
    return r;
}

static int read_list(struct places *places, const struct pj_making *making, const char *list,
                     struct pj_error **err)
{
    const char *program = making->name ? making->name : "";
    int r = 0;
    places->includers[0] = folder_of(program, strlen(program));
    for (const char *line = list; *line && r == 0;) {
        size_t depth = strspn(line, " "), length = strcspn(line, "\n");
        if (depth < DEPTH_MAX && depth < length)
            r = add_line(places, depth, line + depth, length - depth, err);
        line += length + (line[length] == '\n');
    }
    return r;
}

static int compare_places(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int append(struct places *places, struct pj_arena *arena, struct pj_plan_file **files, size_t *count,
                  struct pj_error **err)
{
    struct pj_plan_file *all = pj_arena_calloc(arena, *count + places->count + 1, sizeof *all);
    size_t used = *count;
    if (!all)
        return pj_error_no_memory(err);
    if (used > 0)
        memcpy(all, *files, used * sizeof *all);
    if (places->count > 1)
        qsort(places->items, places->count, sizeof *places->items, compare_places);
    for (size_t i = 0; i < places->count; i++) {
        if (i > 0 && strcmp(places->items[i], places->items[i - 1]) == 0)
            continue;
        all[used].path = pj_arena_strdup(arena, places->items[i]);
        all[used].absent = true;
        if (!all[used++].path)
            return pj_error_no_memory(err);
    }
    *files = all;
    *count = used;
    return 0;
}

int pj_header_places_add(const struct pj_making *making, const char *list, const char *directory,
                         struct pj_arena *arena, struct pj_plan_file **files, size_t *count,
                         struct pj_error **err)
{
    struct places places = {.directory = directory};
    int r = read_folders(making, &places, err);
    if (r == 0)
        r = read_list(&places, making, list, err);
    if (r == 0)
        r = append(&places, arena, files, count, err);
    for (size_t i = 0; i < places.count; i++)
        free(places.items[i]);
    free(places.items);
    free(places.folders);
    return r;
}
