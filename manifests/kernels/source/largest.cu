/* SPDX-License-Identifier: Apache-2.0 */
/* The largest of many numbers of any type, one for each block. */
template <typename T>
__global__ void largest(const T *numbers, int n, T *of_block)
{
    __shared__ T best[256];
    T mine = numbers[0];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine = numbers[i] > mine ? numbers[i] : mine;
    best[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && best[threadIdx.x + half] > best[threadIdx.x])
            best[threadIdx.x] = best[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        of_block[blockIdx.x] = best[0];
}
