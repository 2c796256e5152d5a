/* SPDX-License-Identifier: Apache-2.0 */
/* Options of other tools that people type by habit, and what prejit has in their place. */
#ifndef PREJIT_CLI_FOREIGN_H
#define PREJIT_CLI_FOREIGN_H

#include <stdbool.h>

#include "base/buffer.h"

/** Is `argument` an option of nvcc, clang or another tool, as `-arch=sm_90`, `--json` or `-n`? Appends what
 * to give instead: "-t sm_90". `next` is the argument behind it, or NULL. */
bool pj_cli_foreign_option(const char *argument, const char *next, struct pj_buffer *ret_advice);

/** What to type in place of a command word that there is none of: "prejit cache ls" for `ls`; NULL where
 * nothing is known. */
const char *pj_cli_foreign_command(const char *word);

#endif
