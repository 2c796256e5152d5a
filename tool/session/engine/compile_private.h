/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the compile phase share. */
#ifndef PREJIT_SESSION_ENGINE_COMPILE_PRIVATE_H
#define PREJIT_SESSION_ENGINE_COMPILE_PRIVATE_H

#include "session/engine/compile.h"

/** How often a job is compiled again because the driver stored nothing: it gives its lock up without a word
 * [23]. After a death it is once. */
enum { PJ_COMPILE_AGAIN_MAX = 2 };

/** Takes in what a worker said about the job it loaded. */
int pj_compile_take_result(struct pj_compile *compile, struct pj_compile_seat *seat,
                           const struct pj_wire_loaded *loaded, struct pj_error **err);

/** What a job's compile left behind. */
struct pj_compile_entries {
    uint64_t *hashes; /* free() */
    size_t count;
    bool complete; /* all that the job needs is in the seat's folder */
    bool fresh;    /* this call stored them all; else an earlier one some: it tells no compile time */
};

/** Finds the job's entries among those that are new and those that lie in the seat's folder. */
int pj_compile_find_entries(const struct pj_compile *compile, const struct pj_compile_seat *seat,
                            const struct pj_job *job, const struct pj_wire_loaded *loaded,
                            struct pj_compile_entries *ret_entries, struct pj_error **err);

/** Is there no PTX among the link's inputs that is handed over as such? Then it may store nothing. */
bool pj_compile_may_store_nothing(const struct pj_job *job);

/** A worker died while it loaded `job`: once more alone, or the verdict. */
int pj_compile_blame(struct pj_compile *compile, size_t job, const struct pj_death *death,
                     struct pj_error **err);

/** Queues `job` to be tried once more, alone. */
void pj_compile_again(struct pj_compile *compile, size_t job);

/** Tells the observer that a worker took a job. */
void pj_compile_tell_started(const struct pj_compile *compile, size_t job);

/** Tells the observer that a job is finished. */
void pj_compile_tell(const struct pj_compile *compile, size_t job, const char *outcome, bool attention);

#endif
