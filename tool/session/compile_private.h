/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the compile phase share. */
#ifndef PREJIT_SESSION_COMPILE_PRIVATE_H
#define PREJIT_SESSION_COMPILE_PRIVATE_H

#include "session/compile.h"

/** How often a job is compiled again because the driver stored nothing: it gives its lock up without a word
 * [23]. After a death it is once. */
enum { PJ_COMPILE_AGAIN_MAX = 2 };

/** Takes in what a worker said about the job it loaded. */
int pj_compile_take_result(struct pj_compile *compile, struct pj_compile_seat *seat,
                           const struct pj_wire_loaded *loaded, struct pj_error **err);

/** A worker died while it loaded `job`: once more alone, or the verdict. */
int pj_compile_blame(struct pj_compile *compile, size_t job, const struct pj_death *death,
                     struct pj_error **err);

/** Queues `job` to be tried once more, alone. */
void pj_compile_again(struct pj_compile *compile, size_t job);

/** What a job may take. */
double pj_compile_timeout_ms(const struct pj_session *session);

/** Tells the observer that a worker took a job. */
void pj_compile_tell_started(const struct pj_compile *compile, size_t job);

/** Tells the observer that a job is finished. */
void pj_compile_tell(const struct pj_compile *compile, size_t job, const char *outcome, bool attention);

#endif
