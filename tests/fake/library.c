/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries: loaded without a context, turned into a module once there is one. */
#include "load.h"

#ifndef FAKE_NO_LIBRARY

#include <stdlib.h>
#include <string.h>

static const uint64_t LIBRARY_MARK = 0x7972617262696c6bu;

struct fake_library {
    uint64_t mark;
    struct fake_buffer image;
    struct fake_arch target;
    void *values[CU_JIT_NUM_OPTIONS]; /* the options that count for the key, kept for a later compilation */
    CUjit_option options[CU_JIT_NUM_OPTIONS];
    unsigned option_count;
    struct fake_module *module;     /* NULL until it was loaded in a context */
    struct fake_kernel *nameplates; /* kernels known by name only */
    size_t nameplate_count;
};

static struct fake_library *from_handle(CUlibrary handle)
{
    struct fake_library *library = (struct fake_library *)(void *)handle;
    return library && library->mark == LIBRARY_MARK ? library : NULL;
}

/* Options whose value is a place to write to cannot outlive the call. */
static bool is_kept(CUjit_option option)
{
    return option != CU_JIT_WALL_TIME &&
           (option < CU_JIT_INFO_LOG_BUFFER || option > CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

static struct fake_library *create(const void *code, const struct fake_options *options)
{
    struct fake_library *library = fake_allocate(sizeof *library);
    library->mark = LIBRARY_MARK;
    if (fake_image_kind(code) == FAKE_IMAGE_CUBIN)
        fake_buffer_add(&library->image, code, fake_cubin_extent(code));
    else if (fake_image_kind(code) == FAKE_IMAGE_FATBIN)
        fake_buffer_add(&library->image, code, fake_fatbin_extent(code));
    else
        fake_buffer_add_text(&library->image, code);
    for (unsigned i = 0; i < CU_JIT_NUM_OPTIONS; i++) {
        if (!options->slots[i] || !is_kept((CUjit_option)i))
            continue;
        library->options[library->option_count] = (CUjit_option)i;
        library->values[library->option_count++] = *options->slots[i];
    }
    return library;
}

static void destroy(struct fake_library *library)
{
    for (size_t i = 0; i < library->nameplate_count; i++)
        free(library->nameplates[i].name);
    free(library->nameplates);
    fake_module_free(library->module);
    fake_buffer_free(&library->image);
    library->mark = 0;
    free(library);
}

CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                   void **jitOptionsValues, unsigned int numJitOptions,
                                   CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                   unsigned int numLibraryOptions)
{
    struct fake_driver *driver;
    struct fake_options options;
    struct fake_module *module;
    double wall_time_ms;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    result = fake_options_read(numJitOptions, jitOptions, jitOptionsValues, &options);
    if (result != CUDA_SUCCESS)
        return result;
    struct fake_context *context = fake_driver_current(driver);
    result = fake_load(driver, "cuLibraryLoadData", code, context, &options, &wall_time_ms, &module);
    if (result == CUDA_SUCCESS) {
        struct fake_library *created = create(code, &options);
        created->module = module;
        *library = (CUlibrary)(void *)created;
    }
    fake_options_answer(&options, wall_time_ms);
    return result;
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    struct fake_library *found = from_handle(library);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    destroy(found);
    return CUDA_SUCCESS;
}

/* Loads the image into the current context, once. */
static CUresult need_module(struct fake_driver *driver, struct fake_library *library)
{
    struct fake_options options;
    double wall_time_ms;
    struct fake_context *context = fake_driver_current(driver);
    if (library->module)
        return CUDA_SUCCESS;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = fake_options_read(library->option_count, library->options, library->values, &options);
    if (result != CUDA_SUCCESS)
        return result;
    result = fake_load(driver, "cuLibraryGetModule", library->image.data, context, &options, &wall_time_ms,
                       &library->module);
    fake_options_answer(&options, wall_time_ms);
    return result;
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct fake_driver *driver;
    struct fake_library *found = from_handle(library);
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!pMod)
        return CUDA_ERROR_INVALID_VALUE;
    result = need_module(driver, found);
    if (result == CUDA_SUCCESS)
        *pMod = (CUmodule)(void *)found->module;
    return result;
}

/* Without a context only the names are known, from the text itself. */
static void make_nameplates(struct fake_library *library)
{
    struct fake_ptx ptx;
    if (library->nameplates || fake_image_kind(library->image.data) != FAKE_IMAGE_PTX)
        return;
    fake_ptx_read((char *)library->image.data, library->image.length, fake_scenario()->newest_isa, &ptx);
    library->nameplates = fake_allocate(ptx.kernel_count * sizeof *library->nameplates);
    for (size_t i = 0; i < ptx.kernel_count; i++)
        library->nameplates[library->nameplate_count++].name =
            fake_copy_text(ptx.kernels[i].name, strlen(ptx.kernels[i].name));
    fake_ptx_free(&ptx);
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct fake_driver *driver;
    struct fake_library *found = from_handle(library);
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!pKernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_driver_current(driver)) {
        result = need_module(driver, found);
        struct fake_kernel *kernel = result == CUDA_SUCCESS ? fake_module_find(found->module, name) : NULL;
        if (kernel)
            *pKernel = (CUkernel)(void *)kernel;
        return result != CUDA_SUCCESS ? result : kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    }
    make_nameplates(found);
    for (size_t i = 0; i < found->nameplate_count; i++) {
        if (strcmp(found->nameplates[i].name, name) == 0) {
            *pKernel = (CUkernel)(void *)&found->nameplates[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

#endif
