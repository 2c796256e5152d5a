/* SPDX-License-Identifier: Apache-2.0 */
/* Loads cubins as a program does that ships them, runs their kernels and compares with the CPU's results. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct formulas formulas = {.count = 0};
    int first = 1, status = EXIT_SUCCESS;
    while (first < argc && add_formula(&formulas, argv[first]))
        first++;
    if (first == argc || formulas.count == 0) {
        fprintf(stderr, "usage: cubin_app kernel=NAME:FACTOR:OFFSET… FILE…\n");
        return EXIT_USAGE;
    }
    make_context();
    for (int i = first; i < argc; i++) {
        char *image = read_file(argv[i]);
        CUmodule module;
        CUresult result = cuModuleLoadData(&module, image);
        free(image);
        printf("%s: %s\n", argv[i], result == CUDA_SUCCESS ? "loaded" : result_name(result));
        if (result != CUDA_SUCCESS)
            return EXIT_CUDA;
        if (!computes_all(module, &formulas))
            status = EXIT_WRONG;
        must(cuModuleUnload(module), "cuModuleUnload");
    }
    return status;
}
