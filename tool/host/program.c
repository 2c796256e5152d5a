/* SPDX-License-Identifier: Apache-2.0 */
/* The program asked about: made from the calling process, what it may do, its variables. */
#include "host/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/access_list.h"

/* A longer access list than this is judged by the mode alone. */
enum { LIST_MAX_BYTES = 4096 };

int pj_program_set_variable(struct pj_program *program, const char *name, size_t name_size, const char *value,
                            struct pj_error **err)
{
    char *copy = pj_arena_strdup(&program->arena, value);
    if (!copy)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < program->environment.count; i++) {
        struct pj_variable *variable = &program->environment.items[i];
        if (strncmp(variable->name, name, name_size) == 0 && variable->name[name_size] == '\0') {
            variable->value = copy;
            return 0;
        }
    }
    char *name_copy = pj_arena_strndup(&program->arena, name, name_size);
    struct pj_variable *added = name_copy ? PJ_ARRAY_PUSH(&program->environment) : NULL;
    if (!added)
        return pj_error_no_memory(err);
    *added = (struct pj_variable){name_copy, copy};
    return 0;
}

const char *pj_program_variable(const struct pj_program *program, const char *name)
{
    for (size_t i = 0; i < program->environment.count; i++) {
        if (strcmp(program->environment.items[i].name, name) == 0)
            return program->environment.items[i].value;
    }
    return NULL;
}

static int copy_environment(struct pj_program *program, struct pj_error **err)
{
    for (char **item = environ; item && *item; item++) {
        const char *equals = strchr(*item, '=');
        int r =
            equals ? pj_program_set_variable(program, *item, (size_t)(equals - *item), equals + 1, err) : 0;
        if (r < 0)
            return r;
    }
    program->environment_known = true;
    return 0;
}

static int copy_groups(struct pj_program *program, struct pj_error **err)
{
    int count = getgroups(0, NULL);
    PJ_CLEANUP_FREE gid_t *groups = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *groups);
    if (!groups)
        return pj_error_no_memory(err);
    count = count > 0 ? getgroups(count, groups) : 0;
    for (int i = 0; i < count; i++) {
        gid_t *added = PJ_ARRAY_PUSH(&program->groups);
        if (!added)
            return pj_error_no_memory(err);
        *added = groups[i];
    }
    return 0;
}

const char *pj_program_user_text(struct pj_arena *arena, uid_t uid)
{
    return uid == 0 ? "root" : pj_arena_printf(arena, "%lu", (unsigned long)uid);
}

int pj_program_own(struct pj_program *ret_program, struct pj_error **err)
{
    PJ_CLEANUP_PROGRAM struct pj_program program = {
        .who = "this process", .root = "", .uid = geteuid(), .gid = getegid(), .own = true};
    PJ_CLEANUP_FREE char *directory = getcwd(NULL, 0);
    int r = !directory && errno == ENOMEM ? pj_error_no_memory(err) : 0;
    if (r == 0)
        r = copy_environment(&program, err);
    if (r == 0)
        r = copy_groups(&program, err);
    if (r < 0)
        return r;
    program.user_text = pj_program_user_text(&program.arena, program.uid);
    program.directory = directory ? pj_arena_strdup(&program.arena, directory) : NULL;
    if (!program.user_text || (directory && !program.directory))
        return pj_error_no_memory(err);
    *ret_program = program;
    program = (struct pj_program){0};
    return 0;
}

char *pj_program_path(const struct pj_program *program, const char *path)
{
    char *full = NULL;
    return asprintf(&full, "%s%s", program->root, path) < 0 ? NULL : full;
}

bool pj_program_in_group(const struct pj_program *program, gid_t group)
{
    if (program->gid == group)
        return true;
    for (size_t i = 0; i < program->groups.count; i++) {
        if (program->groups.items[i] == group)
            return true;
    }
    return false;
}

bool pj_program_mode_allows(const struct pj_program *program, const struct stat *status, unsigned wanted)
{
    unsigned mode = status->st_mode & 0777u;
    if (program->uid == 0)
        return !(wanted & PJ_MAY_PASS) || S_ISDIR(status->st_mode) || (mode & 0111u);
    unsigned allowed = program->uid == status->st_uid                 ? mode >> 6
                       : pj_program_in_group(program, status->st_gid) ? mode >> 3
                                                                      : mode;
    return (allowed & wanted) == wanted;
}

bool pj_program_may(const struct pj_program *program, const char *path, const struct stat *status,
                    unsigned wanted)
{
    if (program->own) {
        int mode = (wanted & PJ_MAY_PASS ? X_OK : 0) | (wanted & PJ_MAY_WRITE ? W_OK : 0) |
                   (wanted & PJ_MAY_READ ? R_OK : 0);
        return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
    }
    struct statvfs file_system;
    bool read_only = (wanted & PJ_MAY_WRITE) && !S_ISCHR(status->st_mode) &&
                     statvfs(path, &file_system) == 0 && (file_system.f_flag & ST_RDONLY);
    if (read_only)
        return false;
    unsigned char list[LIST_MAX_BYTES];
    ssize_t size = program->uid == 0 ? -1 : getxattr(path, "system.posix_acl_access", list, sizeof list);
    bool allowed;
    return size > 0 && pj_access_list_allows(list, (size_t)size, program, status, wanted, &allowed)
               ? allowed
               : pj_program_mode_allows(program, status, wanted);
}

void pj_program_free(struct pj_program *program)
{
    free(program->environment.items);
    free(program->groups.items);
    pj_arena_free(&program->arena);
    *program = (struct pj_program){0};
}
