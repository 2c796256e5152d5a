// SPDX-License-Identifier: Apache-2.0
// x = 3x + 1 by way of a function that is linked in.
extern "C" __device__ float thrice(float x);

extern "C" __global__ void axpb(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = thrice(x[i]) + 1.f;
}
