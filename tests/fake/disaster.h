/* SPDX-License-Identifier: Apache-2.0 */
/* The ends that a compilation can put to its process. */
#ifndef FAKE_DISASTER_H
#define FAKE_DISASTER_H

#include "ptx.h"

/* Crashes, hangs or is killed where the scenario says so for one of the kernels; else returns. */
void fake_disaster_strike(const struct fake_ptx *ptx, unsigned arch);
_Noreturn void fake_disaster_crash(void);

/* Never returns. */
_Noreturn void fake_disaster_hang(void);

#endif
