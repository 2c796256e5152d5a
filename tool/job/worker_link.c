/* SPDX-License-Identifier: Apache-2.0 */
/* cuLinkCreate, cuLinkAddData for each part, cuLinkComplete. */
#include "job/worker_link.h"

#include "base/clock.h"

/* The driver reads PTX as text: the one NUL behind it belongs to it. Other kinds have their exact size. */
static size_t size_for_driver(const struct pj_wire_part *part, const struct pj_buffer *bytes)
{
    return part->type == CU_JIT_INPUT_PTX ? bytes->size + 1 : bytes->size;
}

static CUresult add_parts(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                          const struct pj_worker_parts *parts, CUlinkState state)
{
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < load->part_count && result == CUDA_SUCCESS; i++) {
        const struct pj_wire_part *part = &load->parts[i];
        struct pj_buffer *bytes = &parts->items[i];
        result = driver->cuda.cuLinkAddData_(state, (CUjitInputType)part->type, bytes->data,
                                             size_for_driver(part, bytes), part->name, 0, NULL, NULL);
    }
    return result;
}

CUresult pj_worker_link_parts(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                              const struct pj_worker_parts *parts, struct pj_worker_call *call,
                              struct pj_buffer *ret_cubin)
{
    CUlinkState state = NULL;
    CUresult result = driver->cuda.cuLinkCreate_(call->count, call->names, call->values, &state);
    if (result != CUDA_SUCCESS)
        return result;
    void *cubin = NULL; /* the state's own memory */
    size_t size = 0;
    result = add_parts(driver, load, parts, state);
    if (result == CUDA_SUCCESS)
        result = driver->cuda.cuLinkComplete_(state, &cubin, &size);
    if (result == CUDA_SUCCESS && ret_cubin)
        pj_buffer_append(ret_cubin, cubin, size);
    (void)driver->cuda.cuLinkDestroy_(state);
    return result;
}

int pj_worker_link(struct pj_worker_driver *driver, const struct pj_wire_load *load,
                   const struct pj_worker_parts *parts, struct pj_worker_call *call, struct pj_arena *arena,
                   struct pj_wire_loaded *ret_loaded, struct pj_error **err)
{
    CUresult result = driver->has_context ? CUDA_SUCCESS : pj_worker_make_context(driver, 0);
    pj_call_own_options(call, load);
    pj_call_observe(call);
    if (result == CUDA_SUCCESS) {
        double begin = pj_clock_ms();
        result = pj_worker_link_parts(driver, load, parts, call, NULL);
        ret_loaded->call_ms = pj_clock_ms() - begin;
    } else {
        ret_loaded->no_context = 1;
    }
    ret_loaded->result = (int32_t)result;
    /* After an input that was refused, a link that misses a function succeeds, and only the log tells [63].
     */
    ret_loaded->refused = result != CUDA_SUCCESS || call->error_log[0] != '\0';
    ret_loaded->result_name = pj_arena_strdup(arena, pj_cuda_result_name(&driver->cuda, result));
    return ret_loaded->result_name ? pj_call_take_log(call, arena, &ret_loaded->log, err)
                                   : pj_error_no_memory(err);
}
