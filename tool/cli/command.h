/* SPDX-License-Identifier: Apache-2.0 */
/* The command table: each command is one constant in a file of its own. */
#ifndef PREJIT_CLI_COMMAND_H
#define PREJIT_CLI_COMMAND_H

#include <stdbool.h>

/** One command. `run` gets the arguments from the command's own name on and gives the exit status. */
struct pj_command {
    const char *name;
    const char *arguments; /* for the usage line: "[options] MANIFEST" */
    bool takes_manifest, manifest_is_optional;
    const char *summary; /* one line of `prejit --help` */
    const char *description;
    bool hidden;
    int (*run)(const struct pj_command *command, int count, char **arguments);
};

extern const struct pj_command pj_command_warm;
extern const struct pj_command pj_command_verify;
extern const struct pj_command pj_command_plan;
extern const struct pj_command pj_command_build;
extern const struct pj_command pj_command_profile;
extern const struct pj_command pj_command_cache;
extern const struct pj_command pj_command_doctor;
extern const struct pj_command pj_command_worker;

/** All of them, NULL-terminated, in the order of the help. */
extern const struct pj_command *const pj_commands[];

#endif
