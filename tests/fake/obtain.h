/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code for a key: out of the cache, or out of the compiler and into the cache. */
#ifndef FAKE_OBTAIN_H
#define FAKE_OBTAIN_H

#include "compile.h"
#include "driver.h"
#include "options.h"

struct fake_request {
    struct fake_driver *driver;
    const char *call; /* for the event log */
    struct fake_context *context;
    struct fake_options *options;
    struct fake_compilation compilation;
    double wall_time_ms; /* what a compilation took; a hit leaves it alone */
};

/* CUDA_ERROR_JIT_COMPILATION_DISABLED for a miss where the environment forbids compiling. The payload is the
 * caller's. */
CUresult fake_obtain(struct fake_request *request, struct fake_buffer *ret_payload);

#endif
