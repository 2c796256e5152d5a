/* SPDX-License-Identifier: Apache-2.0 */
/* Small steps in the life of one job's outcome. */
#ifndef PREJIT_SESSION_OUTCOME_H
#define PREJIT_SESSION_OUTCOME_H

#include "session/session.h"

/** The outcome a job starts with: what the plan already decided. */
void pj_outcome_from_plan(struct pj_outcome *outcome, const struct pj_job *job);

/** Gives the job its verdict; strings are borrowed (literals or the session's arena). */
void pj_outcome_fail(struct pj_outcome *outcome, enum pj_verdict verdict, const char *reason_code,
                     const char *reason);

/** Judges the gathered evidence and checks the manifest's thresholds. The reason text is made in the
 * session's arena. */
int pj_outcome_judge(struct pj_session *session, size_t job, struct pj_error **err);

/** Holds the samples of a proven job against the manifest's thresholds: sets `slow` and the reason where they
 * are not met. */
int pj_outcome_check_thresholds(struct pj_session *session, struct pj_outcome *outcome,
                                struct pj_error **err);

/** Reads the job's entry file, where its name is known, and sets the witness of presence, size and time.
 * Returns the state through `ret_state` (PJ_ENTRY_ABSENT where no name is known). */
int pj_outcome_check_entry(struct pj_session *session, size_t job, int cache_fd,
                           enum pj_entry_state *ret_state, struct pj_error **err);

/** Forgets what proof processes said, before they are asked again. */
void pj_outcome_forget_evidence(struct pj_outcome *outcome);

/** Is there anything left to find out about this job? */
bool pj_outcome_is_open(const struct pj_outcome *outcome);

/** The load message of a job: image, digest, options. `jit_target` as CU_JIT_TARGET, 0 = none. */
void pj_job_to_load(const struct pj_job *job, uint64_t number, enum pj_wire_method method,
                    uint32_t jit_target, struct pj_wire_load *ret_load);

/** Payloads are judged by their ELF header: a pj_payload_check over image/cubin.h. */
int pj_check_payload(const void *payload, size_t size, uint16_t arch_number, struct pj_error **err);

#endif
