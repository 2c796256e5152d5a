/* SPDX-License-Identifier: Apache-2.0 */
/* Time as a number. */
#ifndef PREJIT_BASE_CLOCK_H
#define PREJIT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Milliseconds of CLOCK_MONOTONIC. */
double pj_clock_ms(void);

/** A file's time in nanoseconds since 1970; 0 for what 64 bits do not hold. */
int64_t pj_clock_ns(const struct timespec *time);

#endif
