/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a command that did not come to its work: help or message, JSON where it was asked for, exit
 * status. */
#ifndef PREJIT_CLI_REFUSE_H
#define PREJIT_CLI_REFUSE_H

#include <stdbool.h>

#include <prejit/prejit.h>

#include "cli/command.h"

/** Shows the command's help and gives the exit status. */
int pj_cli_show_help(const struct pj_command *command);

/** Complains, frees `error` and gives the exit status. With `json` a script gets a document to read also
 * where no run took place. `command` NULL: none was named. */
int pj_cli_refuse(const struct pj_command *command, bool json, struct pj_error *error);

/** Is JSON asked for in arguments that could not be parsed? */
bool pj_cli_asks_for_json(int count, char **arguments);

/** Says that standard output did not take the report; gives the exit status: PJ_EXIT_ENVIRONMENT
 * where `status` is 0, else `status`. */
int pj_cli_lost_report(int status);

#endif
