/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code in the cache beside what the driver compiles from the same images. */
#ifndef PREJIT_SESSION_AGAINST_H
#define PREJIT_SESSION_AGAINST_H

#include "image/code.h"
#include "session/run/session.h"

/** Has the driver compile the images of every proven job into a cache in a temporary folder. With
 * options->measure_cold of every missed one as well, and what it took becomes the outcomes' cold_ms. With
 * options->against_driver compares the code of its entries with that of the entries of the same names in the
 * session's cache, in which nothing is written. Sets against_driver and against_detail of the proven jobs'
 * outcomes, and notes which have other code. What keeps a job from being compared, also that there can be no
 * temporary folder, is its detail and no error. */
int pj_against_driver(struct pj_session *session, struct pj_error **err);

/** What a comparison of the cache's code (a) with the driver's (b) comes to. */
enum pj_against pj_against_read(enum pj_code_equality equality);

/** Appends what the comparison found in the entry, "c/a/920786966c763d"; nothing where the code is the same.
 */
void pj_against_describe(const struct pj_code_difference *difference, const char *entry,
                         struct pj_buffer *buffer);

#endif
