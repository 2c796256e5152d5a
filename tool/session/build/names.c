/* SPDX-License-Identifier: Apache-2.0 */
/* The names of what build writes, as its modules' names make them. */
#include <stdlib.h>
#include <string.h>

#include "session/build/private.h"

static int compare_outputs(const void *a, const void *b)
{
    return strcmp(((const struct pj_build_output *)a)->path, ((const struct pj_build_output *)b)->path);
}

int pj_build_outputs(struct pj_build *build, struct pj_build_output **ret_outputs, size_t *ret_count,
                     struct pj_error **err)
{
    static const char *const endings[] = {"cubin", "ptx"};
    struct pj_build_output *outputs =
        pj_arena_calloc(&build->arena, build->count * PJ_COUNT(endings) + 1, sizeof *outputs);
    size_t count = 0;
    if (!outputs)
        return pj_error_no_memory(err);
    outputs[count++] = (struct pj_build_output){.path = PJ_BUILD_INDEX};
    for (size_t i = 0; i < build->count; i++) {
        const struct pj_build_work *work = &build->works[i];
        for (size_t k = 0; k < PJ_COUNT(endings); k++) {
            outputs[count] = (struct pj_build_output){
                .path = pj_arena_printf(&build->arena, "%s.%s.%s", work->unit->module, work->unit->target,
                                        endings[k]),
                .work = work,
            };
            if (!outputs[count++].path)
                return pj_error_no_memory(err);
        }
    }
    qsort(outputs, count, sizeof *outputs, compare_outputs);
    *ret_outputs = outputs;
    *ret_count = count;
    return 0;
}

const struct pj_build_output *pj_build_find_output(const struct pj_build_output *outputs, size_t count,
                                                   const char *path)
{
    const struct pj_build_output wanted = {.path = path};
    return bsearch(&wanted, outputs, count, sizeof *outputs, compare_outputs);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int pj_build_folders(struct pj_build *build, const char ***ret_folders, size_t *ret_count,
                     struct pj_error **err)
{
    const struct pj_manifest *manifest = build->manifest;
    size_t named = manifest->module_count + 1, count = 0;
    const char **folders = pj_arena_calloc(&build->arena, named, sizeof *folders);
    if (!folders)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < named; i++) {
        const char *name = i == 0 ? PJ_BUILD_INDEX : manifest->modules[i - 1].name;
        const char *slash = strrchr(name, '/');
        folders[i] = pj_arena_strndup(&build->arena, name, slash ? (size_t)(slash + 1 - name) : 0);
        if (!folders[i])
            return pj_error_no_memory(err);
    }
    qsort(folders, named, sizeof *folders, compare_texts);
    for (size_t i = 0; i < named; i++) {
        if (count == 0 || strcmp(folders[count - 1], folders[i]) != 0)
            folders[count++] = folders[i];
    }
    *ret_folders = folders;
    *ret_count = count;
    return 0;
}

/* A path outside of the folder is nothing to write to. */
static int check_parts(const char *name, struct pj_error **err)
{
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "/");
        bool dots = length <= 2 && strncmp(part, "..", length) == 0; /* "", "." and ".." */
        if (dots)
            return pj_error_set(
                err, PJ_ERROR_MANIFEST,
                "module '%s': build makes the name of a file from its name, and that would lie elsewhere: "
                "rename it, without empty parts, `.` and `..` between slashes",
                name);
        part += length;
        if (*part == '\0')
            return 0;
    }
}

static int refuse_folder(const char *name, const struct pj_build_output *output, struct pj_error **err)
{
    if (!output->work)
        return pj_error_set(err, PJ_ERROR_MANIFEST,
                            "module '%s': build makes the name of a file from its name, and %s, where it "
                            "says what it built, would be a folder: rename it",
                            name, output->path);
    return pj_error_set(err, PJ_ERROR_MANIFEST,
                        "modules '%s' and '%s': build makes the names of files from their names, and %s "
                        "would be a file of the one and a folder of the other: rename one of them",
                        output->work->unit->module, name, output->path);
}

/* Does the name put its files below one that is a file itself? */
static int check_folders(struct pj_build *build, const char *name, const struct pj_build_output *outputs,
                         size_t count, struct pj_error **err)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *folder = pj_arena_strndup(&build->arena, name, (size_t)(slash - name));
        if (!folder)
            return pj_error_no_memory(err);
        const struct pj_build_output *output = pj_build_find_output(outputs, count, folder);
        if (output)
            return refuse_folder(name, output, err);
    }
    return 0;
}

int pj_build_check_names(struct pj_build *build, struct pj_error **err)
{
    struct pj_build_output *outputs = NULL;
    size_t count = 0;
    int r = pj_build_outputs(build, &outputs, &count, err);
    for (size_t i = 0; i < build->count && r == 0; i++) {
        if (i > 0 && build->works[i - 1].module == build->works[i].module)
            continue;
        const char *name = build->works[i].unit->module;
        r = check_parts(name, err);
        if (r == 0)
            r = check_folders(build, name, outputs, count, err);
    }
    return r;
}
