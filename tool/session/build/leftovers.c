/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what an earlier build left half-written when it was killed. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "session/build/private.h"

struct outputs {
    struct pj_build_output *items;
    size_t count;
};

/* Does `name` in `folder` stand for an output that this run writes, or removes? */
static int is_of_output(const struct outputs *outputs, const char *folder, const char *name, bool *ret_is,
                        struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    size_t length = pj_file_temporary_length(name);
    *ret_is = false;
    if (length == 0)
        return 0;
    pj_buffer_printf(&path, "%s%.*s", folder, (int)length, name);
    if (path.failed)
        return pj_error_no_memory(err);
    const struct pj_build_output *output =
        pj_build_find_output(outputs->items, outputs->count, pj_buffer_text(&path));
    *ret_is = output && (!output->work || output->work->unit->verdict != PJ_BUILD_NOT_TRIED);
    return 0;
}

/* A file that was written to since this run began is of a build that runs beside it. */
static bool is_left(const struct pj_build *build, int dirfd, const char *name)
{
    struct stat status;
    const struct timespec *begin = &build->begin;
    if (fstatat(dirfd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    const struct timespec *time = &status.st_mtim;
    return time->tv_sec < begin->tv_sec || (time->tv_sec == begin->tv_sec && time->tv_nsec < begin->tv_nsec);
}

/* One that cannot be removed does no harm: nothing takes it for an output. */
static int clean_folder(const struct pj_build *build, const struct outputs *outputs, const char *folder,
                        struct pj_error **err)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(build->options->out_dir, *folder ? folder : ".");
    if (!path)
        return pj_error_no_memory(err);
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(path);
    int r = 0;
    for (const struct dirent *item; directory && r == 0 && (item = readdir(directory));) {
        bool wanted = false;
        r = is_of_output(outputs, folder, item->d_name, &wanted, err);
        if (wanted && is_left(build, dirfd(directory), item->d_name))
            (void)unlinkat(dirfd(directory), item->d_name, 0);
    }
    return r;
}

int pj_build_remove_leftovers(struct pj_build *build, struct pj_error **err)
{
    struct outputs outputs = {0};
    const char **folders = NULL;
    size_t count = 0;
    int r = pj_build_outputs(build, &outputs.items, &outputs.count, err);
    if (r == 0)
        r = pj_build_folders(build, &folders, &count, err);
    for (size_t i = 0; i < count && r == 0; i++)
        r = clean_folder(build, &outputs, folders[i], err);
    return r;
}
