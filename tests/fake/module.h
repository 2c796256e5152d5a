/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded modules and libraries, and the functions in them. */
#ifndef FAKE_MODULE_H
#define FAKE_MODULE_H

#include "base.h"
#include "cubin.h"
#include "driver.h"

struct fake_module;

/* A CUfunction, or a CUkernel, which may be used as one. */
struct fake_kernel {
    char *name;
    struct fake_module *module; /* NULL: known by name only, from a library without a context */
    uint64_t parameter_bytes;   /* 0 = not known */
};

struct fake_variable {
    char *name;
    uint64_t bytes;
    void *memory;
};

struct fake_module {
    uint64_t mark; /* tells a module from what is none */
    struct fake_kernel *kernels;
    size_t kernel_count;
    struct fake_variable *variables;
    size_t variable_count;
};

/* Loads machine code into a device: CUDA_ERROR_INVALID_IMAGE where it is no cubin, `other_arch` where it is
   one for another architecture. */
CUresult fake_module_create(const unsigned char *bytes, size_t length, unsigned device, CUresult other_arch,
                            struct fake_module **ret_module);
void fake_module_free(struct fake_module *module);
struct fake_module *fake_module_from_handle(CUmodule handle);
struct fake_kernel *fake_module_find(struct fake_module *module, const char *name);

#endif
