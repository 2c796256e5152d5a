/* SPDX-License-Identifier: Apache-2.0 */
/* Loads PTX files as a plain program does, runs their kernel `axpb` and compares with the CPU's result. */
#include "common.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void usage(void)
{
    fprintf(stderr,
            "usage: calc [max_registers=N | optimization_level=N | generate_line_info=N]… FILE…\n"
            "Loads each file, with cuModuleLoadData where no option is given, and runs x = 3x + 1 on %d "
            "numbers.\n",
            NUMBERS);
    exit(EXIT_USAGE);
}

static CUresult load(CUmodule *ret_module, const char *image, struct jit_options *options)
{
    if (options->count == 0)
        return cuModuleLoadData(ret_module, image);
    return cuModuleLoadDataEx(ret_module, image, options->count, options->names, options->values);
}

int main(int argc, char **argv)
{
    const struct formula axpb = {"axpb", 3, 1};
    struct jit_options options = {.count = 0};
    int first = 1;
    while (first < argc && add_jit_option(&options, argv[first]))
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
        bool right = computes(module, &axpb);
        printf("%s: %s (loaded in %.1f ms)\n", argv[i], right ? "RIGHT" : "WRONG", load_ms);
        if (!right)
            status = EXIT_WRONG;
        must(cuModuleUnload(module), "cuModuleUnload");
    }
    return status;
}
