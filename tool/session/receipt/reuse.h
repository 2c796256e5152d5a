/* SPDX-License-Identifier: Apache-2.0 */
/* What the last run's receipt spares this one: everything (a no-op), or single jobs. */
#ifndef PREJIT_SESSION_RECEIPT_REUSE_H
#define PREJIT_SESSION_RECEIPT_REUSE_H

#include "session/run/session.h"

/** Is there nothing to do? True only where request, driver, GPUs, images, index and entries are what the
 * receipt says, and every job was proven. Each image is stat'ed once; it is read only where its time differs
 * at equal size. */
int pj_reuse_everything(struct pj_session *session, bool *ret_nothing_to_do, struct pj_error **err);

/** After planning: jobs that were proven for this driver and these GPUs, whose image and entry are still the
 * same, get stage CARRIED with the receipt's figures. */
int pj_reuse_jobs(struct pj_session *session, struct pj_error **err);

/** For a run that compiles nothing: links of which no entry is foreseen, or not each, get those that the last
 * run saw of the same inputs; one of which nothing is kept is skipped. After pj_plan_name. */
int pj_reuse_links(struct pj_session *session, struct pj_error **err);

#endif
