/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock, and times of files. */
#include "base/clock.h"

double pj_clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int64_t pj_clock_ns(const struct timespec *time)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)time->tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)time->tv_nsec, &ns))
        return 0;
    return ns;
}
