/* SPDX-License-Identifier: Apache-2.0 */
/* Small steps in the life of one job's outcome. */
#ifndef PREJIT_SESSION_RUN_OUTCOME_H
#define PREJIT_SESSION_RUN_OUTCOME_H

#include "session/run/session.h"

/** The outcome a job starts with: what the plan already decided. */
void pj_outcome_from_plan(struct pj_outcome *outcome, const struct pj_job *job);

/** Gives the job its verdict; strings are borrowed (literals or the session's arena). */
void pj_outcome_fail(struct pj_outcome *outcome, enum pj_verdict verdict, const char *reason_code,
                     const char *reason);

/** The job's entries are in the cache: this run does not remove them to make room for others. Nothing where
 * the session has no store. */
int pj_outcome_keep_entries(struct pj_session *session, const struct pj_outcome *outcome,
                            struct pj_error **err);

/** The reason of every job of this session that is too large, so far, in its arena: asked after each commit,
 * whose entries may be among them. */
int pj_outcome_why_too_large(struct pj_session *session, const char **ret_reason, struct pj_error **err);

/** The cache's disk is full: the machine's fault, for which the run's status is 3. */
int pj_outcome_blame_disk(struct pj_session *session, struct pj_error **err);

/** Why a link is skipped of which the driver keeps nothing (its code is "nothing-to-warm"). */
#define PJ_NOTHING_TO_WARM "none of its inputs is PTX that the driver would compile for this target"

/** Gives the job these entries, sizes and times not known so far. */
int pj_outcome_set_entries(struct pj_session *session, struct pj_outcome *outcome, const uint64_t *hashes,
                           size_t count, struct pj_error **err);

/** Judges the gathered evidence and checks the manifest's thresholds. The reason text is made in the
 * session's arena. */
int pj_outcome_judge(struct pj_session *session, size_t job, struct pj_error **err);

/** Holds the samples of a proven job against the manifest's thresholds: sets `slow` and the reason where they
 * are not met. */
int pj_outcome_check_thresholds(struct pj_session *session, struct pj_outcome *outcome,
                                struct pj_error **err);

/** Notes of which content an entry is that lies in the cache, before it is proven: a receipt is about that
 * one. */
void pj_outcome_note_content(int cache_fd, struct pj_outcome_entry *entry);

/** Reads the job's entry files, where their names are known, and sets the witness of presence, sizes, times
 * and checksums. Returns the state of the first that is not sound through `ret_state` (PJ_ENTRY_ABSENT where
 * no name is known), and which one it is and what is wrong with it through `ret_problem`, in the session's
 * arena (may be NULL; set to NULL where nothing is, and for a file that is not there). */
int pj_outcome_check_entry(struct pj_session *session, size_t job, int cache_fd,
                           enum pj_entry_state *ret_state, const char **ret_problem, struct pj_error **err);

/** The reason_code of a job whose entry is in this state: not sound, and there. */
const char *pj_outcome_damage_code(enum pj_entry_state state);

/** Forgets what proof processes said, before they are asked again. */
void pj_outcome_forget_evidence(struct pj_outcome *outcome);

/** What the plan remarked about the job's file that makes a compiler refuse it, with the way out; NULL where
 * there is nothing of the kind. Belongs to the plan. */
const char *pj_outcome_cause(const struct pj_job *job);

/** Is there anything left to find out about this job? */
bool pj_outcome_is_open(const struct pj_outcome *outcome);

/** CUjitInputType by its numbers in cuda.h, which no file of the parent may include: what a link's part is.
 */
enum pj_jit_input {
    PJ_JIT_INPUT_CUBIN = 0,
    PJ_JIT_INPUT_PTX = 1,
    PJ_JIT_INPUT_FATBINARY = 2,
    PJ_JIT_INPUT_OBJECT = 3,
    PJ_JIT_INPUT_LIBRARY = 4,
    PJ_JIT_INPUT_NVVM = 5,
};

/** An order to a driver's worker, with the files it takes along. */
struct pj_job_order {
    struct pj_wire_message message;
    struct pj_wire_part *parts;
    struct pj_wire_descriptors descriptors;
};

/** Makes the load order of a job: images opened, digests, options. `jit_target` as CU_JIT_TARGET, 0 = none.
 * An image that cannot be opened, or paths longer than one order can hold, are the error. Free with
 * pj_job_order_free. */
int pj_job_order_make(const struct pj_job *job, uint64_t number, enum pj_wire_method method,
                      uint32_t jit_target, struct pj_job_order *ret_order, struct pj_error **err);
void pj_job_order_free(struct pj_job_order *order);

/** The same without the parts, for another image that is loaded or linked as the job's are. */
void pj_job_order_begin(const struct pj_job *job, uint64_t number, enum pj_wire_method method,
                        uint32_t jit_target, struct pj_wire_load *ret_load);
#define PJ_CLEANUP_ORDER __attribute__((cleanup(pj_job_order_free)))

/** The pj_payload_check of all sessions: a whole cubin of the key's architecture, with the kernels that the
 * PTX in the key defines, and no others. Of a key whose image is no PTX that prejit can read, the kernels are
 * not known, and not looked at. (payload.c) */
int pj_check_payload(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err);

#endif
