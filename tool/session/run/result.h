/* SPDX-License-Identifier: Apache-2.0 */
/* From a session to the report model, and the public result that carries it. */
#ifndef PREJIT_SESSION_RUN_RESULT_H
#define PREJIT_SESSION_RUN_RESULT_H

#include "session/run/session.h"

/** One job as a report row; strings are borrowed from the session. */
int pj_result_row(struct pj_session *session, size_t job, struct pj_report_job *ret_row,
                  struct pj_error **err);

/** The result of a run. Takes the session over (*session becomes NULL) on success. */
int pj_result_from_session(struct pj_session **session, struct pj_result **ret_result, struct pj_error **err);

/** The result where the receipt held and nothing was done. Takes the session over on success. */
int pj_result_from_receipt(struct pj_session **session, struct pj_result **ret_result, struct pj_error **err);

/** "0.1.0" */
const char *pj_result_tool_version(void);

#endif
