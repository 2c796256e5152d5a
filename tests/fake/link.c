/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's linker, which is not emulated: every call says so. */
#include "driver.h"
#include "options.h"

static CUresult not_supported(unsigned count, CUjit_option *options, void **values)
{
    struct fake_driver *driver;
    struct fake_options read;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    result = fake_options_read(count, options, values, &read);
    if (result != CUDA_SUCCESS)
        return result;
    fake_buffer_add_text(&read.error_log, "emulated driver: cuLink is not emulated\n");
    fake_options_answer(&read, 0);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult CUDAAPI cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                              CUlinkState *stateOut)
{
    (void)stateOut;
    return not_supported(numOptions, options, optionValues);
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                               const char *name, unsigned int numOptions, CUjit_option *options,
                               void **optionValues)
{
    (void)state, (void)type, (void)data, (void)size, (void)name;
    return not_supported(numOptions, options, optionValues);
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                               unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    (void)state, (void)type, (void)path;
    return not_supported(numOptions, options, optionValues);
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    (void)state, (void)cubinOut, (void)sizeOut;
    return not_supported(0, NULL, NULL);
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state)
{
    (void)state;
    return not_supported(0, NULL, NULL);
}
