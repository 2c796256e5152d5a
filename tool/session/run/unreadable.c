/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether this user can use `index` as the driver does, and says so in plain words; and what to do
 * where a cache is closed. */
#include "session/run/unreadable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "host/check.h"
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

/* What `doctor` would say of it: an error, else that it is root's, else that something in it is closed. NULL
 * in *ret_finding where the user is root, for whom nothing is. */
static int find_closed(const char *cache, struct pj_finding_list *findings,
                       const struct pj_finding **ret_finding, struct pj_error **err)
{
    PJ_CLEANUP_PROGRAM struct pj_program program = {.root = ""};
    struct stat status;
    bool exists = false;
    *ret_finding = NULL;
    int r = pj_program_own(&program, err);
    if (r == 0)
        r = pj_check_path(&program, cache, &exists, findings, err);
    if (r == 0 && exists)
        r = pj_check_index(&program, cache, findings, err);
    const struct pj_finding *found = pj_finding_with(findings, PJ_STOPS_READING);
    for (size_t i = 0; i < findings->count && !found; i++) {
        if (findings->items[i].code == PJ_FINDING_CACHE_OF_ROOT)
            found = &findings->items[i];
    }
    bool closed_within = r == 0 && !found && geteuid() != 0 && stat(cache, &status) == 0;
    if (closed_within) {
        r = pj_check_closed(&program, cache, &status, "may not use all that is in it", findings, err);
        found = pj_finding_with(findings, PJ_STOPS_READING);
    }
    *ret_finding = r == 0 ? found : NULL;
    return r;
}

int pj_unreadable_refuse(const char *cache, int failure, struct pj_error **err)
{
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list findings = {0};
    const struct pj_finding *finding;
    if (failure >= 0 || !err || !*err || ((*err)->errnum != EACCES && (*err)->errnum != EPERM))
        return failure;
    struct pj_error *problem = PJ_STEAL(*err);
    int r = find_closed(cache, &findings, &finding, err);
    if (r < 0 || !finding) {
        if (r == 0)
            *err = PJ_STEAL(problem);
        pj_error_free(problem);
        return r < 0 ? r : failure;
    }
    bool same = strcmp(finding->subject, cache) == 0;
    r = pj_error_set(err, (enum pj_error_code)failure, "%s: %s%s%s; %s", pj_error_message(problem),
                     same ? "" : finding->subject, same ? "" : ": ", finding->found, finding->cure);
    pj_error_free(problem);
    return r;
}

/* free(); NULL when memory is out */
static char *cure_for(const char *cache, int errnum, struct pj_error **err)
{
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list findings = {0};
    const struct pj_finding *finding = NULL;
    if (errnum == EACCES && find_closed(cache, &findings, &finding, err) < 0)
        return NULL;
    char *cure = NULL;
    if (finding && asprintf(&cure, "%s; %s", finding->found, finding->cure) < 0)
        cure = NULL;
    else if (!finding)
        cure = strdup(errnum == EROFS
                          ? "mount it writable, or keep index on a writable file system and make the name "
                            "index a symbolic link to it"
                          : "make index writable and its directory searchable for this user (chmod, chown), "
                            "or verify as the user whose programs use this cache, with --user");
    if (!cure)
        (void)pj_error_no_memory(err);
    return cure;
}

static int note(struct pj_session *session, const char *index, int errnum, struct pj_error **err)
{
    struct stat status;
    PJ_CLEANUP_FREE char *self = pj_host_user_name_of(geteuid());
    PJ_CLEANUP_FREE char *cure = NULL;
    if (!self)
        return pj_error_no_memory(err);
    cure = cure_for(session->location.path, errnum, err);
    if (!cure)
        return PJ_ERROR_NO_MEMORY;
    if (stat(index, &status) != 0)
        return pj_session_note(session, err,
                               "%s cannot be opened or made by user %s: %s; the driver then reads nothing "
                               "from this cache, without a word: %s",
                               index, self, strerror(errnum), cure);
    PJ_CLEANUP_FREE char *owner = pj_host_user_name_of(status.st_uid);
    if (!owner)
        return pj_error_no_memory(err);
    return pj_session_note(session, err,
                           "%s (mode %04o, owner %s) cannot be opened for writing by user %s: %s; the driver "
                           "then reads nothing from this cache, without a word: %s",
                           index, status.st_mode & 07777, owner, self, strerror(errnum), cure);
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
