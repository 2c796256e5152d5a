/* SPDX-License-Identifier: Apache-2.0 */
/* Takes all memory of the first GPU, so that no other process can make a context, until it is told to stop.
 */
#include "common.h"

#include <stdio.h>
#include <unistd.h>

/* Smaller pieces than the driver's own granularity gain nothing. */
static const size_t smallest_piece = (size_t)1 << 20;

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(
            stderr,
            "usage: hog SECONDS\nPrints `ready` when nothing is left; ends at SIGTERM, at the latest after "
            "SECONDS.\n");
        return EXIT_USAGE;
    }
    unsigned seconds = (unsigned)parse_number("SECONDS", argv[1], 1, 3600);
    make_context();
    stop_on_signal(seconds);
    size_t available = 0, total = 0, taken = 0;
    must(cuMemGetInfo(&available, &total), "cuMemGetInfo");
    for (size_t piece = available; piece >= smallest_piece && taken < total && !stop_asked();) {
        CUdeviceptr memory;
        if (cuMemAlloc(&memory, piece) == CUDA_SUCCESS)
            taken += piece;
        else
            piece /= 2;
    }
    must(cuMemGetInfo(&available, &total), "cuMemGetInfo");
    printf("ready: %zu MB taken, %zu MB left\n", taken >> 20, available >> 20);
    fflush(stdout);
    while (!stop_asked())
        pause();
    return 0;
}
