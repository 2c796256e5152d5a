/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: their number, names, attributes and UUIDs. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static CUresult find(CUdevice ordinal, const struct fake_device **ret_device)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (ordinal < 0 || (unsigned)ordinal >= driver->device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *ret_device = &driver->contexts[ordinal].device;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)driver->device_count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
    const struct fake_device *found;
    CUresult result = find(ordinal, &found);
    if (result == CUDA_SUCCESS && !device)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = found->ordinal;
    return result;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
    const struct fake_device *device;
    CUresult result = find(dev, &device);
    if (result == CUDA_SUCCESS && (!name || len <= 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        snprintf(name, (size_t)len, "%s", device->plan->name);
    return result;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    const struct fake_device *device;
    CUresult result = find(dev, &device);
    if (result == CUDA_SUCCESS && !uuid)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *uuid = device->plan->uuid;
    return result;
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    const struct fake_device *device;
    CUresult result = find(dev, &device);
    if (result == CUDA_SUCCESS && !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *bytes = (size_t)80 << 30;
    return result;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    const struct fake_device *device;
    CUresult result = find(dev, &device);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pi || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned arch = device->plan->arch.number;
    switch ((unsigned)attrib) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *pi = (int)(arch / 10);
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *pi = (int)(arch % 10);
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *pi = arch >= 90 ? 132 : 108;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        *pi = 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *pi = 32;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *pi = 1980000;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *pi = device->ordinal + 1;
        break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        *pi = 1;
        break;
    default:
        *pi = 0;
        break;
    }
    return CUDA_SUCCESS;
}

/* The name without the suffix is exported as well; the header's macro hides it. */
#undef cuDeviceGetUuid
__attribute__((visibility("default"))) CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    return cuDeviceGetUuid_v2(uuid, dev);
}
