/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the machine below an injectable root. */
#include "host/root.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"

enum { SPECIAL_FILE_MAX_BYTES = 1 << 20 };

struct pj_host_root pj_host_root_from_environment(void)
{
    const char *prefix = secure_getenv("PREJIT_ROOT");
    return (struct pj_host_root){.prefix = prefix ? prefix : ""};
}

char *pj_host_path(const struct pj_host_root *root, const char *path)
{
    char *joined = NULL;
    return asprintf(&joined, "%s%s", root->prefix, path) < 0 ? NULL : joined;
}

int pj_host_read(const struct pj_host_root *root, const char *path, struct pj_buffer *ret_text,
                 struct pj_error **err)
{
    PJ_CLEANUP_FREE char *full = pj_host_path(root, path);
    if (!full)
        return pj_error_no_memory(err);
    return pj_file_read_special(AT_FDCWD, full, SPECIAL_FILE_MAX_BYTES, ret_text, err);
}

int64_t pj_host_mtime(const struct pj_host_root *root, const char *path)
{
    char full[PATH_MAX]; /* not allocated, so that "no memory" is never taken for "no file" */
    struct stat status;
    int length = snprintf(full, sizeof full, "%s%s", root->prefix, path);
    if (length < 0 || (size_t)length >= sizeof full || stat(full, &status) != 0)
        return 0;
    return (int64_t)status.st_mtim.tv_sec;
}
