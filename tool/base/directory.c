/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and paths: creation, opening, removal of trees, joining. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/way.h"

int pj_directory_open(int dirfd, const char *path, bool follow, int *ret_fd, struct pj_error **err)
{
    int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open the directory %s", path);
    *ret_fd = fd;
    return 0;
}

int pj_directory_create(const char *path, mode_t mode, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *copy = strdup(path);
    if (!copy)
        return pj_error_no_memory(err);
    for (char *slash = copy; slash && *slash;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(copy, mode) != 0 && errno != EEXIST) {
            int saved = errno;
            struct stat status;
            /* A parent on a read-only file system answers EROFS even where it exists. */
            if (stat(copy, &status) != 0 || !S_ISDIR(status.st_mode))
                return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot create the directory %s", copy);
        }
        if (slash)
            *slash = '/';
    }
    struct stat status;
    if (stat(path, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s", path);
    if (!S_ISDIR(status.st_mode))
        return pj_error_errno(err, PJ_ERROR_IO, ENOTDIR, "cannot create the directory %s", path);
    return 0;
}

/* Whoever can rename the folder that root makes decides what root's workers load from it. */
static int check_for_root(const char *in, const char *absolute, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    int r = geteuid() == 0 ? pj_way_walk("", absolute, PJ_WAY_TO_PARENT, &way, err) : 0;
    if (r < 0 || way.fault == PJ_WAY_CLOSED)
        return r;
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "cannot make a temporary folder in %s (TMPDIR) as root: other users can change %s; set "
        "TMPDIR to a folder of root's, or like /tmp",
        in, way.culprit);
}

int pj_directory_temporary(const char *parent, const char *name, char **ret_path, struct pj_error **err)
{
    const char *in = parent && *parent ? parent : "/tmp";
    PJ_CLEANUP_FREE char *path = NULL;
    PJ_CLEANUP_FREE char *absolute = NULL;
    int r = pj_path_absolute(in, &absolute, err);
    if (r == 0)
        r = check_for_root(in, absolute, err);
    if (r < 0)
        return r;
    if (asprintf(&path, "%s/%s-XXXXXX", absolute, name) < 0) {
        path = NULL;
        return pj_error_no_memory(err);
    }
    if (!mkdtemp(path))
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                              "cannot make a temporary folder in %s (TMPDIR)", in);
    *ret_path = PJ_STEAL(path);
    return 0;
}

static int remove_children(int fd, const char *name, int depth, struct pj_error **err);

static int remove_one(int dirfd, const char *name, int depth, struct pj_error **err)
{
    enum { MAX_DEPTH = 64 };
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove %s", name);
    if (depth > MAX_DEPTH)
        return pj_error_set(err, PJ_ERROR_IO, "cannot remove %s: folders are nested too deep", name);
    int child = -1;
    int r = pj_directory_open(dirfd, name, false, &child, err);
    if (r < 0)
        return r;
    r = remove_children(child, name, depth, err);
    if (r < 0)
        return r;
    if (unlinkat(dirfd, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot remove the directory %s", name);
    return 0;
}

/* Takes over `fd`. */
static int remove_children(int fd, const char *name, int depth, struct pj_error **err)
{
    PJ_CLEANUP_CLOSEDIR DIR *directory = fdopendir(fd);
    if (!directory) {
        int saved = errno;
        pj_close(fd);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot list %s", name);
    }
    for (;;) {
        errno = 0;
        struct dirent *item = readdir(directory);
        if (!item)
            return errno ? pj_error_errno(err, PJ_ERROR_IO, errno, "cannot list %s", name) : 0;
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        int r = remove_one(fd, item->d_name, depth + 1, err);
        if (r < 0)
            return r;
    }
}

int pj_tree_remove(int dirfd, const char *name, struct pj_error **err)
{
    return remove_one(dirfd, name, 0, err);
}

char *pj_path_join(const char *directory, const char *name)
{
    char *joined = NULL;
    if (name[0] == '/' || directory[0] == '\0')
        return strdup(name);
    size_t length = strlen(directory);
    const char *separator = directory[length - 1] == '/' ? "" : "/";
    return asprintf(&joined, "%s%s%s", directory, separator, name) < 0 ? NULL : joined;
}

int pj_path_absolute(const char *path, char **ret_path, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *start = NULL;
    if (path[0] != '/') {
        start = getcwd(NULL, 0);
        if (!start)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot tell the working directory");
    }
    PJ_CLEANUP_FREE char *joined = pj_path_join(start ? start : "", path);
    PJ_CLEANUP_FREE char *clean = joined ? calloc(1, strlen(joined) + 2) : NULL;
    if (!clean)
        return pj_error_no_memory(err);
    size_t used = 0;
    for (const char *part = joined; *part;) {
        while (*part == '/')
            part++;
        size_t length = strcspn(part, "/");
        if (length > 0 && !(length == 1 && part[0] == '.')) {
            clean[used++] = '/';
            memcpy(clean + used, part, length);
            used += length;
        }
        part += length;
    }
    if (used == 0)
        clean[0] = '/';
    *ret_path = PJ_STEAL(clean);
    return 0;
}

bool pj_is_disk_full(int errnum)
{
    return errnum == ENOSPC || errnum == EDQUOT;
}

bool pj_directory_is_full(const char *path, uint64_t bytes)
{
    PJ_CLEANUP_CLOSE int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static const char name[] = "prejit-room";
    if (directory < 0)
        return false;
    PJ_CLEANUP_CLOSE int fd =
        openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return pj_is_disk_full(errno);
    bool full = fallocate(fd, 0, 0, (off_t)bytes) != 0 && pj_is_disk_full(errno);
    (void)unlinkat(directory, name, 0);
    return full;
}
