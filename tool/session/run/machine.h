/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the driver and its GPUs, and where it is known from. */
#ifndef PREJIT_SESSION_RUN_MACHINE_H
#define PREJIT_SESSION_RUN_MACHINE_H

#include "session/run/session.h"

/** Takes the GPUs and the driver's description over from a receipt that still holds. */
int pj_machine_from_receipt(struct pj_session *session, struct pj_error **err);

/** Takes them from a worker's answer. */
int pj_machine_from_worker(struct pj_session *session, const struct pj_wire_started *started,
                           struct pj_error **err);

/** Takes the list of mapped driver files, and from libcuda's name the driver's version. */
int pj_machine_files(struct pj_session *session, const struct pj_wire_file *files, size_t count,
                     struct pj_error **err);

/** The error for a driver that does not start, as pj_driver_start_error gives it for this session. */
int pj_machine_start_error(const struct pj_session *session, const struct pj_wire_started *started,
                           struct pj_error **err);

/** For a run that is about other machines' drivers: what a receipt told of this one counts no more. */
void pj_machine_forget(struct pj_session *session);

/** "580.159.04" of ".../libcuda.so.580.159.04"; NULL where the name has no such end. */
const char *pj_machine_driver_version(struct pj_arena *arena, const char *path);

/** Files of a library as a worker told them (at least one), in `arena`. */
int pj_machine_copy_files(const struct pj_wire_file *files, size_t count, struct pj_arena *arena,
                          struct pj_receipt_file **ret_files, struct pj_error **err);

#endif
