/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that work on a manifest: one table for parsing and help. */
#ifndef PREJIT_CLI_OPTIONS_H
#define PREJIT_CLI_OPTIONS_H

#include <prejit/prejit.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/command.h"

enum pj_cli_format { PJ_CLI_TABLE, PJ_CLI_JSON };

struct pj_cli_options {
    struct pj_options run;
    enum pj_cli_format format;
    unsigned quiet; /* 1: the answer alone; 2: nothing where all is well */
    bool verbose, help;
    char **targets;       /* what run.targets points to: each -t, lists taken apart */
    const char **modules; /* what run.modules points to */
    char *driver;         /* absolute form of --driver or PREJIT_DRIVER */
    const char *out_dir;  /* of build; NULL = not given */
    const char *out_file; /* of profile; NULL = standard output */
    const char **offline; /* what run.offline points to */
    bool check;           /* the same */
    const char *env_file; /* of doctor */
    long pid;             /* the same; 0 = none */
    bool no_driver;       /* the same */
};

/** Parses; PJ_ERROR_USAGE names the option, what was given and what is allowed. With --help only `help`
 * counts. */
int pj_cli_options_parse(const struct pj_command *command, int count, char **arguments,
                         struct pj_cli_options *ret_options, struct pj_error **err);

/** Appends the help of one command. */
void pj_cli_options_help(const struct pj_command *command, struct pj_buffer *text);

void pj_cli_options_free(struct pj_cli_options *options);

#endif
