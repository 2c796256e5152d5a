/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up compile times, and compares them with loads. */
#include "report/saving.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/trouble.h"

/* Less is nothing that anybody waits for. */
#define WORTH_A_LINE_MS 100.0

/* The times of one job; false where it is not proven for a GPU of this machine, or one is not known. */
static bool times_of(const struct pj_report_job *job, double *ret_cold, double *ret_warm)
{
    double minimum, maximum;
    *ret_cold = job->cold_ms;
    return job->verdict == PJ_VERDICT_PROVEN && job->target_kind == PJ_TARGET_KIND_NATIVE && job->target &&
           pj_report_ms_known(job->has_cold_ms, job->cold_ms) &&
           pj_samples_summary(&job->warm, ret_warm, &minimum, &maximum);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The jobs for `target`. */
static struct pj_report_saving add_up(const struct pj_report *report, const char *target, double *colds,
                                      double *warms)
{
    struct pj_report_saving saving = {.target = target};
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        if (!times_of(job, &colds[saving.jobs], &warms[saving.jobs]) || strcmp(job->target, target) != 0)
            continue;
        saving.cold_ms += colds[saving.jobs++];
    }
    saving.median_cold_ms = median(colds, saving.jobs);
    saving.median_warm_ms = median(warms, saving.jobs);
    return saving;
}

enum { TARGETS_MAX = 16 }; /* a machine has fewer kinds of GPU */

/* Notes the target; false where it was noted before, or there is no room. */
static bool is_new(const char *targets[TARGETS_MAX], size_t *count, const char *target)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(targets[i], target) == 0)
            return false;
    }
    if (*count == TARGETS_MAX)
        return false;
    targets[(*count)++] = target;
    return true;
}

int pj_report_saving(const struct pj_report *report, struct pj_report_saving *ret_saving,
                     struct pj_error **err)
{
    PJ_CLEANUP_FREE double *colds = calloc(report->job_count + 1, sizeof *colds);
    PJ_CLEANUP_FREE double *warms = calloc(report->job_count + 1, sizeof *warms);
    struct pj_report_saving best = {.target = NULL};
    const char *targets[TARGETS_MAX];
    size_t count = 0;
    if (!colds || !warms)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < report->job_count; i++) {
        double cold, warm;
        if (!times_of(&report->jobs[i], &cold, &warm) || !is_new(targets, &count, report->jobs[i].target))
            continue;
        struct pj_report_saving saving = add_up(report, report->jobs[i].target, colds, warms);
        if (!best.target || saving.cold_ms > best.cold_ms)
            best = saving;
    }
    *ret_saving = best;
    return 0;
}

int pj_report_put_saving(const struct pj_report *report, size_t start, struct pj_buffer *buffer,
                         struct pj_error **err)
{
    struct pj_report_saving saving;
    char cold[PJ_DURATION_TEXT], median_warm[PJ_DURATION_TEXT], median_cold[PJ_DURATION_TEXT];
    int r = pj_report_saving(report, &saving, err);
    if (r < 0 || !saving.target || saving.cold_ms < WORTH_A_LINE_MS)
        return r;
    pj_buffer_puts(buffer, buffer->size > start ? "\n" : "");
    pj_buffer_printf(buffer, "saves %s of JIT at each start (median %s for %s)\n",
                     pj_text_from_ms(saving.cold_ms, cold),
                     pj_text_from_ms(saving.median_warm_ms, median_warm),
                     pj_text_from_ms(saving.median_cold_ms, median_cold));
    return 0;
}
