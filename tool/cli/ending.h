/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends for its caller: by a signal or not, with its report written. */
#ifndef PREJIT_CLI_ENDING_H
#define PREJIT_CLI_ENDING_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/options.h"

/** A descriptor that becomes readable when a signal shall end the run; workers inherit these signals blocked,
 * so that only the parent decides. Writing to a reader that is gone gives errors from now on. */
int pj_cli_signals_open(struct pj_error **err);

/** Number of the signal that came, 0 where it cannot be read. */
int pj_cli_signals_read(int signals_fd);

/** Ends by the same signal, once everything is written, so that a caller's shell or service manager sees what
 * happened. Gives the exit status where it does not come to that. */
int pj_cli_die_by_signal(int number);

/** Writes the report: `body` (NULL: none) and the answer to standard output, the answer below JSON to
 * standard error, and with -q the answer alone by the rule of pj_cli_answer. *status changes where the report
 * could not be written. */
int pj_cli_print_report(const struct pj_cli_options *options, const char *body, const char *answer,
                        int *status, struct pj_error **err);

#endif
