/* SPDX-License-Identifier: Apache-2.0 */
/* The CUjit_option arrays of a load call: what was given, what comes back through them, and how ptxas spells
 * it. */
#ifndef FAKE_OPTIONS_H
#define FAKE_OPTIONS_H

#include "arch.h"
#include "base.h"
#include "cuda_types.h"

/* Slots point into the caller's array of values, where results are written back. */
struct fake_options {
    void **slots[CU_JIT_NUM_OPTIONS];
    struct fake_arch target; /* number 0: the device's own */
    struct fake_buffer error_log;
    struct fake_buffer info_log;
};

/* CUDA_ERROR_INVALID_VALUE for an unknown option or an impossible value. Ends with fake_options_answer. */
CUresult fake_options_read(unsigned count, const CUjit_option *options, void **values,
                           struct fake_options *ret_options);

/* The value of an option given; false where it was not. */
bool fake_options_value(const struct fake_options *options, CUjit_option option, unsigned *ret_value);

/* The options as they stand in a cache key. */
void fake_options_text(const struct fake_options *options, struct fake_buffer *ret_text);

/* Writes logs and wall time back to the caller and frees. */
void fake_options_answer(struct fake_options *options, double wall_time_ms);

#endif
