/* SPDX-License-Identifier: Apache-2.0 */
/* The orders that a job becomes for a driver's worker. */
#include <stdlib.h>

#include "base/memory.h"
#include "session/run/outcome.h"

void pj_job_order_begin(const struct pj_job *job, uint64_t number, enum pj_wire_method method,
                        uint32_t jit_target, struct pj_wire_load *ret_load)
{
    *ret_load = (struct pj_wire_load){
        .job = number,
        .method = method,
        .target = jit_target,
        .link = job->link,
    };
    for (unsigned i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        if (job->options.given & (1u << i)) {
            ret_load->options[ret_load->option_count++] =
                (struct pj_wire_option){.option = pj_jit_option_info((enum pj_jit_option)i)->cuda_option,
                                        .value = job->options.values[i]};
        }
    }
}

static enum pj_jit_input input_type(enum pj_input_kind kind)
{
    switch (kind) {
    case PJ_INPUT_PTX:
        return PJ_JIT_INPUT_PTX;
    case PJ_INPUT_CUBIN:
        return PJ_JIT_INPUT_CUBIN;
    case PJ_INPUT_FATBIN:
        return PJ_JIT_INPUT_FATBINARY;
    case PJ_INPUT_OBJECT:
        return PJ_JIT_INPUT_OBJECT;
    case PJ_INPUT_ARCHIVE:
        return PJ_JIT_INPUT_LIBRARY;
    case PJ_INPUT_LTOIR:
        return PJ_JIT_INPUT_NVVM;
    }
    return PJ_JIT_INPUT_PTX;
}

static int add_parts(const struct pj_job *job, struct pj_job_order *order, struct pj_error **err)
{
    for (size_t i = 0; i < job->image_count; i++) {
        const struct pj_plan_image *image = job->images[i];
        int r = pj_job_open_image(job, i, &order->descriptors.fds[i], err);
        if (r < 0)
            return r;
        order->descriptors.count++;
        order->parts[i] = (struct pj_wire_part){
            .type = job->link ? input_type(image->contents.kind) : 0,
            .name = image->path,
            .bytes = image->size_bytes,
            .sha256 = image->sha256,
        };
    }
    return 0;
}

int pj_job_order_make(const struct pj_job *job, uint64_t number, enum pj_wire_method method,
                      uint32_t jit_target, struct pj_job_order *ret_order, struct pj_error **err)
{
    struct pj_job_order order = {.message = {.type = PJ_WIRE_LOAD}};
    if (job->image_count == 0 || job->image_count > PJ_WIRE_PARTS_MAX)
        return pj_error_set(err, PJ_ERROR_INTERNAL, "the job %s has %zu images", job->id, job->image_count);
    order.parts = calloc(job->image_count, sizeof *order.parts);
    if (!order.parts)
        return pj_error_no_memory(err);
    pj_job_order_begin(job, number, method, jit_target, &order.message.load);
    order.message.load.parts = order.parts;
    order.message.load.part_count = (uint32_t)job->image_count;
    int r = add_parts(job, &order, err);
    if (r == 0) {
        r = pj_wire_fits(&order.message, err);
        r = r < 0 ? pj_error_wrap(err, r, "the paths of its files are too long") : 0;
    }
    if (r < 0)
        pj_job_order_free(&order);
    else
        *ret_order = order;
    return r;
}

void pj_job_order_free(struct pj_job_order *order)
{
    pj_wire_close(&order->descriptors);
    free(order->parts);
    order->parts = NULL;
}
