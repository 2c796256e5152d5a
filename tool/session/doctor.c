/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: its own room, and what it asks of the offline run. */
#include "session/doctor/doctor.h"
#include "session/offline/offline.h"

int pj_doctor(const struct pj_doctor_options *options, char **ret_text, int *ret_exit_code,
              struct pj_error **err)
{
    return pj_doctor_run(options, pj_offline_examine, ret_text, ret_exit_code, err);
}
