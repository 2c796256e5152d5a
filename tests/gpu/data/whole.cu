// SPDX-License-Identifier: Apache-2.0
// Compiled at run time: a header that lies beside it, one that is handed over in memory, and a template.
#include "beside.h"
#include "memory.h"

extern "C" __global__ void axpb(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = BESIDE_THRICE(x[i]) + MEMORY_ONE;
}

template <int factor> __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * factor + OFFSET;
}
