/* SPDX-License-Identifier: Apache-2.0 */
/* What the test programs share: reading a file, the clock, a context, and failing with a plain message. */
#ifndef PREJIT_GPU_PROGRAMS_COMMON_H
#define PREJIT_GPU_PROGRAMS_COMMON_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_CUDA = 3 };

enum { JIT_OPTIONS_MAX = 8, NUMBERS = 1000, FORMULAS_MAX = 8 };

/* JIT options as the driver takes them. */
struct jit_options {
    CUjit_option names[JIT_OPTIONS_MAX];
    void *values[JIT_OPTIONS_MAX];
    unsigned count;
};

/* What a kernel `name(float *x, int n)` has to do: x = factor * x + offset, both small whole numbers. */
struct formula {
    const char *name;
    long factor, offset;
};

/* Kernels that a program was asked to run. */
struct formulas {
    struct formula items[FORMULAS_MAX];
    int count;
};

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

/* The same, with its size without that NUL. */
char *read_bytes(const char *path, size_t *ret_size);

/* The whole of `text` as a number from `minimum` to `maximum`; ends the process with EXIT_USAGE otherwise. */
long parse_number(const char *what, const char *text, long minimum, long maximum);

/* What stands behind `prefix` in `argument`, and NULL where it begins otherwise. */
const char *after(const char *argument, const char *prefix);

/* True where `argument` is an option such as max_registers=64; adds it. */
bool add_jit_option(struct jit_options *options, const char *argument);

/* Cuts NAME:FACTOR:OFFSET apart in place. */
struct formula parse_formula(char *text);

/* True where `argument` is kernel=NAME:FACTOR:OFFSET; cuts it and adds it. */
bool add_formula(struct formulas *formulas, char *argument);

/* Whether the kernel did so to each of NUMBERS numbers and to none behind them; ends the process where it
 * cannot be run. */
bool computes(CUmodule module, const struct formula *formula);

/* Runs all of them and prints a line for each, "NAME: right" or "NAME: wrong"; whether all were right. */
bool computes_all(CUmodule module, const struct formulas *formulas);

/* Loads with CU_JIT_WALL_TIME asked for; *ret_compile_ms is 0 where the cache had it. */
CUresult load_timed(CUmodule *ret_module, const char *image, float *ret_compile_ms);

/* From now on SIGTERM and SIGINT only make stop_asked() true; after `seconds` SIGALRM does the same. */
void stop_on_signal(unsigned seconds);
int stop_asked(void);

#endif
