/* SPDX-License-Identifier: Apache-2.0 */
/* What the test programs share: reading a file, the clock, a context, and failing with a plain message. */
#ifndef PREJIT_GPU_PROGRAMS_COMMON_H
#define PREJIT_GPU_PROGRAMS_COMMON_H

#include <cuda.h>
#include <stddef.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_CUDA = 3 };

/* Milliseconds of the monotonic clock. */
double now_ms(void);

/* "CUDA_ERROR_…" of `result`. */
const char *result_name(CUresult result);

/* Ends the process with EXIT_CUDA and "WHAT: CUDA_ERROR_…" unless `result` is success. */
void must(CUresult result, const char *what);

/* Initialises the driver and makes the first device's primary context current. */
void make_context(void);

/* The file and a NUL behind it; ends the process where it cannot be read. The caller frees it. */
char *read_file(const char *path);

/* The whole of `text` as a number from `minimum` to `maximum`; ends the process with EXIT_USAGE otherwise. */
long parse_number(const char *what, const char *text, long minimum, long maximum);

/* Loads with CU_JIT_WALL_TIME asked for; *ret_compile_ms is 0 where the cache had it. */
CUresult load_timed(CUmodule *ret_module, const char *image, float *ret_compile_ms);

/* From now on SIGTERM and SIGINT only make stop_asked() true; after `seconds` SIGALRM does the same. */
void stop_on_signal(unsigned seconds);
int stop_asked(void);

#endif
