/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a path part by part and judges every opened folder. */
#include "base/way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { LINKS_MAX = 40, ID_FILE_BYTES = 4096 };

/* Is `uid` a user of this user namespace? Where /proc does not tell, every one is. */
static bool is_mapped(uid_t uid)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {.data = NULL};
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    if (pj_file_read_special(AT_FDCWD, "/proc/self/uid_map", ID_FILE_BYTES, &text, &ignored) < 0)
        return true;
    for (const char *line = pj_buffer_text(&text); *line;) {
        char *end;
        unsigned long long first = strtoull(line, &end, 10);
        (void)strtoull(end, &end, 10);
        unsigned long long count = strtoull(end, &end, 10);
        if (uid >= first && uid - first < count)
            return true;
        line = end + strcspn(end, "\n");
        line += *line == '\n';
    }
    return false;
}

bool pj_way_trusts(uid_t uid)
{
    return uid == 0 || !is_mapped(uid);
}

/* With an access list the group's bits are the mask, so they speak for whomever it names. */
static bool has_access_list(int fd)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

enum pj_way_fault pj_way_judge(int fd, const struct stat *status)
{
    if (!pj_way_trusts(status->st_uid))
        return PJ_WAY_OF_OTHER;
    if (S_ISLNK(status->st_mode)) /* has no mode of its own */
        return PJ_WAY_CLOSED;
    bool group = (status->st_mode & S_IWGRP) && (status->st_gid != 0 || has_access_list(fd));
    return group || (status->st_mode & S_IWOTH) ? PJ_WAY_WRITABLE : PJ_WAY_CLOSED;
}

struct walk {
    struct pj_way way;
    int root;
    struct stat here;      /* of way.fd */
    bool shared;           /* the folder is like /tmp: others can write it, and it is sticky */
    struct pj_buffer path; /* of it, as far as it was resolved */
    char *todo;            /* what is left of the path */
    unsigned links;
    bool make;
};

static void walk_free(struct walk *walk)
{
    pj_way_free(&walk->way);
    pj_close(walk->root);
    pj_buffer_free(&walk->path);
    free(walk->todo);
}

/* Remembers the first fault alone. */
static int blame(struct walk *walk, enum pj_way_fault fault, const char *name, const struct stat *status,
                 struct pj_error **err)
{
    if (fault == PJ_WAY_CLOSED || walk->way.fault != PJ_WAY_CLOSED)
        return 0;
    const char *folder = walk->path.size > 0 ? pj_buffer_text(&walk->path) : "/";
    walk->way.culprit = name ? pj_path_join(folder, name) : strdup(folder);
    if (!walk->way.culprit)
        return pj_error_no_memory(err);
    walk->way.fault = fault;
    walk->way.status = *status;
    return 0;
}

/* Takes `fd` over as the folder where the walk is. Whether one that is like /tmp is a fault depends on what
 * comes behind it. */
static int enter(struct walk *walk, int fd, const struct stat *status, struct pj_error **err)
{
    enum pj_way_fault fault = pj_way_judge(fd, status);
    pj_close(walk->way.fd);
    walk->way.fd = fd;
    walk->here = *status;
    walk->shared = fault == PJ_WAY_WRITABLE && (status->st_mode & S_ISVTX);
    return walk->shared ? 0 : blame(walk, fault, NULL, status, err);
}

static int enter_root(struct walk *walk, struct pj_error **err)
{
    struct stat status;
    int fd = openat(walk->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int saved = errno;
        pj_close(fd);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot open the root directory");
    }
    pj_buffer_reset(&walk->path);
    return enter(walk, fd, &status, err);
}

static int enter_parent(struct walk *walk, struct pj_error **err)
{
    struct stat status, root;
    if (fstat(walk->root, &root) == 0 && root.st_dev == walk->here.st_dev && root.st_ino == walk->here.st_ino)
        return 0;
    int fd = openat(walk->way.fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int saved = errno;
        pj_close(fd);
        return pj_error_errno(err, PJ_ERROR_IO, saved, "cannot open the directory above %s",
                              pj_buffer_text(&walk->path));
    }
    char *slash = walk->path.size > 0 ? strrchr(walk->path.data, '/') : NULL;
    if (slash) {
        *slash = '\0';
        walk->path.size = (size_t)(slash - walk->path.data);
    }
    return enter(walk, fd, &status, err);
}

/* What the link says comes before the rest of the path. */
static int follow(struct walk *walk, int link, const char *name, const struct stat *status,
                  struct pj_error **err)
{
    char target[PATH_MAX], *todo = NULL;
    bool foreign = walk->shared || pj_way_judge(link, status) != PJ_WAY_CLOSED;
    int r = blame(walk, foreign ? PJ_WAY_LINK : PJ_WAY_CLOSED, name, status, err);
    ssize_t size = r == 0 ? readlinkat(link, "", target, sizeof target) : 0;
    if (r == 0 && (size < 0 || size == sizeof target || ++walk->links > LINKS_MAX))
        r = pj_error_errno(err, PJ_ERROR_IO, size < 0 ? errno : ELOOP, "cannot follow the link %s", name);
    if (r < 0)
        return r;
    if (asprintf(&todo, "%.*s/%s", (int)size, target, walk->todo) < 0)
        return pj_error_no_memory(err);
    free(walk->todo);
    walk->todo = todo;
    return target[0] == '/' ? enter_root(walk, err) : 0;
}

static int open_part(struct walk *walk, const char *name, int *ret_fd, struct pj_error **err)
{
    const char *folder = pj_buffer_text(&walk->path);
    int fd = openat(walk->way.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && walk->make) {
        if (mkdirat(walk->way.fd, name, 0700) != 0 && errno != EEXIST)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot create the directory %s/%s", folder, name);
        fd = openat(walk->way.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s/%s", folder, name);
    *ret_fd = fd;
    return 0;
}

static int enter_part(struct walk *walk, const char *name, struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = open_part(walk, name, &fd, err);
    if (r < 0)
        return r;
    if (fstat(fd, &status) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot stat %s/%s", pj_buffer_text(&walk->path),
                              name);
    if (S_ISLNK(status.st_mode))
        return follow(walk, fd, name, &status, err);
    if (!S_ISDIR(status.st_mode))
        return pj_error_errno(err, PJ_ERROR_IO, ENOTDIR, "cannot create the directory %s/%s",
                              pj_buffer_text(&walk->path), name);
    pj_buffer_printf(&walk->path, "/%s", name);
    r = pj_buffer_check(&walk->path, err);
    return r < 0 ? r : enter(walk, PJ_STEAL_FD(fd), &status, err);
}

/* The next part of the path, cut off what is left of it; false at the end. */
static bool next_part(struct walk *walk, char name[NAME_MAX + 1], bool *ret_too_long)
{
    const char *start = walk->todo + strspn(walk->todo, "/");
    size_t length = strcspn(start, "/");
    *ret_too_long = length > NAME_MAX;
    if (length == 0 || *ret_too_long)
        return false;
    memcpy(name, start, length);
    name[length] = '\0';
    memmove(walk->todo, start + length, strlen(start + length) + 1);
    return true;
}

static int walk_through(struct walk *walk, struct pj_error **err)
{
    char name[NAME_MAX + 1];
    bool too_long = false;
    int r = enter_root(walk, err);
    while (r == 0 && !(walk->make && walk->way.fault) && next_part(walk, name, &too_long)) {
        if (strcmp(name, ".") == 0)
            continue;
        r = strcmp(name, "..") == 0 ? enter_parent(walk, err) : enter_part(walk, name, err);
    }
    return r == 0 && too_long ? pj_error_errno(err, PJ_ERROR_IO, ENAMETOOLONG, "cannot open a folder") : r;
}

static int start(struct walk *walk, const char *root, const char *path, struct pj_error **err)
{
    walk->todo = strdup(path);
    if (!walk->todo)
        return pj_error_no_memory(err);
    walk->root = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return walk->root >= 0 ? 0
                           : pj_error_errno(err, PJ_ERROR_IO, errno, "cannot open %s", *root ? root : "/");
}

int pj_way_walk(const char *root, const char *path, enum pj_way_end end, struct pj_way *ret_way,
                struct pj_error **err)
{
    __attribute__((cleanup(walk_free))) struct walk walk = {.way = PJ_WAY_NONE, .root = -1};
    PJ_CLEANUP_ERROR struct pj_error *obstacle = NULL;
    int r = start(&walk, root, path, err);
    if (r < 0)
        return r;
    r = walk_through(&walk, &obstacle);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    walk.way.exists = r == 0;
    if (r == 0 && walk.shared && end == PJ_WAY_TO_CACHE &&
        blame(&walk, PJ_WAY_WRITABLE, NULL, &walk.here, err) < 0)
        return PJ_ERROR_NO_MEMORY;
    *ret_way = walk.way;
    walk.way = PJ_WAY_NONE;
    return 0;
}

int pj_way_make(const char *path, struct pj_way *ret_way, struct pj_error **err)
{
    __attribute__((cleanup(walk_free))) struct walk walk = {.way = PJ_WAY_NONE, .root = -1, .make = true};
    int r = start(&walk, "", path, err);
    if (r == 0)
        r = walk_through(&walk, err);
    if (r == 0 && walk.shared)
        r = blame(&walk, PJ_WAY_WRITABLE, NULL, &walk.here, err);
    if (r < 0)
        return r;
    walk.way.exists = walk.way.fault == PJ_WAY_CLOSED;
    *ret_way = walk.way;
    walk.way = PJ_WAY_NONE;
    return 0;
}

void pj_way_free(struct pj_way *way)
{
    pj_close(way->fd);
    free(way->culprit);
    *way = PJ_WAY_NONE;
}
