/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs the compile time that workers share against the start-up time that each one adds. */
#include "session/engine/sizing.h"

/* Measured on 16 and 32 cores (docs/cache-model.md [15] [16] [17]): rough, but only their relation counts. */
#define COMPILE_MS_PER_BYTE 0.00175 /* 350 ms for 200 kB of PTX */
#define COMPILE_MS_PER_JOB  10.0
#define START_MS_PER_WORKER 60.0 /* cuInit of one more process among many */
#define WORKER_BYTES        (UINT64_C(150) << 20)
#define MAX_WORKERS         256

static double estimated_ms(const struct pj_sizing *sizing, size_t workers)
{
    double compile =
        COMPILE_MS_PER_JOB * (double)sizing->jobs + COMPILE_MS_PER_BYTE * (double)sizing->image_bytes;
    return START_MS_PER_WORKER * (double)workers + compile / (double)workers;
}

size_t pj_worker_count(const struct pj_sizing *sizing)
{
    size_t most = sizing->requested ? sizing->requested : sizing->cores;
    if (sizing->jobs < most)
        most = sizing->jobs;
    if (most > MAX_WORKERS)
        most = MAX_WORKERS;
    if (sizing->memory_bytes && sizing->memory_bytes / WORKER_BYTES < most)
        most = (size_t)(sizing->memory_bytes / WORKER_BYTES);
    if (most < 1)
        return 1;
    if (sizing->requested)
        return most;
    size_t best = 1;
    for (size_t workers = 2; workers <= most; workers++) {
        if (estimated_ms(sizing, workers) < estimated_ms(sizing, best))
            best = workers;
    }
    return best;
}
