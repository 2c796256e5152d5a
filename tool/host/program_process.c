/* SPDX-License-Identifier: Apache-2.0 */
/* The program is a running process: what /proc tells of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/program.h"

enum { ID_MAX = 4294967294u, LINK_MAX_BYTES = 4096 };

struct reading {
    const struct pj_host_root *root;
    long pid;
    struct pj_program *program;
    struct pj_finding_list *findings;
    struct pj_error **err;
    struct pj_buffer *unreadable; /* "environ (No such file or directory), cwd (…)" */
    bool *forbidden;              /* because we may not */
};

static char *path_of(const struct reading *reading, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "/proc/%ld/%s", reading->pid, name) < 0 ? NULL : path;
}

/* `why` counts where no errno tells. */
static int unreadable(const struct reading *reading, const char *name, int errnum, const char *why)
{
    pj_buffer_printf(reading->unreadable, "%s%s (%s)", reading->unreadable->size > 0 ? ", " : "", name,
                     errnum ? strerror(errnum) : why);
    *reading->forbidden |= errnum == EACCES || errnum == EPERM;
    return pj_buffer_check(reading->unreadable, reading->err);
}

/* One finding for all of it: whatever closes one of these files closes the others. */
static int say_unreadable(const struct reading *reading)
{
    if (reading->unreadable->size == 0)
        return 0;
    PJ_CLEANUP_FREE char *path = NULL;
    if (asprintf(&path, "/proc/%ld", reading->pid) < 0) {
        path = NULL;
        return pj_error_no_memory(reading->err);
    }
    bool as_root = *reading->forbidden && geteuid() == 0;
    return pj_finding_add(reading->findings,
                          as_root ? PJ_FINDING_PROCESS_CLOSED_TO_ROOT : PJ_FINDING_PROCESS_UNREADABLE, path,
                          NULL, reading->err, "not to be read: %s", pj_buffer_text(reading->unreadable));
}

/* A file of the process; remembered where it cannot be read. `ret_known` says which. */
static int read_file(const struct reading *reading, const char *name, struct pj_buffer *text, bool *ret_known)
{
    PJ_CLEANUP_FREE char *path = path_of(reading, name);
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    *ret_known = false;
    if (!path)
        return pj_error_no_memory(reading->err);
    if (pj_host_read(reading->root, path, text, &problem) == 0) {
        *ret_known = true;
        return 0;
    }
    if (pj_error_code(problem) == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(reading->err);
    return unreadable(reading, name, problem->errnum, pj_error_message(problem));
}

/* Target of a link of the process in `ret_target`; NULL, and remembered, where it cannot be read. */
static int read_link(const struct reading *reading, const char *name, char **ret_target)
{
    PJ_CLEANUP_FREE char *path = path_of(reading, name);
    PJ_CLEANUP_FREE char *full = path ? pj_host_path(reading->root, path) : NULL;
    char target[LINK_MAX_BYTES];
    *ret_target = NULL;
    if (!full)
        return pj_error_no_memory(reading->err);
    ssize_t length = readlink(full, target, sizeof target - 1);
    if (length < 0)
        return unreadable(reading, name, errno, NULL);
    target[length] = '\0';
    *ret_target = pj_arena_strdup(&reading->program->arena, target);
    return *ret_target ? 0 : pj_error_no_memory(reading->err);
}

static int read_environment(const struct reading *reading)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    int r = read_file(reading, "environ", &text, &reading->program->environment_known);
    for (size_t at = 0; r == 0 && reading->program->environment_known && at < text.size;) {
        const char *item = text.data + at;
        const char *equals = strchr(item, '=');
        if (equals)
            r = pj_program_set_variable(reading->program, item, (size_t)(equals - item), equals + 1,
                                        reading->err);
        at += strlen(item) + 1;
    }
    return r;
}

/* The numbers behind "Uid:", "Gid:" (real, effective, …) or "Groups:". */
static size_t read_ids(const char *status, const char *name, gid_t *ids, size_t most)
{
    size_t count = 0;
    const char *line = strstr(status, name);
    if (!line)
        return 0;
    for (const char *at = line + strlen(name); count < most;) {
        char *end;
        at += strspn(at, " \t");
        if (*at < '0' || *at > '9')
            break;
        unsigned long id = strtoul(at, &end, 10);
        ids[count++] = (gid_t)id;
        at = end;
    }
    return count;
}

static int read_status(const struct reading *reading)
{
    enum { GROUPS = 1024 };
    struct pj_program *program = reading->program;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    gid_t ids[GROUPS];
    bool known;
    int r = read_file(reading, "status", &text, &known);
    if (r < 0 || !known)
        return r;
    const char *status = pj_buffer_text(&text);
    if (read_ids(status, "\nUid:", ids, 2) == 2)
        program->uid = ids[1];
    if (read_ids(status, "\nGid:", ids, 2) == 2)
        program->gid = ids[1];
    size_t count = read_ids(status, "\nGroups:", ids, GROUPS);
    for (size_t i = 0; i < count; i++) {
        gid_t *added = PJ_ARRAY_PUSH(&program->groups);
        if (!added)
            return pj_error_no_memory(reading->err);
        *added = ids[i];
    }
    if (strncmp(status, "Name:\t", 6) == 0)
        program->who = pj_arena_printf(&program->arena, "process %ld (%.*s)", reading->pid,
                                       (int)strcspn(status + 6, "\n"), status + 6);
    program->user_text = pj_program_user_text(&program->arena, program->uid);
    return program->who && program->user_text ? 0 : pj_error_no_memory(reading->err);
}

/* A container's process shows "/" as its root, but lives in another mount namespace. */
static bool in_other_namespace(const struct reading *reading)
{
    PJ_CLEANUP_FREE char *path = path_of(reading, "ns/mnt");
    PJ_CLEANUP_FREE char *full = path ? pj_host_path(reading->root, path) : NULL;
    PJ_CLEANUP_FREE char *own = pj_host_path(reading->root, "/proc/self/ns/mnt");
    struct stat its, ours;
    return full && own && stat(full, &its) == 0 && stat(own, &ours) == 0 &&
           (its.st_dev != ours.st_dev || its.st_ino != ours.st_ino);
}

static int read_folders(const struct reading *reading)
{
    struct pj_program *program = reading->program;
    char *directory, *root;
    int r = read_link(reading, "cwd", &directory);
    if (r == 0)
        r = read_link(reading, "root", &root);
    if (r < 0)
        return r;
    program->directory = directory;
    bool elsewhere = in_other_namespace(reading);
    if (!root || (strcmp(root, "/") == 0 && !elsewhere))
        return 0;
    program->root = pj_arena_printf(&program->arena, "%s/proc/%ld/root", reading->root->prefix, reading->pid);
    if (!program->root)
        return pj_error_no_memory(reading->err);
    return pj_finding_add(reading->findings, PJ_FINDING_OTHER_ROOT, program->who, NULL, reading->err,
                          "its root is %s%s; its paths are looked up there", root,
                          elsewhere ? " of another mount namespace" : "");
}

int pj_program_of_process(const struct pj_host_root *root, long pid, struct pj_finding_list *findings,
                          struct pj_program *ret_program, struct pj_error **err)
{
    PJ_CLEANUP_PROGRAM struct pj_program program = {.root = "", .uid = (uid_t)-1, .gid = (gid_t)-1};
    PJ_CLEANUP_BUFFER struct pj_buffer unread = {0};
    bool forbidden = false;
    const struct reading reading = {root, pid, &program, findings, err, &unread, &forbidden};
    PJ_CLEANUP_FREE char *path = path_of(&reading, "");
    PJ_CLEANUP_FREE char *full = path ? pj_host_path(root, path) : NULL;
    struct stat status;
    program.who = pj_arena_printf(&program.arena, "process %ld", pid);
    program.user_text = "-";
    if (!full || !program.who)
        return pj_error_no_memory(err);
    if (stat(full, &status) != 0)
        return pj_error_set(err, PJ_ERROR_USAGE, "--pid %ld: there is no such process", pid);
    int r = read_status(&reading);
    if (r == 0)
        r = read_environment(&reading);
    if (r == 0)
        r = read_folders(&reading);
    if (r == 0)
        r = say_unreadable(&reading);
    if (r < 0)
        return r;
    *ret_program = program;
    program = (struct pj_program){0};
    return 0;
}
