/* SPDX-License-Identifier: Apache-2.0 */
/* What the test programs share; they are plain users of the driver and include nothing of the product. */
#include "common.h"

#include <errno.h>
#include <signal.h>
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
    FILE *file = fopen(path, "rbe");
    struct stat status;
    char *text = NULL;
    if (file && fstat(fileno(file), &status) == 0 && status.st_size >= 0) {
        size_t size = (size_t)status.st_size;
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
