/* SPDX-License-Identifier: Apache-2.0 */
/* --user: the whole program becomes another user before anything else happens. */
#ifndef PREJIT_CLI_USER_H
#define PREJIT_CLI_USER_H

#include "base/error.h"
#include "cli/options.h"

/** The program that workers are started from: this one, wherever it lies. */
#define PJ_CLI_WORKER_PROGRAM "/proc/self/exe"

/** Becomes the user of --user, if there is one; says on standard error what is worth knowing of it. */
int pj_cli_become_user(const struct pj_cli_options *options, struct pj_error **err);

#endif
