/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a cache is, where that decides what can be done about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int pj_check_for_root(const struct pj_program *program, const char *path, bool *ret_foreign,
                      struct pj_finding_list *findings, struct pj_error **err)
{
    struct pj_host_owner owner = {.foreign = false};
    *ret_foreign = false;
    if (program->uid != 0)
        return 0;
    PJ_CLEANUP_FREE char *full = pj_program_path(program, path);
    if (!full)
        return pj_error_no_memory(err);
    int r = pj_host_owner_find(full, &owner, err);
    PJ_CLEANUP_FREE char *owned = owner.path;
    if (r < 0 || !owner.foreign)
        return r;
    PJ_CLEANUP_FREE char *name = name_of(program, owner.uid);
    if (!name)
        return pj_error_no_memory(err);
    *ret_foreign = true;
    if (strcmp(owned, full) == 0)
        return pj_finding_add(
            findings, PJ_FINDING_CACHE_NOT_OF_ROOT, path, name, err,
            "it belongs to user %s, and %s runs as root, whose files that user's programs could "
            "not write",
            name, program->who);
    return pj_finding_add(
        findings, PJ_FINDING_CACHE_NOT_OF_ROOT, path, name, err,
        "it would be made in %s, which belongs to user %s, and %s runs as root, whose files that "
        "user's programs could not write",
        owned + strlen(program->root), name, program->who);
}
