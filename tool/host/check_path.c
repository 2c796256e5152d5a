/* SPDX-License-Identifier: Apache-2.0 */
/* Every level of the cache's path, and `index` in it, as the program's user meets them. Numbers in brackets
 * are lines of docs/cache-model.md. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "host/check.h"

struct walk {
    const struct pj_program *program;
    const char *path; /* the whole of it */
    struct pj_finding_list *findings;
    struct pj_error **err;
    bool for_root; /* root looks at another user's cache, which was said */
};

static bool is_read_only(const char *path)
{
    struct statvfs file_system;
    return statvfs(path, &file_system) == 0 && (file_system.f_flag & ST_RDONLY);
}

/* Owner and mode, and what of them is of interest. */
static void describe(const char *full, const struct stat *status, char text[96])
{
    (void)snprintf(text, 96, "owner %lu, group %lu, mode %04o%s", (unsigned long)status->st_uid,
                   (unsigned long)status->st_gid, (unsigned)(status->st_mode & 07777u),
                   is_read_only(full) ? ", on a read-only file system" : "");
}

static bool is_sticky(const struct stat *status)
{
    return (status->st_mode & S_ISVTX) != 0;
}

/* Could somebody else than this user and root put files there, or put another directory in its place? Who
 * owns the level before can do so anyway. */
static int check_open(const struct walk *walk, const char *level, const char *full, const struct stat *status,
                      uid_t parent, bool last)
{
    const struct pj_program *program = walk->program;
    char how[96];
    bool foreign = pj_check_is_foreign(program, status) && status->st_uid != parent && !walk->for_root;
    bool others = (status->st_mode & S_IWOTH) && (last || !is_sticky(status));
    bool group = last && (status->st_mode & S_IWGRP) && status->st_gid != program->gid && status->st_gid != 0;
    describe(full, status, how);
    int r = foreign
                ? pj_finding_add(walk->findings, PJ_FINDING_PATH_OF_OTHER_USER, level, NULL, walk->err,
                                 "its owner, who is neither user %s nor root, (%s) can change what the cache "
                                 "holds",
                                 program->user_text, how)
                : 0;
    if (r < 0 || (!others && !group))
        return r;
    return pj_finding_add(walk->findings, PJ_FINDING_CACHE_OPEN, level, NULL, walk->err,
                          "%s (%s) can change what the cache holds", others ? "everybody" : "its group", how);
}

static int check_last(const struct walk *walk, const char *full, const struct stat *status)
{
    const struct pj_program *program = walk->program;
    if (status->st_uid != 0 || program->uid == 0 ||
        pj_program_may(program, full, status, PJ_MAY_WRITE | PJ_MAY_PASS))
        return 0;
    char how[96];
    describe(full, status, how);
    return pj_finding_add(walk->findings, PJ_FINDING_CACHE_OF_ROOT, walk->path, program->user_text, walk->err,
                          "%s; user %s cannot add to it", how, program->user_text);
}

/* `parent` is the owner of the level before. */
static int check_level(const struct walk *walk, const char *level, const char *full,
                       const struct stat *status, uid_t parent, bool last)
{
    char how[96];
    if (!S_ISDIR(status->st_mode))
        return pj_finding_add(walk->findings, PJ_FINDING_PATH_NOT_DIRECTORY, level, NULL, walk->err,
                              "it is no directory");
    int r = check_open(walk, level, full, status, parent, last);
    if (r < 0)
        return r;
    if (!pj_program_may(walk->program, full, status, PJ_MAY_PASS)) {
        bool of_root = status->st_uid == 0 && parent == walk->program->uid;
        if (last && !of_root)
            return pj_check_closed(walk->program, level, status, "may not pass it", walk->findings,
                                   walk->err);
        describe(full, status, how);
        return pj_finding_add(walk->findings, of_root ? PJ_FINDING_PATH_OF_ROOT : PJ_FINDING_PATH_CLOSED,
                              level, walk->program->user_text, walk->err, "%s: user %s may not pass it", how,
                              walk->program->user_text);
    }
    return last ? check_last(walk, full, status) : 0;
}

/* `parent` is the nearest directory that is there. */
static int check_missing(const struct walk *walk, const char *level, const char *parent)
{
    struct stat status;
    char how[96];
    PJ_CLEANUP_FREE char *full = pj_program_path(walk->program, parent);
    if (!full)
        return pj_error_no_memory(walk->err);
    if (stat(full, &status) == 0 &&
        !pj_program_may(walk->program, full, &status, PJ_MAY_WRITE | PJ_MAY_PASS)) {
        describe(full, &status, how);
        return pj_finding_add(
            walk->findings, PJ_FINDING_CACHE_NOT_CREATABLE, walk->path, walk->program->user_text, walk->err,
            "%s is missing, and user %s may not write %s (%s)", level, walk->program->user_text, parent, how);
    }
    return pj_finding_add(walk->findings, PJ_FINDING_CACHE_NOT_THERE, walk->path, NULL, walk->err,
                          "%s is missing; user %s can make it", level, walk->program->user_text);
}

static int check_unreached(const struct walk *walk, const char *level, const char *parent, int errnum)
{
    if (errnum == ENOENT)
        return check_missing(walk, level, parent);
    if (errnum == ENOTDIR)
        return 0; /* said of the level before */
    if (errnum == EACCES)
        return pj_finding_add(walk->findings, PJ_FINDING_CACHE_UNREADABLE, level, NULL, walk->err,
                              "prejit itself may not look: %s", strerror(errnum));
    return pj_finding_add(walk->findings, PJ_FINDING_PATH_CLOSED, level, NULL, walk->err, "%s",
                          strerror(errnum));
}

int pj_check_path(const struct pj_program *program, const char *path, bool *ret_exists,
                  struct pj_finding_list *findings, struct pj_error **err)
{
    struct walk walk = {program, path, findings, err, false};
    PJ_CLEANUP_FREE char *level = strdup(path);
    PJ_CLEANUP_FREE char *parent = strdup("/");
    if (!level || !parent)
        return pj_error_no_memory(err);
    size_t end = 0, size = strlen(path);
    uid_t owner = 0;
    *ret_exists = false;
    int problem = pj_check_for_root(program, path, &walk.for_root, findings, err);
    if (problem < 0)
        return problem;
    for (;;) {
        struct stat status;
        bool last = end >= size;
        memcpy(level, path, end);
        memcpy(level + end, end == 0 ? "/" : "", end == 0 ? 2 : 1);
        PJ_CLEANUP_FREE char *full = pj_program_path(program, level);
        if (!full)
            return pj_error_no_memory(err);
        if (stat(full, &status) != 0)
            return check_unreached(&walk, level, parent, errno);
        int r = check_level(&walk, level, full, &status, owner, last);
        owner = status.st_uid;
        if (r < 0)
            return r;
        if (last) {
            *ret_exists = S_ISDIR(status.st_mode);
            return 0;
        }
        free(PJ_STEAL(parent));
        parent = strdup(level);
        if (!parent)
            return pj_error_no_memory(err);
        end += 1 + strcspn(path + end + 1, "/");
    }
}

static int check_no_index(const struct pj_program *program, const char *path, const char *index,
                          struct pj_finding_list *findings, struct pj_error **err)
{
    struct stat status;
    char how[96];
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    if (!full)
        return pj_error_no_memory(err);
    if (stat(full, &status) != 0 || pj_program_may(program, full, &status, PJ_MAY_WRITE | PJ_MAY_PASS))
        return 0;
    if (pj_check_is_foreign(program, &status))
        return pj_check_closed(program, path, &status, "cannot make the index that it has not", findings,
                               err);
    describe(full, &status, how);
    return pj_finding_add(findings, PJ_FINDING_INDEX_NOT_CREATABLE, path, program->user_text, err,
                          "%s is missing, and user %s may not write its directory (%s)", index,
                          program->user_text, how);
}

/* Hits work where `index` alone can be written [18]; then nothing is added. */
static int check_read_only(const struct pj_program *program, const char *path,
                           struct pj_finding_list *findings, struct pj_error **err)
{
    struct stat status;
    char how[96];
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    if (!full)
        return pj_error_no_memory(err);
    if (stat(full, &status) != 0 || pj_program_may(program, full, &status, PJ_MAY_WRITE | PJ_MAY_PASS))
        return 0;
    describe(full, &status, how);
    return pj_finding_add(findings, PJ_FINDING_CACHE_READ_ONLY, path, NULL, err,
                          "%s: user %s can write its index and nothing else", how, program->user_text);
}

/* Neither the program's user nor root owns it. */
static bool in_foreign_cache(const struct pj_program *program, const char *path, struct stat *folder,
                             bool *ret_no_memory)
{
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    *ret_no_memory = !full;
    return full && stat(full, folder) == 0 && pj_check_is_foreign(program, folder);
}

int pj_check_index(const struct pj_program *program, const char *path, struct pj_finding_list *findings,
                   struct pj_error **err)
{
    struct stat status, folder;
    bool no_memory = false;
    char how[96];
    PJ_CLEANUP_FREE char *index = pj_path_join(path, "index");
    PJ_CLEANUP_FREE char *full = index ? pj_program_path(program, index) : NULL;
    if (!full)
        return pj_error_no_memory(err);
    if (stat(full, &status) != 0)
        return errno == ENOENT ? check_no_index(program, path, index, findings, err) : 0;
    if (!S_ISREG(status.st_mode))
        return pj_finding_add(findings, PJ_FINDING_INDEX_NOT_WRITABLE, index, program->user_text, err,
                              "it is no file");
    if (pj_program_may(program, full, &status, PJ_MAY_READ | PJ_MAY_WRITE))
        return check_read_only(program, path, findings, err);
    if (!is_read_only(full) && in_foreign_cache(program, path, &folder, &no_memory))
        return pj_check_closed(program, path, &folder, "cannot open its index for reading and writing",
                               findings, err);
    if (no_memory)
        return pj_error_no_memory(err);
    describe(full, &status, how);
    return pj_finding_add(findings,
                          is_read_only(full) ? PJ_FINDING_INDEX_READ_ONLY : PJ_FINDING_INDEX_NOT_WRITABLE,
                          index, program->user_text, err,
                          "%s: user %s cannot open it for reading and writing, so the driver reads nothing "
                          "from this cache",
                          how, program->user_text);
}
