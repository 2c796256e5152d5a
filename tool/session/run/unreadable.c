/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether this user can use `index` as the driver does, and says so in plain words. */
#include "session/run/unreadable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "host/user.h"

/* 0, or why the driver cannot open `index` for update, nor make it. No directory at all is a cache that is
 * empty, which other words speak of. */
static int find_obstacle(const char *directory, const char *index)
{
    if (faccessat(AT_FDCWD, index, R_OK | W_OK, AT_EACCESS) == 0)
        return 0;
    int errnum = errno;
    if (errnum != ENOENT)
        return errnum;
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 || errno == ENOENT)
        return 0;
    return errno;
}

static const char *cure_for(int errnum)
{
    return errnum == EROFS ? "mount it writable, or keep index on a writable file system and make the name "
                             "index a symbolic link to it"
                           : "make index writable and its directory searchable for this user (chmod, chown), "
                             "or verify as the user whose programs use this cache, with --user";
}

static int note(struct pj_session *session, const char *index, int errnum, struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_FREE char *self = pj_host_user_name_of(geteuid());
    if (!self)
        return pj_error_no_memory(err);
    if (stat(index, &status) != 0)
        return pj_session_note(session, err,
                               "%s cannot be opened or made by user %s: %s; the driver then reads nothing "
                               "from this cache, without a word: %s",
                               index, self, strerror(errnum), cure_for(errnum));
    PJ_CLEANUP_FREE char *owner = pj_host_user_name_of(status.st_uid);
    if (!owner)
        return pj_error_no_memory(err);
    return pj_session_note(session, err,
                           "%s (mode %04o, owner %s) cannot be opened for writing by user %s: %s; the driver "
                           "then reads nothing from this cache, without a word: %s",
                           index, status.st_mode & 07777, owner, self, strerror(errnum), cure_for(errnum));
}

int pj_unreadable_ask(const struct pj_session *session, bool *ret_usable, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *index = pj_path_join(session->location.path, "index");
    if (!index)
        return pj_error_no_memory(err);
    *ret_usable = find_obstacle(session->location.path, index) == 0;
    return 0;
}

int pj_unreadable_explain(struct pj_session *session, struct pj_error **err)
{
    const char *directory = session->location.path;
    PJ_CLEANUP_FREE char *index = pj_path_join(directory, "index");
    if (!index)
        return pj_error_no_memory(err);
    int errnum = find_obstacle(directory, index);
    if (errnum == 0)
        return 0;
    const char *reason =
        pj_arena_printf(&session->arena, "the driver reads nothing here: this user cannot write index (%s)",
                        strerror(errnum));
    if (!reason)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < session->plan->job_count; i++) {
        struct pj_outcome *outcome = &session->outcomes[i];
        if (outcome->verdict != PJ_VERDICT_MISSED && outcome->verdict != PJ_VERDICT_EVICTED)
            continue;
        outcome->verdict = PJ_VERDICT_MISSED; /* it may well be there */
        outcome->reason_code = "index-not-writable";
        outcome->reason = reason;
    }
    return note(session, index, errnum, err);
}
