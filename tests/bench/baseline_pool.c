/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest process pool that fills the cache: no contexts, one shared counter, nothing checked. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

struct shared {
    atomic_int next;
    atomic_int failed;
};

static void work(struct shared *shared, char **files, int count)
{
    must(cuInit(0), "cuInit");
    for (int i; (i = atomic_fetch_add(&shared->next, 1)) < count;) {
        char *image = read_file(files[i]);
        CUlibrary library;
        if (cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS)
            cuLibraryUnload(library);
        else
            atomic_fetch_add(&shared->failed, 1);
        free(image);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: baseline_pool PROCESSES FILE…\n");
        return EXIT_USAGE;
    }
    int processes = (int)parse_number("PROCESSES", argv[1], 1, 256), count = argc - 2;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return EXIT_USAGE;
    }
    double start = now_ms();
    for (int i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(shared, argv + 2, count);
            _exit(EXIT_SUCCESS);
        }
        if (child < 0) {
            perror("fork");
            return EXIT_USAGE;
        }
    }
    int broken = 0;
    for (int status; wait(&status) > 0;)
        broken += status != 0;
    printf("{\"wall_ms\": %.1f, \"processes\": %d, \"modules\": %d, \"failed\": %d, \"broken\": %d}\n",
           now_ms() - start, processes, count, atomic_load(&shared->failed), broken);
    return broken || atomic_load(&shared->failed) ? EXIT_CUDA : EXIT_SUCCESS;
}
