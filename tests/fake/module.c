/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules: made from a cubin, asked for functions and variables. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t MODULE_MARK = 0x656c75646f6d6b66u;

CUresult fake_module_create(const unsigned char *bytes, size_t length, unsigned device, CUresult other_arch,
                            struct fake_module **ret_module)
{
    struct fake_cubin cubin;
    if (!fake_cubin_read(bytes, length, &cubin))
        return CUDA_ERROR_INVALID_IMAGE;
    if (cubin.arch != device) {
        fake_cubin_free(&cubin);
        return other_arch;
    }
    if (cubin.unloadable || cubin.no_sampler) {
        CUresult result = cubin.unloadable ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NOT_FOUND;
        fake_cubin_free(&cubin);
        return result;
    }
    struct fake_module *module = fake_allocate(sizeof *module);
    module->mark = MODULE_MARK;
    module->kernels = fake_allocate(cubin.kernels.count * sizeof *module->kernels);
    module->variables = fake_allocate(cubin.variables.count * sizeof *module->variables);
    for (size_t i = 0; i < cubin.kernels.count; i++) {
        const char *name = cubin.kernels.list[i].name;
        module->kernels[module->kernel_count++] = (struct fake_kernel){
            fake_copy_text(name, strlen(name)), module, cubin.kernels.list[i].parameter_bytes};
    }
    for (size_t i = 0; i < cubin.variables.count; i++) {
        const struct fake_cubin_symbol *symbol = &cubin.variables.list[i];
        module->variables[module->variable_count++] = (struct fake_variable){
            .name = fake_copy_text(symbol->name, strlen(symbol->name)), .bytes = symbol->bytes};
    }
    fake_cubin_free(&cubin);
    *ret_module = module;
    return CUDA_SUCCESS;
}

void fake_module_free(struct fake_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->kernel_count; i++)
        free(module->kernels[i].name);
    for (size_t i = 0; i < module->variable_count; i++) {
        free(module->variables[i].name);
        free(module->variables[i].memory);
    }
    free(module->kernels);
    free(module->variables);
    module->mark = 0;
    free(module);
}

struct fake_module *fake_module_from_handle(CUmodule handle)
{
    struct fake_module *module = (struct fake_module *)(void *)handle;
    return module && module->mark == MODULE_MARK ? module : NULL;
}

struct fake_kernel *fake_module_find(struct fake_module *module, const char *name)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

/* What every call on a module needs: an initialised driver, a context, a module. */
static CUresult enter(CUmodule handle, struct fake_module **ret_module)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake_driver_current(driver))
        return CUDA_ERROR_INVALID_CONTEXT;
    struct fake_module *module = fake_module_from_handle(handle);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    *ret_module = module;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleUnload(CUmodule hmod)
{
    struct fake_module *module;
    CUresult result = enter(hmod, &module);
    if (result == CUDA_SUCCESS)
        fake_module_free(module);
    return result;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct fake_module *module;
    CUresult result = enter(hmod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!hfunc || !name)
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_kernel *kernel = fake_module_find(module, name);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    *hfunc = (CUfunction)(void *)kernel;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    struct fake_module *module;
    CUresult result = enter(hmod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < module->variable_count; i++) {
        struct fake_variable *variable = &module->variables[i];
        if (strcmp(variable->name, name) != 0)
            continue;
        if (!variable->memory)
            variable->memory = fake_allocate(variable->bytes);
        if (dptr)
            *dptr = (CUdeviceptr)(uintptr_t)variable->memory;
        if (bytes)
            *bytes = variable->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}
