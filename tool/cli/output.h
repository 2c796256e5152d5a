/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to the two streams so that nothing is lost without a word. */
#ifndef PREJIT_CLI_OUTPUT_H
#define PREJIT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/** Writes all of `text` to descriptor `fd`; false where it could not (closed, full): the reader gave up, or
 * the report is lost. */
bool pj_cli_write(int fd, const char *text, size_t size);

/** "prejit: " and the message to standard error. */
void pj_cli_complain(const char *message);

#endif
