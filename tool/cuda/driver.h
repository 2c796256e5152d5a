/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver as a typed table of symbols, opened at run time. Only worker processes ever open it. */
#ifndef PREJIT_CUDA_DRIVER_H
#define PREJIT_CUDA_DRIVER_H

#include <stdbool.h>

#include <cuda.h>

#include "base/error.h"

/* Names go through cuda.h's macros, so that a function's current ABI (`_v2`) is the one that is looked up. */
#define PJ_CUDA_REQUIRED(X)                                                                                  \
    X(cuInit)                                                                                                \
    X(cuDriverGetVersion)                                                                                    \
    X(cuDeviceGetCount)                                                                                      \
    X(cuDeviceGet)                                                                                           \
    X(cuDeviceGetName)                                                                                       \
    X(cuDeviceGetAttribute)                                                                                  \
    X(cuDeviceGetUuid)                                                                                       \
    X(cuDevicePrimaryCtxRetain)                                                                              \
    X(cuDevicePrimaryCtxRelease)                                                                             \
    X(cuCtxSetCurrent)                                                                                       \
    X(cuModuleLoadData)                                                                                      \
    X(cuModuleLoadDataEx)                                                                                    \
    X(cuModuleUnload)                                                                                        \
    X(cuLinkCreate)                                                                                          \
    X(cuLinkAddData)                                                                                         \
    X(cuLinkComplete)                                                                                        \
    X(cuLinkDestroy)                                                                                         \
    X(cuModuleGetFunction)                                                                                   \
    X(cuMemAlloc)                                                                                            \
    X(cuMemFree)                                                                                             \
    X(cuMemcpyHtoD)                                                                                          \
    X(cuMemcpyDtoH)                                                                                          \
    X(cuLaunchKernel)                                                                                        \
    X(cuCtxSynchronize)                                                                                      \
    X(cuGetErrorName)

/* CUDA 12 and later; without them compiling needs a context. */
#define PJ_CUDA_OPTIONAL(X)                                                                                  \
    X(cuLibraryLoadData)                                                                                     \
    X(cuLibraryUnload)

#define PJ_CUDA_FIELD(name) __typeof__(&name) name##_;
struct pj_cuda {
    void *handle;
    PJ_CUDA_REQUIRED(PJ_CUDA_FIELD)
    PJ_CUDA_OPTIONAL(PJ_CUDA_FIELD)
};
#undef PJ_CUDA_FIELD

/** What the loader looks for where no path is given. */
#define PJ_CUDA_LIBRARY "libcuda.so.1"

/** Opens `path`, or libcuda.so.1 by the loader's rule where it is NULL. PJ_ERROR_ENVIRONMENT where it is not
 * there, is a stub, or misses a required function. `cuda` is filled on success and stays open: CUDA libraries
 * are not made to be unloaded. */
int pj_cuda_open(const char *path, struct pj_cuda *ret_cuda, struct pj_error **err);

/** "CUDA_ERROR_INVALID_PTX", also for numbers the driver does not know ("CUresult 4711"). Static, or valid
 * until the next call. */
const char *pj_cuda_result_name(const struct pj_cuda *cuda, CUresult result);

#endif
