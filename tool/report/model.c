/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, classes and exit status of a run. */
#include "report/model.h"

#include <math.h>
#include <string.h>

#include "report/trouble.h"

bool pj_report_ms_known(bool has, double ms)
{
    return has && isfinite(ms) && ms >= 0;
}

const char *pj_against_name(enum pj_against against)
{
    switch (against) {
    case PJ_AGAINST_SAME:
        return "same-code";
    case PJ_AGAINST_OTHER:
        return "other-code";
    case PJ_AGAINST_NOT_COMPARED:
        return "not-compared";
    case PJ_AGAINST_NONE:
        break;
    }
    return "";
}

bool pj_samples_summary(const struct pj_samples *samples, double *ret_median, double *ret_minimum,
                        double *ret_maximum)
{
    double sorted[PJ_SAMPLES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < samples->count && i < PJ_SAMPLES_MAX; i++) {
        double ms = samples->ms[i];
        if (!pj_report_ms_known(true, ms))
            continue;
        size_t at = count++;
        for (; at > 0 && sorted[at - 1] > ms; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ms;
    }
    if (count == 0)
        return false;
    *ret_median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    *ret_minimum = sorted[0];
    *ret_maximum = sorted[count - 1];
    return true;
}

bool pj_report_speedup(const struct pj_report_job *job, double *ret_speedup)
{
    double median, minimum, maximum;
    if (!pj_report_ms_known(job->has_cold_ms, job->cold_ms) ||
        !pj_samples_summary(&job->warm, &median, &minimum, &maximum) || median <= 0)
        return false;
    double speedup = job->cold_ms / median;
    if (!isfinite(speedup))
        return false;
    *ret_speedup = speedup;
    return true;
}

static bool is_failure(enum pj_verdict verdict)
{
    return pj_verdict_exit(verdict, false, false, true) == PJ_EXIT_FAILED;
}

void pj_report_summarise(const struct pj_report *report, struct pj_report_summary *ret_summary)
{
    struct pj_report_summary summary = {.jobs = report->job_count};
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        if (job->verdict < PJ_VERDICT_COUNT)
            summary.verdicts[job->verdict]++;
        if (is_failure(job->verdict))
            summary.failed++;
        if (job->origin == PJ_ORIGIN_REUSED)
            summary.reused++;
        if (job->origin == PJ_ORIGIN_COMPILED || job->origin == PJ_ORIGIN_REPAIRED)
            summary.compiled++;
        if (job->origin == PJ_ORIGIN_REPAIRED)
            summary.repaired++;
    }
    *ret_summary = summary;
}

bool pj_report_is_plan(const struct pj_report *report)
{
    return report->command && strcmp(report->command, "plan") == 0;
}

/* No load compiles it: the driver takes what lies there. */
static bool has_wrong_entry(const struct pj_report_job *job)
{
    return job->reason_code &&
           (strcmp(job->reason_code, "entry-wrong") == 0 || strcmp(job->reason_code, "entry-unusable") == 0);
}

enum pj_trouble pj_report_trouble(const struct pj_report *report, const struct pj_report_job *job)
{
    switch (job->verdict) {
    case PJ_VERDICT_NONE:
        return pj_report_is_plan(report) ? PJ_TROUBLE_NONE : PJ_TROUBLE_UNDONE;
    case PJ_VERDICT_MISSED:
        return has_wrong_entry(job) ? PJ_TROUBLE_WRONG : PJ_TROUBLE_COLD;
    case PJ_VERDICT_LOST:
    case PJ_VERDICT_EVICTED:
        return PJ_TROUBLE_COLD;
    case PJ_VERDICT_TOO_LARGE:
        return PJ_TROUBLE_TOO_LARGE;
    case PJ_VERDICT_INCONCLUSIVE:
        return job->passing ? PJ_TROUBLE_PASSING : PJ_TROUBLE_UNPROVEN;
    default:
        if (is_failure(job->verdict))
            return PJ_TROUBLE_FAILED;
        return job->slow ? PJ_TROUBLE_SLOW : PJ_TROUBLE_NONE;
    }
}

bool pj_report_is_unserved(const struct pj_report *report)
{
    for (size_t i = 0; i < report->unserved_count && !report->targets_given; i++) {
        if (report->unserved[i].required)
            return true;
    }
    return false;
}

enum pj_exit pj_report_exit(const struct pj_report *report)
{
    enum pj_exit status = pj_report_is_unserved(report) ? PJ_EXIT_COLD : PJ_EXIT_OK;
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        bool undone = pj_report_trouble(report, job) == PJ_TROUBLE_UNDONE;
        enum pj_exit one = undone && job->required
                               ? PJ_EXIT_COLD
                               : pj_verdict_exit(job->verdict, job->passing, job->slow, job->required);
        status = pj_exit_combine(status, one);
    }
    return status;
}
