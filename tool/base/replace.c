/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic replacement of files, and whether it would succeed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"

enum { TEMPORARY_DIGITS = 16 };

/* The file that shall have the name in the end, new and empty. *ret_path: free(). */
static int create_temporary(int dirfd, const char *name, mode_t mode, char **ret_path, int *ret_fd,
                            struct pj_error **err)
{
    uint64_t random = 0;
    int r = pj_random_bytes(&random, sizeof random, err);
    if (r < 0)
        return r;
    PJ_CLEANUP_FREE char *path = NULL;
    if (asprintf(&path, "%s.%0*" PRIx64, name, TEMPORARY_DIGITS, random) < 0) {
        path = NULL;
        return pj_error_no_memory(err);
    }
    int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create %s", path);
    *ret_path = PJ_STEAL(path);
    *ret_fd = fd;
    return 0;
}

int pj_file_replace(int dirfd, const char *name, const void *bytes, size_t size, mode_t mode,
                    struct pj_error **err)
{
    PJ_CLEANUP_FREE char *temporary = NULL;
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = create_temporary(dirfd, name, mode, &temporary, &fd, err);
    if (r < 0)
        return r;
    r = pj_file_pwrite(fd, temporary, bytes, size, 0, err);
    if (r == 0 && fsync(fd) != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot flush %s", temporary);
    if (r == 0 && renameat(dirfd, temporary, dirfd, name) != 0)
        r = pj_error_errno(err, PJ_ERROR_IO, errno, "cannot rename %s to %s", temporary, name);
    if (r < 0)
        (void)unlinkat(dirfd, temporary, 0);
    return r;
}

/* May this user rename a file over another's in the folder of `name`? Not where it is a sticky one, like
 * /tmp. */
static int check_sticky(int dirfd, const char *name, uid_t owner, struct pj_error **err)
{
    struct stat folder;
    PJ_CLEANUP_FREE char *parent = strdup(name);
    if (!parent)
        return pj_error_no_memory(err);
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[1] = '\0';
    uid_t user = geteuid();
    if (fstatat(dirfd, slash ? parent : ".", &folder, 0) != 0 || !(folder.st_mode & S_ISVTX) || user == 0 ||
        user == folder.st_uid || user == owner)
        return 0;
    return pj_error_errno(err, PJ_ERROR_IO, EPERM, "cannot replace %s", name);
}

/* What has the name, and rename(2) would not put a file in its place. */
static int check_target(int dirfd, const char *name, struct pj_error **err)
{
    struct statx there;
    if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID, &there) != 0)
        return 0;
    if (S_ISDIR(there.stx_mode))
        return pj_error_errno(err, PJ_ERROR_IO, EISDIR, "cannot replace %s", name);
    if (there.stx_attributes & STATX_ATTR_MOUNT_ROOT) /* a single file that a container was given */
        return pj_error_errno(err, PJ_ERROR_IO, EBUSY, "cannot replace %s", name);
    if (there.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND))
        return pj_error_errno(err, PJ_ERROR_IO, EPERM, "cannot replace %s", name);
    return check_sticky(dirfd, name, there.stx_uid, err);
}

int pj_file_check_replace(int dirfd, const char *name, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *temporary = NULL;
    PJ_CLEANUP_CLOSE int fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = create_temporary(dirfd, name, 0600, &temporary, &fd, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return pj_error_errno(err, PJ_ERROR_IO, problem->errnum, "cannot write %s", name);
    r = check_target(dirfd, name, err);
    (void)unlinkat(dirfd, temporary, 0);
    return r;
}

size_t pj_file_temporary_length(const char *name)
{
    size_t length = strlen(name), behind = 1 + TEMPORARY_DIGITS;
    if (length <= behind || name[length - behind] != '.' ||
        strspn(name + length - TEMPORARY_DIGITS, "0123456789abcdef") != TEMPORARY_DIGITS)
        return 0;
    return length - behind;
}
