/* SPDX-License-Identifier: Apache-2.0 */
/* What most people do: one process with a context that loads each module in turn. */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: baseline_serial FILE…\n");
        return EXIT_USAGE;
    }
    double start = now_ms();
    make_context();
    for (int i = 1; i < argc; i++) {
        char *image = read_file(argv[i]);
        CUmodule module;
        must(cuModuleLoadData(&module, image), argv[i]);
        must(cuModuleUnload(module), "cuModuleUnload");
        free(image);
    }
    printf("{\"wall_ms\": %.1f, \"processes\": 1, \"modules\": %d}\n", now_ms() - start, argc - 1);
    return EXIT_SUCCESS;
}
