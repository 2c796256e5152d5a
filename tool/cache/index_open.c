/* SPDX-License-Identifier: Apache-2.0 */
/* Opens `index`, and decides which links are followed: the driver follows any [cache-model 18].
 *
 * The name can mean another file at each look, so what is judged is what was opened: a link is opened itself,
 * its owner is asked, and what it said then is followed. Root follows it part by part, and only where nobody
 * else can exchange a part. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/way.h"
#include "cache/scan.h"
#include "cache/store_private.h"

enum { LINKS_MAX = 8, TRIES = 8 };

struct opening {
    const char *path; /* of the cache, for messages */
    int flags;
    int links;
};

static int open_at(struct opening *opening, int folder_fd, const char *folder, const char *name, int *ret_fd,
                   struct pj_error **err);

static int refuse_owner(const struct opening *opening, uid_t owner, struct pj_error **err)
{
    if (owner == geteuid() || owner == 0)
        return 0;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "%s/index is a symbolic link to a file of user %ld, or laid by that user: both must "
                        "belong to this user or to root",
                        opening->path, (long)owner);
}

static int refuse_way(const struct opening *opening, const char *culprit, struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "%s/index is a symbolic link, and others can change where it leads, because they own "
                        "or can write %s; root does not follow it: remove the link, or keep its file below "
                        "folders of root's",
                        opening->path, culprit);
}

/* The link leads to `target`, which is absolute: its folder is walked, its last part opened in there. */
static int follow_as_root(struct opening *opening, const char *target, int *ret_fd, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    PJ_CLEANUP_FREE char *folder = strdup(target);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (!slash)
        return pj_error_no_memory(err);
    *slash = '\0';
    int r = pj_way_walk("", *folder ? folder : "/", PJ_WAY_TO_CACHE, &way, err);
    if (r < 0)
        return r;
    if (way.fault != PJ_WAY_CLOSED)
        return refuse_way(opening, way.culprit, err);
    if (!way.exists)
        return pj_error_errno(err, PJ_ERROR_IO, ENOENT, "cannot open %s", target);
    return open_at(opening, way.fd, folder, slash + 1, ret_fd, err);
}

static int follow(struct opening *opening, int folder_fd, const char *folder, int link, struct pj_error **err,
                  int *ret_fd)
{
    char text[PATH_MAX + 1];
    struct stat status;
    ssize_t size = readlinkat(link, "", text, sizeof text - 1);
    if (size < 0 || fstat(link, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot read the link %s/index", opening->path);
    text[size] = '\0';
    int r = refuse_owner(opening, status.st_uid, err);
    if (r < 0)
        return r;
    if (++opening->links > LINKS_MAX)
        return pj_error_errno(err, PJ_ERROR_IO, ELOOP, "cannot open %s/index", opening->path);
    if (geteuid() == 0 && (opening->flags & O_ACCMODE) != O_RDONLY) {
        struct stat around;
        PJ_CLEANUP_FREE char *target = pj_path_join(folder, text);
        if (!target)
            return pj_error_no_memory(err);
        if (fstat(folder_fd, &around) != 0 || pj_way_judge(folder_fd, &around) != PJ_WAY_CLOSED)
            return refuse_way(opening, folder, err);
        return follow_as_root(opening, target, ret_fd, err);
    }
    PJ_CLEANUP_CLOSE int fd = openat(folder_fd, text, opening->flags);
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s", text);
    *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}

/* In the folder `folder`, which is open. */
static int open_at(struct opening *opening, int folder_fd, const char *folder, const char *name, int *ret_fd,
                   struct pj_error **err)
{
    for (int i = 0; i < TRIES; i++) {
        PJ_CLEANUP_CLOSE int fd = openat(folder_fd, name, opening->flags | O_NOFOLLOW);
        if (fd >= 0) {
            *ret_fd = PJ_STEAL_FD(fd);
            return 0;
        }
        if (errno != ELOOP)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s/%s", folder, name);
        struct stat status;
        PJ_CLEANUP_CLOSE int link = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (link >= 0 && fstat(link, &status) == 0 && S_ISLNK(status.st_mode))
            return follow(opening, folder_fd, folder, link, err, ret_fd);
    }
    return pj_error_set(err, PJ_ERROR_BUSY, "%s/%s was replaced by another file %d times in a row", folder,
                        name, TRIES);
}

int pj_index_open(int cache_fd, const char *path, bool write, int *ret_fd, struct stat *ret_status,
                  struct pj_error **err)
{
    struct opening opening = {.path = path,
                              .flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY};
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = open_at(&opening, cache_fd, path, "index", &fd, err);
    if (r < 0)
        return r;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s/index", path);
    if (!S_ISREG(status.st_mode)) {
        (void)pj_error_set(err, PJ_ERROR_IO, "index is %s, not a regular file",
                           pj_file_type_name(status.st_mode));
        return pj_error_recode(err, PJ_ERROR_IO, EINVAL);
    }
    r = opening.links > 0 ? refuse_owner(&opening, status.st_uid, err) : 0;
    if (r < 0)
        return r;
    *ret_status = status;
    *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}
