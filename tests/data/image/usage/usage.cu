__constant__ int table[64];

template <typename T, int N> __global__ void spills(T *p, const T *q)
{
    T v[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = q[threadIdx.x * N + i];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = v[i] * v[(i * 7 + 3) % N] + q[i + r];
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        p[threadIdx.x * N + i] = v[i];
}
template __global__ void spills<float, 64>(float *, const float *);

extern "C" __global__ void uses_shared(int *p)
{
    __shared__ int s[256];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[255 - threadIdx.x] + table[threadIdx.x & 63];
}

extern "C" __noinline__ __device__ int helper(int *p, int i)
{
    int a[20];
    for (int k = 0; k < 20; k++)
        a[k] = p[k];
    return a[i] + (i > 0 && p[i] > 0 ? helper(p, i - 1) : 0);
}

extern "C" __global__ void calls(int *p)
{
    int unused;
    p[0] = helper(p, p[1]);
}

extern "C" __global__ void empty() {}
