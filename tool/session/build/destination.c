/* SPDX-License-Identifier: Apache-2.0 */
/* The folder for what is made, and whether all of it can be written there. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "session/build/private.h"

static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Where folders before the name are missing, the first of them is what is made first. A link that leads
 * nowhere is there, and no folder can be made in its place. */
static int check_output(const char *out_dir, const char *path, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *full = pj_path_join(out_dir, path);
    if (!full)
        return pj_error_no_memory(err);
    for (;;) {
        PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
        int r = pj_file_check_replace(AT_FDCWD, full, &problem);
        char *slash = r < 0 && problem->errnum == ENOENT ? strrchr(full, '/') : NULL;
        if (slash && slash > full + strlen(out_dir)) {
            *slash = '\0';
            if (!is_there(full))
                continue;
        }
        if (r < 0 && err)
            *err = PJ_STEAL(problem);
        return r;
    }
}

static int check_outputs(struct pj_build *build, struct pj_error **err)
{
    struct pj_build_output *outputs = NULL;
    size_t count = 0;
    int r = pj_build_outputs(build, &outputs, &count, err);
    for (size_t i = 0; i < count && r == 0; i++)
        r = check_output(build->options->out_dir, outputs[i].path, err);
    return r;
}

int pj_build_open_out_dir(struct pj_build *build, struct pj_error **err)
{
    const char *out_dir = build->options->out_dir;
    if (build->options->check)
        return 0;
    build->made_out_dir = access(out_dir, F_OK) != 0;
    int r = pj_directory_create(out_dir, 0777, err);
    if (r == 0)
        r = check_outputs(build, err);
    return r < 0 ? pj_error_wrap(err, r, "--out-dir %s", out_dir) : 0;
}
