/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a cache is, where that decides what can be done about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/way.h"
#include "host/check.h"
#include "host/user.h"

/* free(); in another root directory our names mean nothing. */
static char *name_of(const struct pj_program *program, uid_t uid)
{
    char *number = NULL;
    if (program->root[0] == '\0')
        return pj_host_user_name_of(uid);
    return asprintf(&number, "%lu", (unsigned long)uid) < 0 ? NULL : number;
}

bool pj_check_is_foreign(const struct pj_program *program, const struct stat *status)
{
    return status->st_uid != program->uid && status->st_uid != 0;
}

int pj_check_closed(const struct pj_program *program, const char *path, const struct stat *status,
                    const char *what, struct pj_finding_list *findings, struct pj_error **err)
{
    bool foreign = pj_check_is_foreign(program, status);
    PJ_CLEANUP_FREE char *owner = name_of(program, status->st_uid);
    if (!owner)
        return pj_error_no_memory(err);
    return pj_finding_add(findings, foreign ? PJ_FINDING_CACHE_OF_OTHER_USER : PJ_FINDING_CACHE_CLOSED, path,
                          foreign ? owner : program->user_text, err,
                          "it belongs to user %s (mode %04o), and user %s %s", owner,
                          (unsigned)(status->st_mode & 07777u), program->user_text, what);
}

static int add_open(const struct pj_program *program, const struct pj_way *way,
                    struct pj_finding_list *findings, struct pj_error **err)
{
    const char *who = way->fault == PJ_WAY_LINK         ? "a symbolic link that another user can exchange"
                      : (way->status.st_mode & S_IWOTH) ? "everybody can write it"
                                                        : "its group can write it";
    return pj_finding_add(findings, PJ_FINDING_ROOT_AMONG_OTHERS, way->culprit, NULL, err,
                          "%s (owner %lu, group %lu, mode %04o), and %s runs as root", who,
                          (unsigned long)way->status.st_uid, (unsigned long)way->status.st_gid,
                          (unsigned)(way->status.st_mode & 07777u), program->who);
}

int pj_check_for_root(const struct pj_program *program, const char *path, bool *ret_foreign,
                      struct pj_finding_list *findings, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    *ret_foreign = false;
    if (program->uid != 0)
        return 0;
    int r = pj_way_walk(program->root, path, PJ_WAY_TO_CACHE, &way, err);
    if (r < 0 || way.fault == PJ_WAY_CLOSED)
        return r;
    if (way.fault != PJ_WAY_OF_OTHER)
        return add_open(program, &way, findings, err);
    PJ_CLEANUP_FREE char *name = name_of(program, way.status.st_uid);
    if (!name)
        return pj_error_no_memory(err);
    *ret_foreign = true;
    if (strcmp(way.culprit, path) == 0)
        return pj_finding_add(
            findings, PJ_FINDING_CACHE_NOT_OF_ROOT, path, name, err,
            "it belongs to user %s, and %s runs as root, whose files that user's programs could "
            "not write",
            name, program->who);
    return pj_finding_add(findings, PJ_FINDING_CACHE_NOT_OF_ROOT, path, name, err,
                          "it %s %s, which belongs to user %s, and %s runs as root, whose files that "
                          "user's programs could not write",
                          way.exists ? "lies in" : "would be made in", way.culprit, name, program->who);
}
