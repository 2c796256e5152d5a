/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to the two streams so that nothing is lost without a word. */
#ifndef PREJIT_CLI_OUTPUT_H
#define PREJIT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/** Writes all of `text` to descriptor `fd`; false where it could not (closed, full): the reader gave up, or
 * the report is lost. */
bool pj_cli_write(int fd, const char *text, size_t size);

/** With -q: the answer to standard output, and where `status` is no success to standard error as well, unless
 * both are one file. With -qq (`quiet` 2) a success is not told. False where standard output did not take it.
 */
bool pj_cli_answer(const char *text, size_t size, unsigned quiet, int status);

/** Writes the answer to a command that does nothing else, to standard output; gives the exit status: 0, or
 * PJ_EXIT_ENVIRONMENT after a complaint where it could not. */
int pj_cli_show(const char *text, size_t size);

/** Where standard output is closed: what pj_cli_show would complain of and give after the work, before it. 0
 * where it is not; it may still be full by then. */
int pj_cli_check_show(void);

/** The message to standard error, "prejit: " before it unless it starts with a place in a file. Its lines
 * stay lines; other control characters are made visible. */
void pj_cli_complain(const char *message);

#endif
