/* SPDX-License-Identifier: Apache-2.0 */
/* cuModuleLoadData, cuModuleGetFunction, memory there and back, cuLaunchKernel. Numbers in brackets are lines
 * of docs/cache-model.md. */
#include "job/worker_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "job/worker_link.h"

/* One run. `step` is the call that was made last. */
struct run {
    struct pj_worker_driver *driver;
    const struct pj_wire_load *load;
    const char *step;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr in, out;
    int32_t *values; /* what goes in, then what came out */
    size_t bytes;
};

static bool went_well(struct run *run, const char *step, CUresult result, CUresult *ret_result)
{
    run->step = step;
    *ret_result = result;
    return result == CUDA_SUCCESS;
}

/* The cubin that the linker gives is its own memory, so it is copied. */
static int link_and_load(struct run *run, const struct pj_worker_parts *parts, struct pj_worker_call *call,
                         CUresult *ret_result, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer cubin = {0};
    *ret_result = pj_worker_link_parts(run->driver, run->load, parts, call, &cubin);
    int r = pj_buffer_check(&cubin, err);
    /* What a link succeeded with in spite of its log lacks a function [63]. */
    if (r == 0 && *ret_result == CUDA_SUCCESS && call->error_log[0] == '\0')
        *ret_result = run->driver->cuda.cuModuleLoadData_(&run->module, pj_buffer_text(&cubin));
    return r;
}

static int load_module(struct run *run, const struct pj_worker_parts *parts, struct pj_worker_call *call,
                       struct pj_wire_loaded *loaded, CUresult *ret_result, struct pj_error **err)
{
    int r = 0;
    pj_call_own_options(call, run->load);
    pj_call_observe(call);
    double begin = pj_clock_ms();
    if (run->load->link)
        r = link_and_load(run, parts, call, ret_result, err);
    else
        *ret_result = run->driver->cuda.cuModuleLoadDataEx_(&run->module, pj_buffer_text(&parts->items[0]),
                                                            call->count, call->names, call->values);
    loaded->call_ms = pj_clock_ms() - begin;
    loaded->has_wall_ms = !run->load->link && *ret_result == CUDA_SUCCESS;
    loaded->wall_ms = loaded->has_wall_ms ? pj_call_wall_ms(call) : 0;
    return r;
}

static CUresult compute(struct run *run)
{
    enum { BLOCK = 256 };
    const struct pj_cuda *cuda = &run->driver->cuda;
    CUresult result;
    int count = (int)run->load->run_count;
    void *parameters[] = {&run->in, &run->out, &count};
    unsigned blocks = (run->load->run_count + BLOCK - 1) / BLOCK;
    if (!went_well(run, "cuModuleGetFunction",
                   cuda->cuModuleGetFunction_(&run->kernel, run->module, run->load->run_kernel), &result) ||
        !went_well(run, "cuMemAlloc", cuda->cuMemAlloc_(&run->in, run->bytes), &result) ||
        !went_well(run, "cuMemAlloc", cuda->cuMemAlloc_(&run->out, run->bytes), &result))
        return result;
    /* So that what the kernel does not write is 0, and not what lay there. */
    if (!went_well(run, "cuMemcpyHtoD", cuda->cuMemcpyHtoD_(run->out, run->values, run->bytes), &result))
        return result;
    for (int i = 0; i < count; i++)
        run->values[i] = i;
    if (!went_well(run, "cuMemcpyHtoD", cuda->cuMemcpyHtoD_(run->in, run->values, run->bytes), &result) ||
        !went_well(run, "cuLaunchKernel",
                   cuda->cuLaunchKernel_(run->kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL),
                   &result) ||
        !went_well(run, "cuCtxSynchronize", cuda->cuCtxSynchronize_(), &result))
        return result;
    (void)went_well(run, "cuMemcpyDtoH", cuda->cuMemcpyDtoH_(run->values, run->out, run->bytes), &result);
    return result;
}

static void run_free(struct run *run)
{
    const struct pj_cuda *cuda = &run->driver->cuda;
    if (run->in)
        (void)cuda->cuMemFree_(run->in);
    if (run->out)
        (void)cuda->cuMemFree_(run->out);
    if (run->module)
        (void)cuda->cuModuleUnload_(run->module);
    free(run->values);
}

/* The log, and the call behind the load that failed. */
static int describe(const struct run *run, const struct pj_worker_call *call, CUresult result,
                    struct pj_arena *arena, struct pj_wire_loaded *loaded, struct pj_error **err)
{
    loaded->result = (int32_t)result;
    loaded->refused = result != CUDA_SUCCESS || (run->load->link && call->error_log[0] != '\0');
    loaded->result_name = pj_arena_strdup(arena, pj_cuda_result_name(&run->driver->cuda, result));
    int r = loaded->result_name ? pj_call_take_log(call, arena, &loaded->log, err) : pj_error_no_memory(err);
    if (r < 0 || result == CUDA_SUCCESS || !run->step)
        return r;
    loaded->log = pj_arena_printf(arena, "%s%s%s failed", loaded->log, loaded->log[0] ? "\n" : "", run->step);
    return loaded->log ? 0 : pj_error_no_memory(err);
}

int pj_worker_run(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                  const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                  struct pj_worker_call *call, struct pj_arena *arena, struct pj_wire_loaded *ret_loaded,
                  struct pj_error **err)
{
    if (load->run_kernel[0] == '\0' || load->run_count == 0 || load->run_count > PJ_WIRE_RUN_MAX ||
        descriptors->count <= load->part_count)
        return pj_error_set(
            err, PJ_ERROR_WORKER,
            "an order to run a kernel names none, or not 1 to %d threads, or no file for what "
            "it computes",
            PJ_WIRE_RUN_MAX);
    __attribute__((cleanup(run_free))) struct run run = {
        .driver = driver,
        .load = load,
        .bytes = load->run_count * sizeof *run.values,
        .values = calloc(load->run_count, sizeof *run.values),
    };
    if (!run.values)
        return pj_error_no_memory(err);
    int r = 0;
    CUresult result = driver->has_context ? CUDA_SUCCESS : pj_worker_make_context(driver, 0);
    if (result != CUDA_SUCCESS)
        ret_loaded->no_context = 1;
    else
        r = load_module(&run, parts, call, ret_loaded, &result, err);
    if (r == 0 && run.module)
        result = compute(&run);
    if (r == 0)
        r = describe(&run, call, result, arena, ret_loaded, err);
    if (r < 0 || result != CUDA_SUCCESS || !run.module)
        return r;
    return pj_file_pwrite(descriptors->fds[load->part_count], "what a kernel computed", run.values, run.bytes,
                          0, err);
}
