/* SPDX-License-Identifier: Apache-2.0 */
/* What the test programs share; they are plain users of the driver and include nothing of the product. */
#include "common.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;

double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

const char *result_name(CUresult result)
{
    const char *name = NULL;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS && name ? name : "an unknown result";
}

void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("%s: %s\n", what, result_name(result));
    exit(EXIT_CUDA);
}

void make_context(void)
{
    CUdevice device;
    CUcontext context;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

char *read_file(const char *path)
{
    size_t size;
    return read_bytes(path, &size);
}

char *read_bytes(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rbe");
    struct stat status;
    char *text = NULL;
    if (file && fstat(fileno(file), &status) == 0 && status.st_size >= 0) {
        size_t size = (size_t)status.st_size;
        *ret_size = size;
        text = calloc(1, size + 1);
        if (text && fread(text, 1, size, file) != size) {
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    if (!text) {
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        exit(EXIT_USAGE);
    }
    return text;
}

long parse_number(const char *what, const char *text, long minimum, long maximum)
{
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < minimum || value > maximum) {
        fprintf(stderr, "%s must be a number from %ld to %ld, not `%s`\n", what, minimum, maximum, text);
        exit(EXIT_USAGE);
    }
    return value;
}

const char *after(const char *argument, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(argument, prefix, length) == 0 ? argument + length : NULL;
}

bool add_jit_option(struct jit_options *options, const char *argument)
{
    static const struct {
        const char *name;
        CUjit_option option;
    } known[] = {
        {"max_registers=", CU_JIT_MAX_REGISTERS},
        {"optimization_level=", CU_JIT_OPTIMIZATION_LEVEL},
        {"generate_line_info=", CU_JIT_GENERATE_LINE_INFO},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *text = after(argument, known[i].name);
        if (!text)
            continue;
        if (options->count == JIT_OPTIONS_MAX) {
            fprintf(stderr, "more than %d options\n", JIT_OPTIONS_MAX);
            exit(EXIT_USAGE);
        }
        options->names[options->count] = known[i].option;
        options->values[options->count++] = (void *)(uintptr_t)parse_number(known[i].name, text, 0, 255);
        return true;
    }
    return false;
}

struct formula parse_formula(char *text)
{
    char *offset = strrchr(text, ':'), *factor = NULL;
    if (offset) {
        *offset++ = '\0';
        factor = strrchr(text, ':');
    }
    if (!factor) {
        fprintf(stderr, "a kernel is NAME:FACTOR:OFFSET, not `%s`\n", text);
        exit(EXIT_USAGE);
    }
    *factor++ = '\0';
    return (struct formula){text, parse_number("FACTOR", factor, -100, 100),
                            parse_number("OFFSET", offset, -100, 100)};
}

bool add_formula(struct formulas *formulas, char *argument)
{
    const char *text = after(argument, "kernel=");
    if (!text)
        return false;
    if (formulas->count == FORMULAS_MAX) {
        fprintf(stderr, "more than %d kernels\n", FORMULAS_MAX);
        exit(EXIT_USAGE);
    }
    formulas->items[formulas->count++] = parse_formula(argument + (text - argument));
    return true;
}

bool computes(CUmodule module, const struct formula *formula)
{
    enum { SPARE = 24, BLOCK = 128 };
    float numbers[NUMBERS + SPARE];
    for (int i = 0; i < NUMBERS + SPARE; i++)
        numbers[i] = (float)i * 0.5f;
    CUfunction kernel;
    CUdeviceptr memory;
    must(cuModuleGetFunction(&kernel, module, formula->name), formula->name);
    must(cuMemAlloc(&memory, sizeof numbers), "cuMemAlloc");
    must(cuMemcpyHtoD(memory, numbers, sizeof numbers), "cuMemcpyHtoD");
    int count = NUMBERS;
    void *parameters[] = {&memory, &count};
    must(cuLaunchKernel(kernel, (NUMBERS + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL),
         "cuLaunchKernel");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    memset(numbers, 0, sizeof numbers);
    must(cuMemcpyDtoH(numbers, memory, sizeof numbers), "cuMemcpyDtoH");
    must(cuMemFree(memory), "cuMemFree");
    for (int i = 0; i < NUMBERS + SPARE; i++) {
        float before = (float)i * 0.5f;
        float expected = i < NUMBERS ? before * (float)formula->factor + (float)formula->offset : before;
        /* Halves and small whole numbers: every result is exact, fused or not. */
        if (numbers[i] != expected)
            return false;
    }
    return true;
}

bool computes_all(CUmodule module, const struct formulas *formulas)
{
    bool all = true;
    for (int i = 0; i < formulas->count; i++) {
        bool right = computes(module, &formulas->items[i]);
        printf("%s: %s\n", formulas->items[i].name, right ? "right" : "wrong");
        all = all && right;
    }
    return all;
}

CUresult load_timed(CUmodule *ret_module, const char *image, float *ret_compile_ms)
{
    CUjit_option options[] = {CU_JIT_WALL_TIME};
    void *values[] = {NULL};
    CUresult result = cuModuleLoadDataEx(ret_module, image, 1, options, values);
    /* The driver writes a float where the pointer stands. */
    memcpy(ret_compile_ms, values, sizeof *ret_compile_ms);
    return result;
}

static void note_signal(int number)
{
    (void)number;
    stopping = 1;
}

void stop_on_signal(unsigned seconds)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

int stop_asked(void)
{
    return stopping;
}
