/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes the user of --user, and keeps root from working on the cache of another user. */
#include "session/frame/as_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/user.h"

/* Looked up while it can be: afterwards the link may not be readable. */
static char *path_of(const char *program)
{
    char *path = realpath(program, NULL);
    return path ? path : strdup(program);
}

static int check_program(const char *program, const char *path, const struct pj_host_user *user,
                         struct pj_error **err)
{
    char buffer[PJ_HOST_USER_TEXT];
    if (faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0)
        return 0;
    return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                          "user %s cannot execute %s, from which prejit starts its workers; open it with "
                          "chmod a+rx, or install prejit where that user can execute it",
                          pj_host_user_text(user, buffer), path);
}

static int describe(const struct pj_host_user *user, char **ret_note, struct pj_error **err)
{
    if (user->name)
        return 0;
    char *note = NULL;
    if (asprintf(&note,
                 "user %lu has no passwd entry: HOME is /, the group is %lu, and its cache is where "
                 "CUDA_CACHE_PATH, --cache or the manifest says",
                 (unsigned long)user->uid, (unsigned long)user->gid) < 0)
        return pj_error_no_memory(err);
    *ret_note = note;
    return 0;
}

int pj_as_user(const char *text, const char *program, char **ret_note, struct pj_error **err)
{
    PJ_CLEANUP_HOST_USER struct pj_host_user user = {.name = NULL};
    PJ_CLEANUP_FREE char *path = path_of(program);
    *ret_note = NULL;
    if (!path)
        return pj_error_no_memory(err);
    int r = pj_host_user_parse(text, &user, err);
    if (r == 0)
        r = pj_host_user_become(&user, err);
    if (r == 0)
        r = check_program(program, path, &user, err);
    return r == 0 ? describe(&user, ret_note, err) : r;
}

int pj_as_user_refuse_foreign_cache(const struct pj_session *session, struct pj_error **err)
{
    const char *path = session->location.path;
    struct pj_host_owner owner = {.foreign = false};
    if (geteuid() != 0)
        return 0;
    int r = pj_host_owner_find(path, &owner, err);
    PJ_CLEANUP_FREE char *owned = owner.path;
    if (r < 0 || !owner.foreign)
        return r;
    PJ_CLEANUP_FREE char *name = pj_host_user_name_of(owner.uid);
    if (!name)
        return pj_error_no_memory(err);
    if (strcmp(owned, path) == 0)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT,
                            "the cache %s belongs to user %s, and prejit runs as root, whose files that "
                            "user's programs could not write: work as that user with --user %s, or give the "
                            "cache to root with chown -R root %s",
                            path, name, name, path);
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "the cache %s would be made in %s, which belongs to user %s, and prejit runs as root, "
        "whose files that user's programs could not write: work as that user with --user %s, "
        "or name a cache of root's own with --cache",
        path, owned, name, name);
}
