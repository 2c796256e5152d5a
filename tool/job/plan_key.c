/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a plan's jobs: which jobs share one, and what the entries will be called. */
#include <stdlib.h>
#include <string.h>

#include "cache/format.h"
#include "job/plan_private.h"

/* Order by what the key is made of. */
static int compare_keys(const void *a, const void *b)
{
    const struct pj_job *x = *(const struct pj_job *const *)a, *y = *(const struct pj_job *const *)b;
    int order = memcmp(&x->image->sha256, &y->image->sha256, sizeof x->image->sha256);
    if (order == 0)
        order = (x->target > y->target) - (x->target < y->target);
    if (order == 0)
        order = strcmp(x->option_text, y->option_text);
    return order;
}

/* The second spelling's verdict must count where the first one's does not: a required name makes the job
 * required. A rejected one (kernel missing, pin broken) is a fault of that module alone, so it stays a job of
 * its own. */
static bool can_join(const struct pj_job *first, const struct pj_job *second)
{
    return first->fate == second->fate && (first->fate == PJ_JOB_OPEN || first->module == second->module);
}

/* Brings together what can be joined: jobs of one key by fate, so that no rejected one stands between two
 * that are not. */
static int compare_keys_then_position(const void *a, const void *b)
{
    const struct pj_job *x = *(const struct pj_job *const *)a, *y = *(const struct pj_job *const *)b;
    int order = compare_keys(a, b);
    if (order == 0)
        order = (x->fate > y->fate) - (x->fate < y->fate);
    return order != 0 ? order : (x > y) - (x < y);
}

/* `before` is the one that was joined last: a module's jobs of one key follow each other. */
static int add_name(struct pj_plan *plan, struct pj_job *first, const struct pj_job *before,
                    const struct pj_job *second, struct pj_error **err)
{
    first->required |= second->required;
    if (before->module == second->module)
        return 0; /* the same module, its target named twice */
    first->name = pj_arena_printf(&plan->arena, "%s, %s", first->name, second->name);
    return first->name ? 0 : pj_error_no_memory(err);
}

int pj_plan_join_equal(struct pj_plan *plan, struct pj_error **err)
{
    size_t count = plan->job_count;
    PJ_CLEANUP_FREE struct pj_job **sorted = calloc(count + 1, sizeof *sorted);
    PJ_CLEANUP_FREE bool *drop = calloc(count + 1, sizeof *drop);
    if (!sorted || !drop)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &plan->jobs[i];
    qsort(sorted, count, sizeof *sorted, compare_keys_then_position);
    struct pj_job *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (first && compare_keys(&first, &sorted[i]) == 0 && can_join(first, sorted[i])) {
            int r = add_name(plan, first, sorted[i - 1], sorted[i], err);
            if (r < 0)
                return r;
            drop[sorted[i] - plan->jobs] = true;
        } else {
            first = sorted[i];
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!drop[i])
            plan->jobs[kept++] = plan->jobs[i];
    }
    plan->job_count = kept;
    return 0;
}

static int compare_images(const void *a, const void *b)
{
    const struct pj_job *x = *(struct pj_job *const *)a, *y = *(struct pj_job *const *)b;
    return (x->image > y->image) - (x->image < y->image);
}

int pj_plan_name(struct pj_plan *plan, const char *stamp, struct pj_error **err)
{
    PJ_CLEANUP_FREE struct pj_job **jobs = calloc(plan->job_count + 1, sizeof *jobs);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    if (!jobs)
        return pj_error_no_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < plan->job_count; i++) {
        if (plan->jobs[i].fate == PJ_JOB_OPEN && plan->jobs[i].target)
            jobs[count++] = &plan->jobs[i];
    }
    qsort(jobs, count, sizeof *jobs, compare_images); /* each image is read once for all its jobs */
    const struct pj_plan_image *read = NULL;
    bool same = false;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->image != read) {
            int r = pj_plan_reread(jobs[i]->image, &bytes, &same, err);
            if (r < 0)
                return r;
            read = jobs[i]->image;
        }
        if (!same)
            continue;
        jobs[i]->entry_hash = pj_cache_key_hash(stamp, jobs[i]->target, pj_buffer_text(&bytes), bytes.size,
                                                jobs[i]->option_text);
        jobs[i]->has_name = true;
    }
    return 0;
}
