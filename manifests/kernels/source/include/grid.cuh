/* SPDX-License-Identifier: Apache-2.0 */
/* A rectangle of numbers, row by row. */
#pragma once

struct grid {
    int width, height;
};

static __device__ bool is_inside(grid g, int column, int row)
{
    return column > 0 && row > 0 && column < g.width - 1 && row < g.height - 1;
}
