/* SPDX-License-Identifier: Apache-2.0 */
/* The error for a driver that does not start: the machine's fault, so that there is no run. */
#ifndef PREJIT_SESSION_RUN_DRIVER_START_H
#define PREJIT_SESSION_RUN_DRIVER_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "job/pool.h"
#include "job/wire.h"

/** Of a worker's answer whose failed_step says how far the driver came. PJ_ERROR_BUSY where the cause passes
 * (a reboot is pending: the libraries are of another version than the loaded kernel module; the GPU is
 * taken), else PJ_ERROR_ENVIRONMENT. `kernel_version`: of the loaded kernel module; NULL = not known.
 * `instead`: what can be done without a driver, a clause behind the cures; "" = nothing. */
int pj_driver_start_error(const char *kernel_version, const char *instead,
                          const struct pj_wire_started *started, struct pj_error **err);

/** Is this CUresult of making a context one that passes: memory or the GPU is taken, MPS is not ready? */
bool pj_driver_context_passes(int32_t result);

/** Of a worker that died while its driver started, or took too long. PJ_ERROR_ENVIRONMENT. */
int pj_driver_start_death(const struct pj_death *death, struct pj_error **err);

/** "580.159.04" of ".../libcuda.so.580.159.04", the end of that text; NULL where the name has no such end. */
const char *pj_driver_file_version(const char *path);

#endif
