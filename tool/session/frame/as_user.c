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
#include "cache/guard.h"
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
    const struct pj_host_root root = pj_host_root_from_environment();
    if (r == 0)
        r = pj_host_user_become(&user, &root, err);
    if (r == 0)
        r = check_program(program, path, &user, err);
    return r == 0 ? describe(&user, ret_note, err) : r;
}

int pj_as_user_refuse_foreign_cache(const struct pj_session *session, struct pj_error **err)
{
    if (session->way.fault == PJ_WAY_CLOSED)
        return 0;
    PJ_CLEANUP_FREE char *name = pj_host_user_name_of(session->way.status.st_uid);
    return name ? pj_guard_refuse(&session->way, session->location.path, name, err) : pj_error_no_memory(err);
}
