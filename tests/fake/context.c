/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts: retained, released, made current. */
#include "driver.h"

#include "base.h"
#include "errors.h"

static CUresult find(CUdevice ordinal, struct fake_context **ret_context)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (ordinal < 0 || (unsigned)ordinal >= driver->device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *ret_context = &driver->contexts[ordinal];
    return CUDA_SUCCESS;
}

static CUresult create(struct fake_context *context)
{
    const struct fake_scenario *scenario = fake_scenario();
    CUresult result = scenario->context_fail;
    fake_pass(scenario->context_ms, scenario->burn);
    if (result != CUDA_SUCCESS && scenario->context_fail_times >= 0 &&
        fake_scenario_count(scenario->context_fail_line) >= (unsigned long)scenario->context_fail_times)
        result = CUDA_SUCCESS;
    fake_scenario_log("context", "device=%d result=%s", context->device.ordinal, fake_error_name(result));
    return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    struct fake_context *context;
    CUresult result = find(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    fake_driver_lock();
    if (!context->references)
        result = create(context);
    if (result == CUDA_SUCCESS) {
        context->references++;
        *pctx = (CUcontext)(void *)context;
    }
    fake_driver_unlock();
    return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev)
{
    struct fake_context *context;
    CUresult result = find(dev, &context);
    if (result != CUDA_SUCCESS)
        return result;
    fake_driver_lock();
    if (context->references)
        context->references--;
    else
        result = CUDA_ERROR_INVALID_CONTEXT;
    fake_driver_unlock();
    return result;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!ctx) {
        fake_driver_set_current(NULL);
        return CUDA_SUCCESS;
    }
    for (unsigned i = 0; i < driver->device_count; i++) {
        struct fake_context *context = &driver->contexts[i];
        if ((CUcontext)(void *)context == ctx && context->references) {
            fake_driver_set_current(context);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = (CUcontext)(void *)fake_driver_current(driver);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    struct fake_context *context = fake_driver_current(driver);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->device.ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    return fake_driver_current(driver) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
