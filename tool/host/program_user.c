/* SPDX-License-Identifier: Apache-2.0 */
/* The program runs as another user: /etc/passwd and /etc/group below the root, else the name service. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/program.h"

enum { ID_MAX = 4294967294u, FIELDS = 7 };

/* Splits one line at its colons into at most FIELDS fields, in place; gives their number. */
static size_t split(char *line, char *fields[FIELDS])
{
    size_t count = 0;
    while (count < FIELDS) {
        fields[count++] = line;
        char *colon = strchr(line, ':');
        if (!colon || count == FIELDS)
            break;
        *colon = '\0';
        line = colon + 1;
    }
    return count;
}

struct entry {
    bool found;
    uid_t uid;
    gid_t gid;
    const char *name, *home;
};

static int read_lines(const struct pj_host_root *root, const char *path, struct pj_buffer *text,
                      struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_host_read(root, path, text, &problem) < 0) {
        pj_buffer_reset(text);
        return pj_error_code(problem) == PJ_ERROR_NO_MEMORY ? pj_error_no_memory(err) : 0;
    }
    return 0;
}

static int take_entry(struct pj_arena *arena, const char *name, uint64_t uid, uint64_t gid, const char *home,
                      struct entry *entry, struct pj_error **err)
{
    *entry = (struct entry){
        .found = true,
        .uid = (uid_t)uid,
        .gid = (gid_t)gid,
        .name = pj_arena_strdup(arena, name),
        .home = pj_arena_strdup(arena, home),
    };
    return entry->name && entry->home ? 0 : pj_error_no_memory(err);
}

/* By name, or by number where `wanted_name` is NULL. */
static int find_in_file(const struct pj_host_root *root, const char *wanted_name, uint64_t wanted_uid,
                        struct pj_arena *arena, struct entry *entry, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = read_lines(root, "/etc/passwd", &text, err);
    if (r < 0 || text.size == 0)
        return r;
    char *rest = text.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && !entry->found;) {
        char *fields[FIELDS];
        uint64_t uid, gid;
        if (split(line, fields) < 6 || !pj_text_to_u64(fields[2], ID_MAX, &uid) ||
            !pj_text_to_u64(fields[3], ID_MAX, &gid))
            continue;
        if (wanted_name ? strcmp(fields[0], wanted_name) == 0 : uid == wanted_uid)
            r = take_entry(arena, fields[0], uid, gid, fields[5], entry, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Directory services; only on the real machine. */
static int find_by_service(const char *wanted_name, uint64_t wanted_uid, struct pj_arena *arena,
                           struct entry *entry, struct pj_error **err)
{
    enum { SCRATCH_BYTES = 1 << 16 };
    PJ_CLEANUP_FREE char *scratch = malloc(SCRATCH_BYTES);
    struct passwd record, *found = NULL;
    if (!scratch)
        return pj_error_no_memory(err);
    int problem = wanted_name ? getpwnam_r(wanted_name, &record, scratch, SCRATCH_BYTES, &found)
                              : getpwuid_r((uid_t)wanted_uid, &record, scratch, SCRATCH_BYTES, &found);
    if (problem == ENOMEM)
        return pj_error_no_memory(err);
    return found ? take_entry(arena, found->pw_name, found->pw_uid, found->pw_gid, found->pw_dir, entry, err)
                 : 0;
}

static int find_entry(const struct pj_host_root *root, const char *name, uint64_t uid, struct pj_arena *arena,
                      struct entry *entry, struct pj_error **err)
{
    int r = find_in_file(root, name, uid, arena, entry, err);
    if (r == 0 && !entry->found && root->prefix[0] == '\0')
        r = find_by_service(name, uid, arena, entry, err);
    return r;
}

static bool lists_member(char *members, const char *name)
{
    for (char *member; (member = strsep(&members, ",")) != NULL;) {
        if (strcmp(member, name) == 0)
            return true;
    }
    return false;
}

static int find_groups(struct pj_program *program, const struct pj_host_root *root, const char *name,
                       struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = read_lines(root, "/etc/group", &text, err);
    if (r < 0 || text.size == 0)
        return r;
    char *rest = text.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *fields[FIELDS];
        uint64_t gid;
        if (split(line, fields) < 4 || !pj_text_to_u64(fields[2], ID_MAX, &gid) ||
            !lists_member(fields[3], name))
            continue;
        gid_t *added = PJ_ARRAY_PUSH(&program->groups);
        if (!added)
            return pj_error_no_memory(err);
        *added = (gid_t)gid;
    }
    return 0;
}

/* "UID" or "UID:GID"; a name otherwise. */
static bool read_numbers(const char *text, uint64_t *ret_uid, bool *ret_has_gid, uint64_t *ret_gid)
{
    char digits[16];
    size_t length = strcspn(text, ":");
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    *ret_has_gid = text[length] == ':';
    return pj_text_to_u64(digits, ID_MAX, ret_uid) &&
           (!*ret_has_gid || pj_text_to_u64(text + length + 1, ID_MAX, ret_gid));
}

static int without_entry(struct pj_program *program, uint64_t uid, bool has_gid,
                         struct pj_finding_list *findings, struct pj_error **err)
{
    program->uid = (uid_t)uid;
    program->gid = has_gid ? program->gid : (gid_t)uid;
    program->user_text = pj_arena_printf(&program->arena, "%lu", (unsigned long)uid);
    program->who = pj_arena_printf(&program->arena, "user %lu", (unsigned long)uid);
    if (!program->who || !program->user_text)
        return pj_error_no_memory(err);
    return pj_finding_add(findings, PJ_FINDING_USER_WITHOUT_ENTRY, program->user_text, NULL, err,
                          "there is no user %lu in /etc/passwd; HOME is taken to be /", (unsigned long)uid);
}

int pj_program_set_user(struct pj_program *program, const struct pj_host_root *root, const char *text,
                        bool set_home, struct pj_finding_list *findings, struct pj_error **err)
{
    struct entry entry = {.found = false};
    uint64_t uid = 0, gid = 0;
    bool has_gid = false;
    bool number = read_numbers(text, &uid, &has_gid, &gid);
    int r = find_entry(root, number ? NULL : text, uid, &program->arena, &entry, err);
    if (r < 0)
        return r;
    if (!number && !entry.found)
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "--user %s: there is no such user; give a name of /etc/passwd, UID or UID:GID",
                            text);
    program->own = false;
    program->groups.count = 0;
    if (has_gid)
        program->gid = (gid_t)gid;
    if (entry.found) {
        program->uid = entry.uid;
        program->gid = has_gid ? program->gid : entry.gid;
        program->user_text = entry.name;
        program->who = pj_arena_printf(&program->arena, "user %s", entry.name);
        r = program->who ? find_groups(program, root, entry.name, err) : pj_error_no_memory(err);
    } else {
        r = without_entry(program, uid, has_gid, findings, err);
    }
    if (r == 0 && set_home)
        r = pj_program_set_variable(program, "HOME", strlen("HOME"), entry.found ? entry.home : "/", err);
    return r;
}
