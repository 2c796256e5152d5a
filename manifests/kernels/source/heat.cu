/* SPDX-License-Identifier: Apache-2.0 */
/* How heat spreads on a plate in one step: each point moves towards the mean of its four neighbours. */
#include "grid.cuh"

#ifndef REAL
#define REAL float
#endif

extern "C" __global__ void heat_step(const REAL *before, REAL *after, grid plate, REAL rate)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (!is_inside(plate, column, row))
        return;
    const REAL *here = before + row * plate.width + column;
    REAL mean = (here[-1] + here[1] + here[-plate.width] + here[plate.width]) / 4;
    after[row * plate.width + column] = here[0] + rate * (mean - here[0]);
}
