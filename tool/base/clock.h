/* SPDX-License-Identifier: Apache-2.0 */
/* Time as a number of milliseconds. */
#ifndef PREJIT_BASE_CLOCK_H
#define PREJIT_BASE_CLOCK_H

/** Milliseconds of CLOCK_MONOTONIC. */
double pj_clock_ms(void);

#endif
