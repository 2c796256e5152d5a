/* SPDX-License-Identifier: Apache-2.0 */
/* The program that is asked about: its environment, user, working directory and root. */
#ifndef PREJIT_HOST_PROGRAM_H
#define PREJIT_HOST_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/finding.h"
#include "host/root.h"

struct pj_variable {
    const char *name, *value;
};

/** Free with pj_program_free. Strings live in the arena. */
struct pj_program {
    struct pj_arena arena;
    const char *who;  /* begins a sentence: "this process", "process 77 (app)", "user app" */
    const char *root; /* stands before its paths: "" unless its root directory is another one */
    struct {
        struct pj_variable *items;
        size_t count, capacity;
    } environment;
    bool environment_known;
    uid_t uid;
    gid_t gid;
    struct {
        gid_t *items;
        size_t count, capacity;
    } groups;
    const char *user_text; /* for chown: a name, or the number */
    const char *directory; /* absolute; NULL = not known */
    bool own;              /* the calling process: the kernel itself answers what it may do */
};

/** A program as the caller would start it. */
int pj_program_own(struct pj_program *ret_program, struct pj_error **err);

/** A running process, from /proc/<pid>. What cannot be read is a finding. No such process: PJ_ERROR_USAGE. */
int pj_program_of_process(const struct pj_host_root *root, long pid, struct pj_finding_list *findings,
                          struct pj_program *ret_program, struct pj_error **err);

/** The program runs as `text`, "NAME" or "UID" or "UID:GID", looked up in /etc/passwd and /etc/group; without
 * an environment file or process its HOME becomes that user's. PJ_ERROR_USAGE for a name that is not there.
 */
int pj_program_set_user(struct pj_program *program, const struct pj_host_root *root, const char *text,
                        bool set_home, struct pj_finding_list *findings, struct pj_error **err);

/** The program's environment is what the file says and nothing else: lines NAME=VALUE, comments with # or ;
 * as docker and systemd read them. PJ_ERROR_USAGE where it cannot be read. */
int pj_program_set_environment_file(struct pj_program *program, const char *path,
                                    struct pj_finding_list *findings, struct pj_error **err);

/** Value of a variable, or NULL. */
const char *pj_program_variable(const struct pj_program *program, const char *name);

/** Sets a variable, the last one of a name wins. */
int pj_program_set_variable(struct pj_program *program, const char *name, size_t name_size, const char *value,
                            struct pj_error **err);

/** Where a path of the program is for the caller; NULL when memory is out; free(). */
char *pj_program_path(const struct pj_program *program, const char *path);

enum { PJ_MAY_PASS = 1, PJ_MAY_WRITE = 2, PJ_MAY_READ = 4 };

/** Is it its group, or one of its supplementary ones? */
bool pj_program_in_group(const struct pj_program *program, gid_t group);

/** By owner, group and mode alone (no access lists, no read-only file system): may the program do all that
 * `wanted` says? */
bool pj_program_mode_allows(const struct pj_program *program, const struct stat *status, unsigned wanted);

/** The same for a file at the caller's path `path`; the kernel's own answer where the program is this
 * process, else access lists and a read-only file system count too. */
bool pj_program_may(const struct pj_program *program, const char *path, const struct stat *status,
                    unsigned wanted);

void pj_program_free(struct pj_program *program);
#define PJ_CLEANUP_PROGRAM __attribute__((cleanup(pj_program_free)))

/** How chown takes a user of whom the number alone is known; NULL when memory is out. */
const char *pj_program_user_text(struct pj_arena *arena, uid_t uid);

#endif
