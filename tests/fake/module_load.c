/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that load a module; all need a context. */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static CUresult load(const char *call, CUmodule *module, const void *image, unsigned count,
                     const CUjit_option *options, void **values)
{
    struct fake_driver *driver;
    struct fake_options read;
    struct fake_module *loaded;
    double wall_time_ms;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    struct fake_context *context = fake_driver_current(driver);
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    result = fake_options_read(count, options, values, &read);
    if (result != CUDA_SUCCESS)
        return result;
    result = fake_load(driver, call, image, context, &read, &wall_time_ms, &loaded);
    fake_options_answer(&read, wall_time_ms);
    if (result == CUDA_SUCCESS)
        *module = (CUmodule)(void *)loaded;
    return result;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    return load("cuModuleLoadData", module, image, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                    CUjit_option *options, void **optionValues)
{
    return load("cuModuleLoadDataEx", module, image, numOptions, options, optionValues);
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load("cuModuleLoadFatBinary", module, fatCubin, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *fname)
{
    struct fake_buffer file;
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fname)
        return CUDA_ERROR_INVALID_VALUE;
    int descriptor = open(fname, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return CUDA_ERROR_FILE_NOT_FOUND;
    bool read = fake_read_all(descriptor, &file);
    close(descriptor);
    if (!read)
        return CUDA_ERROR_FILE_NOT_FOUND;
    fake_buffer_fill(&file, 0, 64); /* room to look for a header in a file of a few bytes */
    result = load("cuModuleLoad", module, file.data, 0, NULL, NULL);
    fake_buffer_free(&file);
    return result;
}
