/* SPDX-License-Identifier: Apache-2.0 */
/* Root's own caches, told from those in which others can put something. */
#include "cache/guard.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

static const char digits[] = "0123456789abcdef";

static int blame(struct pj_way *way, enum pj_way_fault fault, const char *path, const char *name,
                 const struct stat *status, struct pj_error **err)
{
    way->culprit = pj_path_join(path, name);
    if (!way->culprit)
        return pj_error_no_memory(err);
    way->fault = fault;
    way->status = *status;
    return 0;
}

/* What has the name in the open folder `parent`; *ret_fd is -1 where nothing has, or it is no folder. A link
 * is not followed here. The driver follows it, so it must be root's. */
static int look_at(int parent, const char *name, const char *path, struct pj_way *way, int *ret_fd,
                   struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_CLOSE int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    *ret_fd = -1;
    if (fd < 0 || fstat(fd, &status) != 0)
        return 0;
    enum pj_way_fault fault = pj_way_judge(fd, &status);
    if (fault != PJ_WAY_CLOSED)
        return blame(way, fault, path, name, &status, err);
    if (S_ISDIR(status.st_mode))
        *ret_fd = PJ_STEAL_FD(fd);
    return 0;
}

static int look_at_hash_folder(int cache_fd, const char *first, const char *path, struct pj_way *way,
                               struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int fd = -1;
    int r = look_at(cache_fd, first, path, way, &fd, err);
    if (r < 0 || fd < 0)
        return r;
    PJ_CLEANUP_FREE char *folder = pj_path_join(path, first);
    if (!folder)
        return pj_error_no_memory(err);
    for (const char *digit = digits; *digit && r == 0 && way->fault == PJ_WAY_CLOSED; digit++) {
        const char second[2] = {*digit, '\0'};
        PJ_CLEANUP_CLOSE int below = -1;
        r = look_at(fd, second, folder, way, &below, err);
    }
    return r;
}

/* The driver follows a link for `index` when it opens that to write, so nobody else may decide where it
 * leads. */
static int look_at_index(int cache_fd, const char *path, struct pj_way *way, struct pj_error **err)
{
    char text[PATH_MAX + 1];
    struct stat link, file;
    PJ_CLEANUP_WAY struct pj_way target = PJ_WAY_NONE;
    PJ_CLEANUP_CLOSE int fd = openat(cache_fd, "index", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &link) != 0 || !S_ISLNK(link.st_mode))
        return 0;
    ssize_t size = readlinkat(fd, "", text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    PJ_CLEANUP_FREE char *full = pj_path_join(path, text);
    int r = full ? pj_way_walk("", full, PJ_WAY_TO_CACHE, &target, err) : pj_error_no_memory(err);
    if (r < 0)
        return r;
    bool foreign = pj_way_judge(fd, &link) != PJ_WAY_CLOSED || target.fault != PJ_WAY_CLOSED;
    if (!foreign && stat(full, &file) == 0)
        foreign = !pj_way_trusts(file.st_uid);
    return foreign ? blame(way, PJ_WAY_LINK, path, "index", &link, err) : 0;
}

int pj_guard_look_inside(int cache_fd, const char *path, struct pj_way *way, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int own = -1;
    int r = look_at(cache_fd, ".prejit", path, way, &own, err);
    if (r == 0 && way->fault == PJ_WAY_CLOSED)
        r = look_at_index(cache_fd, path, way, err);
    for (const char *digit = digits; *digit && r == 0 && way->fault == PJ_WAY_CLOSED; digit++) {
        const char first[2] = {*digit, '\0'};
        r = look_at_hash_folder(cache_fd, first, path, way, err);
    }
    return r;
}

int pj_guard_look(const char *path, struct pj_way *ret_way, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    int r = pj_way_walk("", path, PJ_WAY_TO_CACHE, &way, err);
    if (r == 0 && way.exists && way.fault == PJ_WAY_CLOSED)
        r = pj_guard_look_inside(way.fd, path, &way, err);
    if (r < 0)
        return r;
    *ret_way = way;
    way = PJ_WAY_NONE;
    return 0;
}

static bool is_below(const struct pj_way *way, const char *path)
{
    size_t length = strlen(path);
    return strncmp(way->culprit, path, length) == 0 && way->culprit[length] == '/';
}

static void say_owned(struct pj_buffer *text, const struct pj_way *way, const char *path, const char *owner)
{
    static const char reason[] = "and prejit runs as root, whose files that user's programs could not write: "
                                 "work as that user with --user";
    if (is_below(way, path))
        pj_buffer_printf(text,
                         "%s in the cache %s belongs to user %s, who can exchange what is in it, and prejit "
                         "runs as root: remove it with rm -r %s, or name a cache of root's own with --cache",
                         way->culprit, path, owner, way->culprit);
    else if (strcmp(way->culprit, path) == 0)
        pj_buffer_printf(text,
                         "the cache %s belongs to user %s, %s %s, or give the cache to root with chown -R "
                         "root %s",
                         path, owner, reason, owner, path);
    else
        pj_buffer_printf(text,
                         "the cache %s %s %s, which belongs to user %s, %s %s, or name a cache of root's own "
                         "with --cache",
                         path, way->exists ? "lies in" : "would be made in", way->culprit, owner, reason,
                         owner);
}

/* A folder like /tmp is open by intention: closing it is no way out. */
static void say_writable(struct pj_buffer *text, const struct pj_way *way, const char *path)
{
    bool sticky = (way->status.st_mode & S_ISVTX) != 0, everybody = (way->status.st_mode & S_IWOTH) != 0;
    if (strcmp(way->culprit, path) == 0)
        pj_buffer_printf(text, "the cache %s", path);
    else
        pj_buffer_printf(text, "%s %s the cache %s", way->culprit,
                         is_below(way, path) ? "in" : "on the way to", path);
    pj_buffer_printf(text, " can be written by %s (mode %04o", everybody ? "everybody" : "its group",
                     (unsigned)(way->status.st_mode & 07777u));
    if (!everybody)
        pj_buffer_printf(text, ", group %lu", (unsigned long)way->status.st_gid);
    pj_buffer_puts(text, "), so its entries may be anybody's code, and prejit runs as root: work as the user "
                         "whose programs use this cache with --user USER, or ");
    if (sticky)
        pj_buffer_puts(text, "name a cache of root's own with --cache");
    else
        pj_buffer_printf(text, "close it with chmod go-w %s", way->culprit);
}

static void say_link(struct pj_buffer *text, const struct pj_way *way, const char *path, const char *owner)
{
    if (is_below(way, path))
        pj_buffer_printf(
            text,
            "%s is a symbolic link, and other users made it or can change where it leads, and "
            "prejit runs as root: remove it with rm %s, or name a cache of root's own with --cache",
            way->culprit, way->culprit);
    else
        pj_buffer_printf(
            text,
            "%s on the way to the cache %s is a symbolic link of user %s, or in a folder where "
            "everybody can make one, and prejit runs as root: work as the user whose programs use "
            "this cache with --user USER, or name the cache without the link with --cache",
            way->culprit, path, owner);
}

int pj_guard_refuse(const struct pj_way *way, const char *path, const char *owner, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {.data = NULL};
    char number[24];
    (void)snprintf(number, sizeof number, "%lu", (unsigned long)way->status.st_uid);
    owner = owner ? owner : number;
    switch (way->fault) {
    case PJ_WAY_CLOSED:
        return 0;
    case PJ_WAY_OF_OTHER:
        say_owned(&text, way, path, owner);
        break;
    case PJ_WAY_WRITABLE:
        say_writable(&text, way, path);
        break;
    case PJ_WAY_LINK:
        say_link(&text, way, path, owner);
        break;
    }
    int r = pj_buffer_check(&text, err);
    return r < 0 ? r : pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s", pj_buffer_text(&text));
}

int pj_guard_entries(const struct pj_snapshot *snapshot, const char *path, struct pj_error **err)
{
    char entry[PJ_ENTRY_PATH_TEXT];
    bool one = snapshot->foreign_count == 1;
    if (snapshot->foreign_count == 0)
        return 0;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                        "%zu %s of the cache %s can be another user's code: %s to others or can be written "
                        "by them (%s%s, of user %lu), and prejit runs as root: remove %s with find %s -type "
                        "f \\( ! -user root -o -perm /022 \\) ! -name index -delete, or name a cache of "
                        "root's own with --cache",
                        snapshot->foreign_count, one ? "entry" : "entries", path,
                        one ? "it belongs" : "they belong",
                        one ? "" : "the first: ", pj_entry_path(snapshot->foreign_hash, entry),
                        (unsigned long)snapshot->foreign_uid, one ? "it" : "them", path);
}
