/* SPDX-License-Identifier: Apache-2.0 */
/* How many steps each point of a picture takes to leave the Mandelbrot set; one kernel per precision. */
template <typename T>
__device__ int steps(T cx, T cy, int limit)
{
    T x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < T(4)) {
        T next = x * x - y * y + cx;
        y = T(2) * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

template <typename T>
__device__ void picture(int *out, int width, int height, int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        out[row * width + column] = steps<T>(T(3) * column / width - T(2), T(2) * row / height - T(1), limit);
}

extern "C" __global__ void mandelbrot_float(int *out, int width, int height, int limit)
{
    picture<float>(out, width, height, limit);
}

extern "C" __global__ void mandelbrot_double(int *out, int width, int height, int limit)
{
    picture<double>(out, width, height, limit);
}
