/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: functions by the name without its version. */
#include "driver.h"

#include <string.h>

/* A function pointer as the void pointer that the call hands out. */
typedef void (*function)(void);

struct symbol {
    const char *name;
    function address;
};

/* The header's macros add the version to the function, not to the text. */
#define SYMBOL(name)                                                                                         \
    {                                                                                                        \
#name, (function)(name)                                                                              \
    }

static const struct symbol symbols[] = {
    SYMBOL(cuInit),
    SYMBOL(cuDriverGetVersion),
    SYMBOL(cuDeviceGetCount),
    SYMBOL(cuDeviceGet),
    SYMBOL(cuDeviceGetName),
    SYMBOL(cuDeviceGetAttribute),
    SYMBOL(cuDeviceGetUuid),
    SYMBOL(cuDeviceTotalMem),
    SYMBOL(cuDevicePrimaryCtxRetain),
    SYMBOL(cuDevicePrimaryCtxRelease),
    SYMBOL(cuCtxSetCurrent),
    SYMBOL(cuCtxGetCurrent),
    SYMBOL(cuCtxGetDevice),
    SYMBOL(cuCtxSynchronize),
    SYMBOL(cuMemGetInfo),
    SYMBOL(cuModuleLoad),
    SYMBOL(cuModuleLoadData),
    SYMBOL(cuModuleLoadDataEx),
    SYMBOL(cuModuleLoadFatBinary),
    SYMBOL(cuModuleUnload),
    SYMBOL(cuModuleGetFunction),
    SYMBOL(cuModuleGetGlobal),
#ifndef FAKE_NO_LIBRARY
    SYMBOL(cuLibraryLoadData),
    SYMBOL(cuLibraryUnload),
    SYMBOL(cuLibraryGetModule),
    SYMBOL(cuLibraryGetKernel),
#endif
    SYMBOL(cuLinkCreate),
    SYMBOL(cuLinkAddData),
    SYMBOL(cuLinkAddFile),
    SYMBOL(cuLinkComplete),
    SYMBOL(cuLinkDestroy),
    SYMBOL(cuGetErrorName),
    SYMBOL(cuGetErrorString),
    SYMBOL(cuGetProcAddress),
    SYMBOL(cuMemAlloc),
    SYMBOL(cuMemFree),
    SYMBOL(cuMemcpyHtoD),
    SYMBOL(cuMemcpyDtoH),
    SYMBOL(cuLaunchKernel),
};

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolStatus)
{
    (void)cudaVersion;
    (void)flags;
    if (!symbol || !pfn)
        return CUDA_ERROR_INVALID_VALUE;
    bool hidden = fake_scenario()->no_library_load && strncmp(symbol, "cuLibrary", 9) == 0;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0] && !hidden; i++) {
        if (strcmp(symbols[i].name, symbol) != 0)
            continue;
        memcpy(pfn, &symbols[i].address, sizeof *pfn);
        if (symbolStatus)
            *symbolStatus = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
    }
    *pfn = NULL;
    if (symbolStatus)
        *symbolStatus = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_ERROR_NOT_FOUND;
}
