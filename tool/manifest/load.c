/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a manifest from a file or from standard input. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/nearby.h"
#include "manifest/manifest.h"
#include "yaml/yaml.h"

/* pj_yaml_parse says what a text beyond the limit is; here it is only not read to its end. */
static int read_standard_input(struct pj_buffer *ret_bytes, struct pj_error **err)
{
    enum { STEP = 64 * 1024 };
    while (ret_bytes->size <= PJ_YAML_MAX_BYTES) {
        char *room = pj_buffer_reserve(ret_bytes, STEP);
        if (!room)
            return pj_error_no_memory(err);
        ssize_t got = read(STDIN_FILENO, room, STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pj_error_errno(err, PJ_ERROR_MANIFEST, errno,
                                  "cannot read the manifest from standard input");
        if (got == 0)
            return 0;
        pj_buffer_commit(ret_bytes, (size_t)got);
    }
    return pj_error_set(err, PJ_ERROR_MANIFEST,
                        "<stdin>:1:1: standard input has more than the %d bytes (64 MB) allowed: split the "
                        "manifest",
                        PJ_YAML_MAX_BYTES);
}

static int read_file(const char *path, struct pj_buffer *ret_bytes, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    int r = pj_file_read(AT_FDCWD, path, PJ_YAML_MAX_BYTES, ret_bytes, &error);
    if (r == 0 || r == PJ_ERROR_NO_MEMORY)
        return r == 0 ? 0 : pj_error_no_memory(err);
    int errnum = error ? error->errnum : 0;
    const char *advice = "";
    PJ_CLEANUP_BUFFER struct pj_buffer meant = {0};
    if ((errnum == ENOENT || errnum == ENOTDIR) && pj_nearby_file(path, &meant))
        advice = ": did you mean ";
    else if (errnum == EINVAL && pj_nearby_manifest(path, &meant))
        advice = ": give the manifest in it, ";
    else if (errnum == ENOENT)
        advice = ": give the path of a manifest, or `-` for standard input";
    else if (errnum == EINVAL)
        advice = ": give the file itself, or pipe it in and give `-`";
    else if (errnum == EFBIG)
        advice = " (64 MB): split the manifest";
    if (meant.failed)
        return pj_error_no_memory(err);
    r = pj_error_set(err, PJ_ERROR_MANIFEST, "cannot read the manifest: %s%s%s%s", pj_error_message(error),
                     advice, pj_buffer_text(&meant), meant.size > 0 && errnum != EINVAL ? "?" : "");
    return pj_error_recode(err, r, errnum);
}

/* The folder of `path` as it was given: a link to a manifest stands where the link is. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int pj_manifest_load(const char *path, struct pj_manifest **ret_manifest, struct pj_error **err)
{
    bool from_stdin = strcmp(path, "-") == 0;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = from_stdin ? read_standard_input(&bytes, err) : read_file(path, &bytes, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_FREE char *directory = from_stdin ? strdup(".") : folder_of(path);
    if (!directory)
        return pj_error_no_memory(err);
    return pj_manifest_parse(pj_buffer_text(&bytes), bytes.size, path, directory, false, ret_manifest, err);
}
