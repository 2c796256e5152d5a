/* SPDX-License-Identifier: Apache-2.0 */
/* The way of every command that works on a manifest: options, signals, the call, the report, the last line,
 * the exit status. */
#ifndef PREJIT_CLI_RUN_H
#define PREJIT_CLI_RUN_H

#include <prejit/prejit.h>

#include "cli/command.h"

typedef int pj_cli_call(const struct pj_options *options, struct pj_result **ret_result,
                        struct pj_error **err);

/** Runs `call` for the command and gives the exit status; where a signal ended the run, dies by it. */
int pj_cli_run(const struct pj_command *command, int count, char **arguments, pj_cli_call *call);

#endif
