/* SPDX-License-Identifier: Apache-2.0 */
/* Loads PTX files as a plain program does, runs their kernel `axpb` and compares with the CPU's result. */
#include "common.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, BLOCK = 128, OPTIONS_MAX = 8 };

struct options {
    CUjit_option names[OPTIONS_MAX];
    void *values[OPTIONS_MAX];
    unsigned count;
};

static void usage(void)
{
    fprintf(stderr,
            "usage: calc [max_registers=N | optimization_level=N | generate_line_info=N]… FILE…\n"
            "Loads each file, with cuModuleLoadData where no option is given, and runs x = 3x + 1 on %d "
            "numbers.\n",
            COUNT);
    exit(EXIT_USAGE);
}

/* True where `argument` is an option; adds it. */
static bool add_option(struct options *options, const char *argument)
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
        size_t length = strlen(known[i].name);
        if (strncmp(argument, known[i].name, length) != 0)
            continue;
        if (options->count == OPTIONS_MAX)
            usage();
        long value = parse_number(known[i].name, argument + length, 0, 255);
        options->names[options->count] = known[i].option;
        options->values[options->count++] = (void *)(uintptr_t)value;
        return true;
    }
    return false;
}

static CUresult load(CUmodule *ret_module, const char *image, struct options *options)
{
    if (options->count == 0)
        return cuModuleLoadData(ret_module, image);
    return cuModuleLoadDataEx(ret_module, image, options->count, options->names, options->values);
}

/* Whether the kernel turned each number into 3x + 1; numbers behind the last one must stay. */
static bool compute(CUmodule module)
{
    enum { SPARE = 24 };
    float numbers[COUNT + SPARE];
    for (int i = 0; i < COUNT + SPARE; i++)
        numbers[i] = (float)i * 0.5f;
    CUfunction kernel;
    CUdeviceptr memory;
    must(cuModuleGetFunction(&kernel, module, "axpb"), "cuModuleGetFunction(axpb)");
    must(cuMemAlloc(&memory, sizeof numbers), "cuMemAlloc");
    must(cuMemcpyHtoD(memory, numbers, sizeof numbers), "cuMemcpyHtoD");
    int count = COUNT;
    void *parameters[] = {&memory, &count};
    must(cuLaunchKernel(kernel, (COUNT + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL),
         "cuLaunchKernel");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    memset(numbers, 0, sizeof numbers);
    must(cuMemcpyDtoH(numbers, memory, sizeof numbers), "cuMemcpyDtoH");
    must(cuMemFree(memory), "cuMemFree");
    for (int i = 0; i < COUNT + SPARE; i++) {
        float before = (float)i * 0.5f;
        if (numbers[i] != (i < COUNT ? before * 3.0f + 1.0f : before))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.count = 0};
    int first = 1;
    while (first < argc && add_option(&options, argv[first]))
        first++;
    if (first == argc)
        usage();
    make_context();
    int status = EXIT_SUCCESS;
    for (int i = first; i < argc; i++) {
        char *image = read_file(argv[i]);
        CUmodule module;
        double start = now_ms();
        CUresult result = load(&module, image, &options);
        double load_ms = now_ms() - start;
        free(image);
        if (result != CUDA_SUCCESS) {
            printf("%s: %s\n", argv[i], result_name(result));
            return EXIT_CUDA;
        }
        bool right = compute(module);
        printf("%s: %s (loaded in %.1f ms)\n", argv[i], right ? "RIGHT" : "WRONG", load_ms);
        if (!right)
            status = EXIT_WRONG;
        must(cuModuleUnload(module), "cuModuleUnload");
    }
    return status;
}
