/* SPDX-License-Identifier: Apache-2.0 */
/* Warms a cache where there is neither a driver nor a GPU: for the drivers of profiles, by a compiler of the
 * toolkit. */
#ifndef PREJIT_SESSION_OFFLINE_OFFLINE_H
#define PREJIT_SESSION_OFFLINE_OFFLINE_H

#include "profile/profile.h"
#include "session/doctor/doctor.h"
#include "session/run/session.h"

/** warm with options->offline. Every entry that a profile's driver will look for is predicted by name; those
 * that the cache has stay, the others are compiled (once for all profiles), checked, put together and
 * committed. Their verdict is `stored`: no driver has seen them.
 *
 * Refused before anything is compiled: a target that only a GPU could tell (PJ_ERROR_USAGE); a profile that
 * does not hold what this needs, a cache of another format, a compiler that a profile was not proven with or
 * that is newer than its driver (PJ_ERROR_ENVIRONMENT). What one job lacks is that job's fate. */
int pj_offline_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err);

/** The profile that --offline names; PJ_ERROR_ENVIRONMENT where it is of a cache format that this prejit does
 * not know. */
int pj_offline_load_profile(struct pj_session *session, const char *given, struct pj_profile *ret_profile,
                            struct pj_error **err);

/** Plans the jobs of a read plan for the drivers of these profiles, sources prepared, and makes their
 * outcomes: what no profile covers has its fate. */
int pj_offline_expand(struct pj_session *session, struct pj_profile *profiles, size_t count,
                      struct pj_error **err);

/** PJ_ERROR_USAGE where a selected module has the target native, which a GPU would have to tell. */
int pj_offline_refuse_native(const struct pj_session *session, struct pj_error **err);

/** Name of a built-in profile to show people who may not know that there are any; "PROFILE" where there is
 * none. */
const char *pj_offline_example(void);

/** doctor's question whether pj_offline_warm would work: starts the compiler to hear its version, compiles
 * nothing. */
int pj_offline_examine(struct pj_doctor *doctor, struct pj_error **err);

#endif
