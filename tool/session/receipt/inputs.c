/* SPDX-License-Identifier: Apache-2.0 */
/* Every file once, however many jobs it has: a toolkit's headers are hundreds, and every source's. */
#include "session/receipt/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "session/receipt/input.h"

/* A job's file, and where its position in the table is to be noted. */
struct use {
    const struct pj_plan_file *file;
    uint32_t *position;
};

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* All that the receipt tells of a file. */
static int compare_uses(const void *a, const void *b)
{
    const struct pj_plan_file *x = ((const struct use *)a)->file, *y = ((const struct use *)b)->file;
    if (x == y)
        return 0;
    int r = strcmp(x->path, y->path);
    if (r == 0)
        r = memcmp(&x->sha256, &y->sha256, sizeof x->sha256);
    if (r == 0)
        r = x->named - y->named;
    if (r == 0)
        r = x->absent - y->absent;
    if (r == 0)
        r = order(x->status.st_dev, y->status.st_dev);
    if (r == 0)
        r = order(x->status.st_ino, y->status.st_ino);
    if (r == 0)
        r = order((uint64_t)x->status.st_size, (uint64_t)y->status.st_size);
    return r == 0 ? order((uint64_t)x->status.st_mtim.tv_sec, (uint64_t)y->status.st_mtim.tv_sec) : r;
}

static int list_uses(struct pj_session *session, struct pj_receipt *receipt, struct use *uses,
                     struct pj_error **err)
{
    size_t count = 0;
    for (size_t i = 0; i < receipt->job_count; i++) {
        const struct pj_job *from = &session->plan->jobs[i];
        struct pj_receipt_job *job = &receipt->jobs[i];
        job->inputs = pj_arena_calloc(&session->arena, from->file_count + 1, sizeof *job->inputs);
        if (!job->inputs)
            return pj_error_no_memory(err);
        job->input_count = from->file_count;
        for (size_t k = 0; k < from->file_count; k++)
            uses[count++] = (struct use){&from->files[k], &job->inputs[k]};
    }
    return 0;
}

static bool is_another(const struct use *uses, size_t i)
{
    return i == 0 || compare_uses(&uses[i], &uses[i - 1]) != 0;
}

/* Equal ones stand together now. */
static int number_uses(struct pj_session *session, struct pj_receipt *receipt, const struct use *uses,
                       size_t count, struct pj_error **err)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += is_another(uses, i);
    receipt->input_count = 0;
    receipt->inputs = pj_arena_calloc(&session->arena, distinct + 1, sizeof *receipt->inputs);
    if (!receipt->inputs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (is_another(uses, i))
            receipt->inputs[receipt->input_count++] = pj_receipt_input_of(session, uses[i].file);
        *uses[i].position = (uint32_t)(receipt->input_count - 1);
    }
    return 0;
}

int pj_receipt_fill_inputs(struct pj_session *session, struct pj_receipt *receipt, struct pj_error **err)
{
    size_t count = 0;
    for (size_t i = 0; i < receipt->job_count; i++)
        count += session->plan->jobs[i].file_count;
    struct use *uses = pj_arena_calloc(&session->arena, count + 1, sizeof *uses);
    if (!uses)
        return pj_error_no_memory(err);
    int r = list_uses(session, receipt, uses, err);
    if (r == 0) {
        qsort(uses, count, sizeof *uses, compare_uses);
        r = number_uses(session, receipt, uses, count, err);
    }
    return r;
}
