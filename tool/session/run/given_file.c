/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a file that was given as a manifest and is none. */
#include "session/run/given_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "image/kind.h"

/* Text may be a manifest with a mistake in it; these are files of code or compressed, whatever YAML makes of
 * them. */
static bool is_no_manifest(enum pj_image_kind kind, const char *path)
{
    const char *dot = strrchr(path, '.');
    switch (kind) {
    case PJ_IMAGE_PTX:
    case PJ_IMAGE_GZIP:
    case PJ_IMAGE_CUBIN:
    case PJ_IMAGE_HOST_ELF:
    case PJ_IMAGE_FATBIN:
    case PJ_IMAGE_LTOIR:
    case PJ_IMAGE_ARCHIVE:
        return true;
    case PJ_IMAGE_SOURCE:
        return dot && strcmp(dot, ".cu") == 0;
    default:
        return false;
    }
}

/* What the file is; NULL where it may be a manifest or cannot be read. */
static const char *look(const char *path, struct pj_buffer *beginning)
{
    enum { LOOK_BYTES = 64 * 1024 };
    struct stat status;
    PJ_CLEANUP_CLOSE int fd = -1;
    char *room = pj_buffer_reserve(beginning, LOOK_BYTES);
    if (!room || pj_file_open_regular(AT_FDCWD, path, &fd, &status, NULL) < 0)
        return NULL;
    ssize_t size = pread(fd, room, LOOK_BYTES, 0);
    if (size <= 0 || !is_no_manifest(pj_image_kind_of(room, (size_t)size), path))
        return NULL;
    return pj_image_kind_text(room, (size_t)size);
}

int pj_given_manifest_load(const char *path, struct pj_manifest **ret_manifest, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer beginning = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_manifest_load(path, ret_manifest, &problem);
    const char *kind = r == PJ_ERROR_MANIFEST && strcmp(path, "-") != 0 ? look(path, &beginning) : NULL;
    if (kind)
        return pj_error_set(
            err, PJ_ERROR_MANIFEST,
            "%s is %s, not a manifest: a manifest is a YAML file that names PTX files; see: prejit "
            "--help manifest",
            path, kind);
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}
