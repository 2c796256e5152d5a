/* SPDX-License-Identifier: Apache-2.0 */
/* Users by name and number, and the one-way change to one of them. */
#include "host/user.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"

/* (uid_t)-1 means "leave it" to the kernel, so it is nobody's number. */
#define ID_MAX (UINT32_MAX - 1)

static bool parse_numbers(const char *text, uid_t *ret_uid, bool *ret_has_gid, gid_t *ret_gid)
{
    enum { NUMBER_TEXT = 16 };
    char first[NUMBER_TEXT];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    uint64_t uid, gid = 0;
    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!pj_text_to_u64(first, ID_MAX, &uid) || (colon && !pj_text_to_u64(colon + 1, ID_MAX, &gid)))
        return false;
    *ret_uid = (uid_t)uid;
    *ret_has_gid = colon != NULL;
    *ret_gid = (gid_t)gid;
    return true;
}

static int no_such_user(const char *text, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer shown = {0};
    pj_text_escape(&shown, text, strlen(text));
    bool looks_like_number = text[strspn(text, "0123456789:")] == '\0';
    return pj_error_set(err, PJ_ERROR_USAGE, "--user %s: %s", pj_buffer_text(&shown),
                        *text == '\0' || looks_like_number
                            ? "it is UID, UID:GID or a user's name"
                            : "there is no user of this name in the passwd database; give UID or UID:GID");
}

/* That there is no entry, getpwnam and getpwuid say with errno 0, ENOENT and the like. These mean that nobody
 * could look. */
static bool is_failure(int errnum)
{
    return errnum == EIO || errnum == EMFILE || errnum == ENFILE || errnum == EINTR || errnum == ERANGE;
}

static int fill_from_entry(struct pj_host_user *user, const struct passwd *entry, bool has_gid,
                           struct pj_error **err)
{
    user->uid = entry->pw_uid;
    if (!has_gid)
        user->gid = entry->pw_gid;
    user->name = strdup(entry->pw_name);
    user->home = strdup(entry->pw_dir && *entry->pw_dir ? entry->pw_dir : "/");
    return user->name && user->home ? 0 : pj_error_no_memory(err);
}

static int find_user(const char *text, struct pj_host_user *user, struct pj_error **err)
{
    bool has_gid = false;
    bool number = parse_numbers(text, &user->uid, &has_gid, &user->gid);
    const struct passwd *entry = NULL;
    errno = 0;
    if (number)
        entry = getpwuid(user->uid);
    else if (*text != '\0')
        entry = getpwnam(text);
    if (entry)
        return fill_from_entry(user, entry, has_gid, err);
    if (errno == ENOMEM)
        return pj_error_no_memory(err);
    if (is_failure(errno))
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                              "--user %s: cannot look into the passwd database", text);
    if (!number)
        return no_such_user(text, err);
    if (!has_gid)
        user->gid = (gid_t)user->uid;
    user->home = strdup("/");
    return user->home ? 0 : pj_error_no_memory(err);
}

int pj_host_user_parse(const char *text, struct pj_host_user *ret_user, struct pj_error **err)
{
    struct pj_host_user user = {.name = NULL};
    int r = find_user(text, &user, err);
    if (r < 0) {
        pj_host_user_free(&user);
        return r;
    }
    *ret_user = user;
    return 0;
}

void pj_host_user_free(struct pj_host_user *user)
{
    free(user->name);
    free(user->home);
    *user = (struct pj_host_user){.name = NULL};
}

const char *pj_host_user_text(const struct pj_host_user *user, char buffer[PJ_HOST_USER_TEXT])
{
    if (user->name)
        return user->name;
    (void)snprintf(buffer, PJ_HOST_USER_TEXT, "%lu", (unsigned long)user->uid);
    return buffer;
}

char *pj_host_user_name_of(uid_t uid)
{
    const struct passwd *entry = getpwuid(uid);
    char *text = NULL;
    if (entry)
        return strdup(entry->pw_name);
    return asprintf(&text, "%lu", (unsigned long)uid) < 0 ? NULL : text;
}

static bool contains(const gid_t *groups, size_t count, gid_t group)
{
    for (size_t i = 0; i < count; i++) {
        if (groups[i] == group)
            return true;
    }
    return false;
}

enum { GROUPS_MAX = 65536 };

/* The user's own groups; its primary one is among them. */
static int own_groups(const struct pj_host_user *user, gid_t *groups, size_t *ret_count)
{
    int count = GROUPS_MAX;
    groups[0] = user->gid;
    *ret_count = 1;
    if (!user->name)
        return 0;
    if (getgrouplist(user->name, user->gid, groups, &count) < 0)
        return EINVAL;
    *ret_count = (size_t)count;
    return 0;
}

/* Does the group own a device node that matches, and may it use it? */
static int owns_nodes(const struct pj_host_root *root, const char *pattern, gid_t group, bool *ret_owns)
{
    glob_t found = {.gl_pathc = 0};
    PJ_CLEANUP_FREE char *path = pj_host_path(root, pattern);
    if (!path)
        return ENOMEM;
    int r = glob(path, GLOB_NOSORT, NULL, &found);
    for (size_t i = 0; r == 0 && i < found.gl_pathc; i++) {
        struct stat status;
        *ret_owns |= stat(found.gl_pathv[i], &status) == 0 && status.st_gid == group &&
                     (status.st_mode & S_IRWXG) != 0 && !S_ISDIR(status.st_mode);
    }
    globfree(&found);
    return r == GLOB_NOSPACE ? ENOMEM : 0;
}

static int owns_devices(const struct pj_host_root *root, gid_t group, bool *ret_owns)
{
    static const char *const patterns[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dxg", "/dev/dri/*"};
    int r = 0;
    *ret_owns = false;
    for (size_t i = 0; i < PJ_COUNT(patterns) && r == 0 && !*ret_owns; i++)
        r = owns_nodes(root, patterns[i], group, ret_owns);
    return r;
}

static int set_groups(const struct pj_host_user *user, const struct pj_host_root *root, struct pj_error **err)
{
    PJ_CLEANUP_FREE gid_t *groups = calloc(2 * (size_t)GROUPS_MAX, sizeof *groups);
    PJ_CLEANUP_FREE gid_t *callers = calloc(GROUPS_MAX, sizeof *callers);
    size_t count = 0;
    if (!groups || !callers)
        return pj_error_no_memory(err);
    int failed = own_groups(user, groups, &count);
    int had = failed ? 0 : getgroups(GROUPS_MAX, callers);
    for (int i = 0; i < had && !failed; i++) {
        bool keep = false;
        if (callers[i] != 0 && !contains(groups, count, callers[i]))
            failed = owns_devices(root, callers[i], &keep);
        if (keep)
            groups[count++] = callers[i];
    }
    if (!failed && (had < 0 || setgroups(count, groups) != 0))
        failed = errno;
    char buffer[PJ_HOST_USER_TEXT];
    if (failed == ENOMEM)
        return pj_error_no_memory(err);
    return failed ? pj_error_errno(err, PJ_ERROR_ENVIRONMENT, failed,
                                   "cannot become user %s: its groups cannot be set (are they part of this "
                                   "user namespace?)",
                                   pj_host_user_text(user, buffer))
                  : 0;
}

static int set_ids(const struct pj_host_user *user, struct pj_error **err)
{
    uid_t uids[3];
    gid_t gids[3];
    char buffer[PJ_HOST_USER_TEXT];
    const char *text = pj_host_user_text(user, buffer);
    if (setresgid(user->gid, user->gid, user->gid) != 0)
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                              "cannot become user %s: group %lu is refused (is it part of this user "
                              "namespace?)",
                              text, (unsigned long)user->gid);
    if (setresuid(user->uid, user->uid, user->uid) != 0)
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, errno,
                              "cannot become user %s: UID %lu is refused (is it part of this user "
                              "namespace?)",
                              text, (unsigned long)user->uid);
    bool is_so = getresuid(&uids[0], &uids[1], &uids[2]) == 0 && getresgid(&gids[0], &gids[1], &gids[2]) == 0;
    for (size_t i = 0; i < PJ_COUNT(uids) && is_so; i++)
        is_so = uids[i] == user->uid && gids[i] == user->gid;
    /* A way back would mean that the proof speaks of root after all. */
    if (!is_so || (user->uid != 0 && setresuid((uid_t)-1, 0, (uid_t)-1) == 0))
        return pj_error_set(err, PJ_ERROR_INTERNAL, "the kernel did not make this process user %s", text);
    return 0;
}

static int refuse_other(const struct pj_host_user *user, struct pj_error **err)
{
    char buffer[PJ_HOST_USER_TEXT];
    bool same_user = user->uid == geteuid();
    return pj_error_set(err, PJ_ERROR_USAGE,
                        "--user %s: only root can become another %s, and this is user %lu, group %lu; leave "
                        "--user out, or run prejit as root",
                        pj_host_user_text(user, buffer), same_user ? "group" : "user",
                        (unsigned long)geteuid(), (unsigned long)getegid());
}

int pj_host_user_become(const struct pj_host_user *user, const struct pj_host_root *root,
                        struct pj_error **err)
{
    if (geteuid() != 0) {
        /* A name stands for the user alone: in which of its groups it runs is its own business. */
        bool itself =
            user->uid == geteuid() && user->uid == getuid() && (user->gid == getegid() || user->name != NULL);
        return itself ? 0 : refuse_other(user, err);
    }
    int r = set_groups(user, root, err);
    if (r == 0)
        r = set_ids(user, err);
    if (r < 0)
        return r;
    (void)umask(022);
    return setenv("HOME", user->home, 1) == 0 ? 0 : pj_error_no_memory(err);
}
