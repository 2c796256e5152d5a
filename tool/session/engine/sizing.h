/* SPDX-License-Identifier: Apache-2.0 */
/* How many compile workers a run is worth. */
#ifndef PREJIT_SESSION_ENGINE_SIZING_H
#define PREJIT_SESSION_ENGINE_SIZING_H

#include <stddef.h>
#include <stdint.h>

struct pj_sizing {
    size_t jobs;          /* to be compiled, as far as is known */
    uint64_t image_bytes; /* sum over those jobs */
    size_t cores;
    uint64_t memory_bytes; /* available; 0 = not known */
    unsigned requested;    /* -j; 0 = choose */
};

/** Number of workers, at least 1, never more than jobs or than memory allows. Starting a driver beside others
 * that start is slow, so few or small jobs get few workers. */
size_t pj_worker_count(const struct pj_sizing *sizing);

#endif
