/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the driver and loading images through it. Numbers in brackets are lines of docs/cache-model.md. */
#include "job/worker_driver.h"

#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "job/worker_call.h"
#include "job/worker_link.h"
#include "job/worker_run.h"
#include "job/worker_step.h"

static void failed(struct pj_worker_driver *driver, struct pj_wire_started *started, const char *step,
                   CUresult result)
{
    started->failed_step = step;
    started->result = (int32_t)result;
    started->result_name = pj_cuda_result_name(&driver->cuda, result);
}

static int describe_device(struct pj_worker_driver *driver, int ordinal, struct pj_arena *arena,
                           struct pj_wire_device *ret_device, CUresult *ret_result, struct pj_error **err)
{
    const struct pj_cuda *cuda = &driver->cuda;
    CUdevice device;
    char name[256] = "";
    CUuuid uuid;
    int major = 0, minor = 0;
    CUresult result = cuda->cuDeviceGet_(&device, ordinal);
    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetName_(name, sizeof name, device);
    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetUuid_(&uuid, device);
    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetAttribute_(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (result == CUDA_SUCCESS)
        result = cuda->cuDeviceGetAttribute_(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    *ret_result = result;
    if (result != CUDA_SUCCESS)
        return 0;
    const unsigned char *b = (const unsigned char *)uuid.bytes;
    name[sizeof name - 1] = '\0';
    *ret_device = (struct pj_wire_device){
        .name = pj_arena_strdup(arena, name),
        .uuid = pj_arena_printf(
            arena, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
            b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]),
        .major = (uint32_t)major,
        .minor = (uint32_t)minor,
    };
    return ret_device->name && ret_device->uuid ? 0 : pj_error_no_memory(err);
}

static int list_devices(struct pj_worker_driver *driver, struct pj_arena *arena,
                        struct pj_wire_started *started, struct pj_error **err)
{
    int count = 0;
    CUresult result = driver->cuda.cuDeviceGetCount_(&count);
    if (result == CUDA_SUCCESS && count <= 0)
        result = CUDA_ERROR_NO_DEVICE;
    if (count > PJ_WIRE_DEVICES_MAX)
        count = PJ_WIRE_DEVICES_MAX;
    if (result == CUDA_SUCCESS) {
        started->devices = pj_arena_calloc(arena, (size_t)count, sizeof *started->devices);
        if (!started->devices)
            return pj_error_no_memory(err);
    }
    for (int i = 0; result == CUDA_SUCCESS && i < count; i++) {
        int r = describe_device(driver, i, arena, &started->devices[i], &result, err);
        if (r < 0)
            return r;
        if (result == CUDA_SUCCESS)
            started->device_count = (uint32_t)i + 1;
    }
    if (result != CUDA_SUCCESS)
        failed(driver, started, "devices", result);
    return 0;
}

CUresult pj_worker_make_context(struct pj_worker_driver *driver, int ordinal)
{
    CUcontext context;
    CUresult result = driver->cuda.cuDeviceGet_(&driver->device, ordinal);
    if (result == CUDA_SUCCESS)
        result = driver->cuda.cuDevicePrimaryCtxRetain_(&context, driver->device);
    if (result == CUDA_SUCCESS) {
        result = driver->cuda.cuCtxSetCurrent_(context);
        driver->has_context = result == CUDA_SUCCESS;
    }
    return result;
}

int pj_worker_start(struct pj_worker_driver *driver, const struct pj_wire_start *start, int socket,
                    struct pj_arena *arena, struct pj_wire_started *ret_started, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *open_error = NULL;
    const char *path = start->path_count > 0 ? start->paths[0] : NULL;
    pj_worker_step(socket, "opening %s", path ? path : PJ_CUDA_LIBRARY);
    if (pj_cuda_open(path, &driver->cuda, &open_error) < 0) {
        ret_started->failed_step = "open";
        ret_started->message = pj_arena_strdup(arena, pj_error_message(open_error));
        return ret_started->message ? 0 : pj_error_no_memory(err);
    }
    pj_worker_step(socket, "calling cuInit");
    double begin = pj_clock_ms();
    CUresult result = driver->cuda.cuInit_(0);
    ret_started->init_ms = pj_clock_ms() - begin;
    (void)driver->cuda.cuDriverGetVersion_(&ret_started->cuda_version);
    ret_started->has_library_load = driver->cuda.cuLibraryLoadData_ && driver->cuda.cuLibraryUnload_;
    if (result != CUDA_SUCCESS)
        failed(driver, ret_started, "cuInit", result);
    int r = pj_worker_list_files(PJ_LIBRARY_DRIVER, NULL, arena, &ret_started->files,
                                 &ret_started->file_count, err);
    if (r < 0 || result != CUDA_SUCCESS)
        return r;
    pj_worker_step(socket, "asking the driver for its GPUs");
    r = list_devices(driver, arena, ret_started, err);
    if (r < 0 || ret_started->failed_step[0])
        return r;
    if (start->context || !ret_started->has_library_load) {
        pj_worker_step(socket, "making a context on the GPU");
        begin = pj_clock_ms();
        result = pj_worker_make_context(driver, (int)start->ordinal);
        ret_started->context_ms = pj_clock_ms() - begin;
        if (result != CUDA_SUCCESS)
            failed(driver, ret_started, "context", result);
    }
    return 0;
}

static CUresult load_module(struct pj_worker_driver *driver, struct pj_worker_call *call, const char *image,
                            double *ret_ms)
{
    CUmodule module = NULL;
    double begin = pj_clock_ms();
    CUresult result =
        call->count ? driver->cuda.cuModuleLoadDataEx_(&module, image, call->count, call->names, call->values)
                    : driver->cuda.cuModuleLoadData_(&module, image);
    *ret_ms = pj_clock_ms() - begin;
    if (result == CUDA_SUCCESS)
        (void)driver->cuda.cuModuleUnload_(module);
    return result;
}

static CUresult load_library(struct pj_worker_driver *driver, struct pj_worker_call *call, const char *image,
                             double *ret_ms)
{
    CUlibrary library = NULL;
    double begin = pj_clock_ms();
    CUresult result = driver->cuda.cuLibraryLoadData_(&library, image, call->names, call->values, call->count,
                                                      NULL, NULL, 0);
    *ret_ms = pj_clock_ms() - begin;
    if (result == CUDA_SUCCESS)
        (void)driver->cuda.cuLibraryUnload_(library);
    return result;
}

/* A foreign module that was compiled cannot be loaded here; that answer means success [11]. */
static bool means_compiled(const struct pj_wire_load *load, CUresult result)
{
    return result == CUDA_SUCCESS || (load->target && result == CUDA_ERROR_INVALID_SOURCE);
}

/* Without a context success proves nothing [13]: a log that speaks of an error is a refusal, and a context is
 * made to hear the exact answer. */
static int compile(struct pj_worker_driver *driver, const struct pj_wire_load *load, const char *image,
                   struct pj_worker_call *call, struct pj_arena *arena, struct pj_wire_loaded *loaded,
                   struct pj_error **err)
{
    bool without_context =
        driver->cuda.cuLibraryLoadData_ && driver->cuda.cuLibraryUnload_ && !driver->has_context;
    pj_call_own_options(call, load);
    pj_call_observe(call);
    CUresult result = without_context ? load_library(driver, call, image, &loaded->call_ms)
                                      : load_module(driver, call, image, &loaded->call_ms);
    loaded->has_wall_ms = 1;
    loaded->wall_ms = pj_call_wall_ms(call);
    loaded->refused = !means_compiled(load, result) || call->error_log[0] != '\0';
    if (loaded->refused && without_context && pj_worker_make_context(driver, 0) == CUDA_SUCCESS) {
        char first_log[PJ_CALL_LOG_BYTES];
        memcpy(first_log, call->error_log, sizeof first_log);
        double again_ms;
        pj_call_own_options(call, load);
        pj_call_observe(call);
        result = load_module(driver, call, image, &again_ms);
        loaded->refused = !means_compiled(load, result);
        if (call->error_log[0] == '\0')
            memcpy(call->error_log, first_log, sizeof call->error_log);
        (void)driver->cuda.cuDevicePrimaryCtxRelease_(driver->device);
        driver->has_context = false;
    }
    loaded->result = (int32_t)result;
    loaded->result_name = pj_arena_strdup(arena, pj_cuda_result_name(&driver->cuda, result));
    return loaded->result_name ? pj_call_take_log(call, arena, &loaded->log, err) : pj_error_no_memory(err);
}

/* First the call a program would make, timed; then once more to hear CU_JIT_WALL_TIME. A foreign image makes
 * both in one call [28]. */
static int prove(struct pj_worker_driver *driver, const struct pj_wire_load *load, const char *image,
                 struct pj_worker_call *call, struct pj_arena *arena, struct pj_wire_loaded *loaded,
                 struct pj_error **err)
{
    double ignored_ms;
    pj_call_own_options(call, load);
    CUresult result = load_module(driver, call, image, &loaded->call_ms);
    loaded->result = (int32_t)result;
    loaded->result_name = pj_arena_strdup(arena, pj_cuda_result_name(&driver->cuda, result));
    if (!loaded->result_name)
        return pj_error_no_memory(err);
    pj_call_own_options(call, load);
    pj_call_observe(call);
    CUresult second = load_module(driver, call, image, &ignored_ms);
    loaded->second_result = (int32_t)second;
    /* A load that missed compiled nothing, as it may not: the 0 that it leaves witnesses no hit. */
    loaded->has_wall_ms = means_compiled(load, second);
    loaded->wall_ms = loaded->has_wall_ms ? pj_call_wall_ms(call) : 0;
    return pj_call_take_log(call, arena, &loaded->log, err);
}

int pj_worker_load(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                   const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                   struct pj_arena *arena, struct pj_wire_loaded *ret_loaded, struct pj_error **err)
{
    struct pj_worker_call *call = pj_arena_alloc(arena, sizeof *call);
    if (!call)
        return pj_error_no_memory(err);
    const char *image = pj_buffer_text(&parts->items[0]);
    int r;
    if (load->method == PJ_LOAD_RUN)
        r = pj_worker_run(driver, load, parts, descriptors, call, arena, ret_loaded, err);
    else if (load->link)
        r = pj_worker_link(driver, load, parts, call, arena, ret_loaded, err);
    else
        r = (load->method == PJ_LOAD_COMPILE ? compile : prove)(driver, load, image, call, arena, ret_loaded,
                                                                err);
    if (r == 0 && !driver->told_files) {
        r = pj_worker_list_files(PJ_LIBRARY_DRIVER, NULL, arena, &ret_loaded->files, &ret_loaded->file_count,
                                 err);
        driver->told_files = true;
    }
    ret_loaded->peak_rss_bytes = pj_worker_peak_rss_bytes();
    return r;
}

uint64_t pj_worker_peak_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}
