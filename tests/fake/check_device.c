/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, initialisation, kernels that run. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void no_devices(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    EXPECT(check_load_text(check_ptx("k", "")).init == CUDA_ERROR_NO_DEVICE);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    EXPECT(check_load_text(check_ptx("k", "")).init == CUDA_ERROR_NO_DEVICE);
}

static void before_init(void *argument)
{
    int count = 0;
    const char *name = NULL;
    CUresult (*get_count)(int *);
    CUresult (*error_name)(CUresult, const char **);
    CUresult (*load)(CUmodule *, const void *);
    CUmodule module;
    (void)argument;
    CHECK_SYMBOL(get_count, "cuDeviceGetCount");
    CHECK_SYMBOL(error_name, "cuGetErrorName");
    CHECK_SYMBOL(load, "cuModuleLoadData");
    EXPECT(get_count(&count) == CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(load(&module, "") == CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(error_name(CUDA_ERROR_INVALID_PTX, &name) == CUDA_SUCCESS &&
           strcmp(name, "CUDA_ERROR_INVALID_PTX") == 0);
    EXPECT(error_name((CUresult)12345, &name) == CUDA_ERROR_INVALID_VALUE);
}

static void not_initialised(void)
{
    EXPECT(check_process(before_init, NULL) == 0);
}

/* axpb: x * 3 + 1, on a module from the cache of the real driver or compiled here. */
static void run_axpb(void *argument)
{
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*get_function)(CUfunction *, CUmodule, const char *);
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t);
    CUresult (*to_host)(void *, CUdeviceptr, size_t);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       CUstream, void **, void **);
    CUresult (*synchronize)(void);
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    float x[40];
    int count = 33;
    void *parameters[] = {&memory, &count};
    CHECK_SYMBOL(init, "cuInit");
    CHECK_SYMBOL(retain, "cuDevicePrimaryCtxRetain");
    CHECK_SYMBOL(set_current, "cuCtxSetCurrent");
    CHECK_SYMBOL(load, "cuModuleLoadData");
    CHECK_SYMBOL(get_function, "cuModuleGetFunction");
    CHECK_SYMBOL(allocate, "cuMemAlloc_v2");
    CHECK_SYMBOL(to_device, "cuMemcpyHtoD_v2");
    CHECK_SYMBOL(to_host, "cuMemcpyDtoH_v2");
    CHECK_SYMBOL(launch, "cuLaunchKernel");
    CHECK_SYMBOL(synchronize, "cuCtxSynchronize");
    for (int i = 0; i < 40; i++)
        x[i] = (float)i;
    EXPECT(init(0) == CUDA_SUCCESS && retain(&context, 0) == CUDA_SUCCESS &&
           set_current(context) == CUDA_SUCCESS);
    EXPECT(load(&module, argument) == CUDA_SUCCESS);
    EXPECT(get_function(&function, module, "axpb") == CUDA_SUCCESS);
    EXPECT(allocate(&memory, sizeof x) == CUDA_SUCCESS && to_device(memory, x, sizeof x) == CUDA_SUCCESS);
    EXPECT(launch(function, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS);
    EXPECT(synchronize() == CUDA_SUCCESS && to_host(x, memory, sizeof x) == CUDA_SUCCESS);
    for (int i = 0; i < 40; i++)
        EXPECT(x[i] - (float)(i < 33 ? 3 * i + 1 : i) == 0.0f, "element %d", i);
}

static void axpb_computes(void)
{
    struct fake_buffer text = check_read(check_data_path("golden/inputs/axpb.ptx"));
    EXPECT(check_process(run_axpb, text.data) == 0);
}

/* A module's variables: their sizes come out of the machine code. */
static void ask_globals(void *argument)
{
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*get_global)(CUdeviceptr *, size_t *, CUmodule, const char *);
    CUresult (*unload)(CUmodule);
    CUcontext context;
    CUmodule module;
    CUdeviceptr pointer = 0;
    size_t bytes = 0;
    CHECK_SYMBOL(init, "cuInit");
    CHECK_SYMBOL(retain, "cuDevicePrimaryCtxRetain");
    CHECK_SYMBOL(set_current, "cuCtxSetCurrent");
    CHECK_SYMBOL(load, "cuModuleLoadData");
    CHECK_SYMBOL(get_global, "cuModuleGetGlobal_v2");
    CHECK_SYMBOL(unload, "cuModuleUnload");
    EXPECT(init(0) == CUDA_SUCCESS && retain(&context, 0) == CUDA_SUCCESS &&
           set_current(context) == CUDA_SUCCESS);
    EXPECT(load(&module, argument) == CUDA_SUCCESS);
    EXPECT(get_global(&pointer, &bytes, module, "table") == CUDA_SUCCESS && pointer && bytes == 24, "%zu",
           bytes);
    EXPECT(get_global(&pointer, &bytes, module, "counts") == CUDA_SUCCESS && bytes == 80, "%zu", bytes);
    EXPECT(get_global(&pointer, &bytes, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    EXPECT(unload(module) == CUDA_SUCCESS);
}

static void globals(void)
{
    static char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .global .align 8 .b64 table[] = {1, 2, 3};\n"
                         ".visible .global .align 4 .u32 counts[5][4];\n.visible .entry k() { ret; }\n";
    EXPECT(check_process(ask_globals, text) == 0);
}

const struct check check_device_tests[] = {
    {"[37] no visible device: cuInit says so", no_devices},
    {"calls before cuInit", not_initialised},
    {"axpb computes x * 3 + 1", axpb_computes},
    {"variables and their sizes", globals},
    {NULL, NULL},
};
