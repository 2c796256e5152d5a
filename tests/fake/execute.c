/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, which is the host's, and launches, which compute nothing but the kernel `axpb` of the test
 * programs. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { AXPB_OF_INT_BYTES = 20 }; /* two pointers and an int; the other has one pointer */

static CUresult need_context(void)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    return fake_driver_current(driver) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total)
{
    CUresult result = need_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!free || !total)
        return CUDA_ERROR_INVALID_VALUE;
    *total = (size_t)80 << 30;
    *free = (size_t)79 << 30;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    CUresult result = need_context();
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr || !bytesize)
        return CUDA_ERROR_INVALID_VALUE;
    void *memory = bytesize <= (size_t)1 << 32 ? calloc(1, bytesize) : NULL;
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr dptr)
{
    CUresult result = need_context();
    if (result == CUDA_SUCCESS)
        free((void *)(uintptr_t)dptr);
    return result;
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    CUresult result = need_context();
    if (result == CUDA_SUCCESS)
        memcpy((void *)(uintptr_t)dstDevice, srcHost, ByteCount);
    return result;
}

CUresult CUDAAPI cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    CUresult result = need_context();
    if (result == CUDA_SUCCESS)
        memcpy(dstHost, (const void *)(uintptr_t)srcDevice, ByteCount);
    return result;
}

/* axpb(const int *in, int *out, int n): out[i] = in[i] * 3 + 1. */
static void run_axpb_of_int(size_t threads, void **parameters)
{
    CUdeviceptr in, out;
    int count;
    memcpy(&in, parameters[0], sizeof in);
    memcpy(&out, parameters[1], sizeof out);
    memcpy(&count, parameters[2], sizeof count);
    const int *from = (const int *)(uintptr_t)in;
    int *to = (int *)(uintptr_t)out;
    for (size_t i = 0; i < threads && count > 0 && i < (size_t)count; i++)
        to[i] = from[i] * 3 + 1;
}

/* axpb(float *x, int n): x[i] = x[i] * 3 + 1. */
static void run_axpb(size_t threads, void **parameters)
{
    CUdeviceptr pointer;
    int count;
    memcpy(&pointer, parameters[0], sizeof pointer);
    memcpy(&count, parameters[1], sizeof count);
    float *x = (float *)(uintptr_t)pointer;
    for (size_t i = 0; i < threads && count > 0 && i < (size_t)count; i++)
        x[i] = x[i] * 3.0f + 1.0f;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                void **kernelParams, void **extra)
{
    (void)sharedMemBytes;
    (void)hStream;
    CUresult result = need_context();
    if (result != CUDA_SUCCESS)
        return result;
    struct fake_kernel *kernel = (struct fake_kernel *)(void *)f;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!gridDimX || !gridDimY || !gridDimZ || !blockDimX || !blockDimY || !blockDimZ)
        return CUDA_ERROR_INVALID_VALUE;
    if ((size_t)blockDimX * blockDimY * blockDimZ > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (strcmp(kernel->name, "axpb") == 0 && kernelParams && !extra)
        (kernel->parameter_bytes == AXPB_OF_INT_BYTES ? run_axpb_of_int
                                                      : run_axpb)((size_t)gridDimX * blockDimX, kernelParams);
    return CUDA_SUCCESS;
}
