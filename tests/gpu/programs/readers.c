/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the same PTX files again and again without pause, as a busy program would, and counts hits and
 * misses. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

struct counts {
    unsigned long hits, misses, errors;
    double slowest_ms;
};

static void load_once(const char *image, struct counts *counts)
{
    CUmodule module;
    float compile_ms = 0;
    double start = now_ms();
    CUresult result = load_timed(&module, image, &compile_ms);
    double load_ms = now_ms() - start;
    if (load_ms > counts->slowest_ms)
        counts->slowest_ms = load_ms;
    if (result != CUDA_SUCCESS) {
        counts->errors++;
        return;
    }
    if (compile_ms > 0)
        counts->misses++;
    else
        counts->hits++;
    cuModuleUnload(module);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr,
                "usage: readers SECONDS FILE…\nPrints `ready` after the first round; ends at SIGTERM, at the "
                "latest after SECONDS.\n");
        return EXIT_USAGE;
    }
    unsigned seconds = (unsigned)parse_number("SECONDS", argv[1], 1, 3600);
    int count = argc - 2;
    char **images = calloc((size_t)count, sizeof *images);
    if (!images)
        return EXIT_USAGE;
    for (int i = 0; i < count; i++)
        images[i] = read_file(argv[i + 2]);
    make_context();
    stop_on_signal(seconds);
    struct counts counts = {0};
    for (int round = 0; !stop_asked(); round++) {
        for (int i = 0; i < count && !stop_asked(); i++)
            load_once(images[i], &counts);
        if (round == 0) {
            puts("ready");
            fflush(stdout);
        }
    }
    printf("{\"hits\": %lu, \"misses\": %lu, \"errors\": %lu, \"slowest_ms\": %.1f}\n", counts.hits,
           counts.misses, counts.errors, counts.slowest_ms);
    for (int i = 0; i < count; i++)
        free(images[i]);
    free(images);
    return EXIT_SUCCESS;
}
