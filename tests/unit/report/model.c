/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, sample summaries and exit statuses of a run model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "models.h"
#include "report/trouble.h"

static void assert_summary(const struct pj_samples *samples, double median, double minimum, double maximum)
{
    double found_median = -1, found_minimum = -1, found_maximum = -1;
    assert_true(pj_samples_summary(samples, &found_median, &found_minimum, &found_maximum));
    assert_true(found_median == median && found_minimum == minimum && found_maximum == maximum);
}

static void samples_give_median_minimum_maximum(void **state)
{
    (void)state;
    assert_summary(&(struct pj_samples){.ms = {5}, .count = 1}, 5, 5, 5);
    assert_summary(&(struct pj_samples){.ms = {3, 1, 2}, .count = 3}, 2, 1, 3);
    assert_summary(&(struct pj_samples){.ms = {4, 1, 3, 2}, .count = 4}, 2.5, 1, 4);
}

static void samples_that_are_no_times_do_not_count(void **state)
{
    (void)state;
    double a = 7, b = 7, c = 7;
    const struct pj_samples none = {.ms = {NAN, INFINITY, -1}, .count = 3};
    assert_summary(&(struct pj_samples){.ms = {NAN, 8, -INFINITY, 2, -3}, .count = 5}, 5, 2, 8);
    assert_false(pj_samples_summary(&none, &a, &b, &c));
    assert_false(pj_samples_summary(&(struct pj_samples){.count = 0}, &a, &b, &c));
    assert_true(a == 7 && b == 7 && c == 7);
}

static void a_sample_count_beyond_the_array_is_cut(void **state)
{
    (void)state;
    struct pj_samples samples = {.count = 1000};
    for (size_t i = 0; i < PJ_SAMPLES_MAX; i++)
        samples.ms[i] = (double)i;
    assert_summary(&samples, 7.5, 0, 15);
}

static void speedup_needs_both_times(void **state)
{
    (void)state;
    double speedup = -1;
    struct pj_report_job job = {.has_cold_ms = true, .cold_ms = 100, .warm = {.ms = {2}, .count = 1}};
    assert_true(pj_report_speedup(&job, &speedup));
    assert_true(speedup == 50);
    speedup = -1;
    job.warm.ms[0] = 0;
    assert_false(pj_report_speedup(&job, &speedup));
    job.warm.count = 0;
    assert_false(pj_report_speedup(&job, &speedup));
    job.warm = (struct pj_samples){.ms = {2}, .count = 1};
    job.cold_ms = NAN;
    assert_false(pj_report_speedup(&job, &speedup));
    job.has_cold_ms = false;
    job.cold_ms = 100;
    assert_false(pj_report_speedup(&job, &speedup));
    assert_true(speedup == -1);
}

static void a_summary_counts_every_verdict_and_origin(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_make(&arena, "trouble");
    assert_non_null(report);
    report->jobs[0].origin = PJ_ORIGIN_REPAIRED;
    report->jobs[2].origin = PJ_ORIGIN_REUSED;
    struct pj_report_summary summary;
    pj_report_summarise(report, &summary);
    assert_int_equal(summary.jobs, PJ_VERDICT_COUNT);
    for (size_t i = 0; i < PJ_VERDICT_COUNT; i++)
        assert_int_equal(summary.verdicts[i], 1);
    assert_int_equal(summary.failed, 5);
    assert_int_equal(summary.compiled, 2);
    assert_int_equal(summary.reused, 1);
    assert_int_equal(summary.repaired, 1);
}

static void the_exit_status_is_that_of_the_worst_required_job(void **state)
{
    (void)state;
    struct pj_report_job jobs[3] = {{.verdict = PJ_VERDICT_PROVEN, .required = true},
                                    {.verdict = PJ_VERDICT_MISSED, .required = true},
                                    {.verdict = PJ_VERDICT_REJECTED, .required = false}};
    struct pj_report report = {.command = "warm", .jobs = jobs, .job_count = 3};
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_COLD);
    jobs[2].required = true;
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_FAILED);
    jobs[0].verdict = PJ_VERDICT_TOO_LARGE;
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_ENVIRONMENT);
    report.job_count = 0;
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_OK);
}

static void an_undecided_job_is_no_success_but_in_a_plan(void **state)
{
    (void)state;
    struct pj_report_job job = {.required = true};
    struct pj_report report = {.command = "warm", .jobs = &job, .job_count = 1};
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_COLD);
    job.required = false;
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_OK);
    job.required = true;
    report.command = "plan";
    assert_int_equal(pj_report_exit(&report), PJ_EXIT_OK);
}

static void each_verdict_falls_into_one_class(void **state)
{
    (void)state;
    static const enum pj_trouble expected[PJ_VERDICT_COUNT] = {
        [PJ_VERDICT_NONE] = PJ_TROUBLE_UNDONE,
        [PJ_VERDICT_PROVEN] = PJ_TROUBLE_NONE,
        [PJ_VERDICT_STORED] = PJ_TROUBLE_NONE,
        [PJ_VERDICT_SKIPPED] = PJ_TROUBLE_NONE,
        [PJ_VERDICT_REJECTED] = PJ_TROUBLE_FAILED,
        [PJ_VERDICT_INCOMPATIBLE] = PJ_TROUBLE_FAILED,
        [PJ_VERDICT_CRASHED] = PJ_TROUBLE_FAILED,
        [PJ_VERDICT_TIMED_OUT] = PJ_TROUBLE_FAILED,
        [PJ_VERDICT_OUT_OF_MEMORY] = PJ_TROUBLE_FAILED,
        [PJ_VERDICT_MISSED] = PJ_TROUBLE_COLD,
        [PJ_VERDICT_LOST] = PJ_TROUBLE_COLD,
        [PJ_VERDICT_EVICTED] = PJ_TROUBLE_COLD,
        [PJ_VERDICT_TOO_LARGE] = PJ_TROUBLE_TOO_LARGE,
        [PJ_VERDICT_INCONCLUSIVE] = PJ_TROUBLE_UNPROVEN,
    };
    struct pj_report report = {.command = "verify"};
    for (unsigned i = 0; i < PJ_VERDICT_COUNT; i++) {
        struct pj_report_job job = {.verdict = (enum pj_verdict)i};
        assert_int_equal(pj_report_trouble(&report, &job), expected[i]);
    }
    struct pj_report_job slow = {.verdict = PJ_VERDICT_PROVEN, .slow = true};
    struct pj_report_job passing = {.verdict = PJ_VERDICT_INCONCLUSIVE, .passing = true};
    assert_int_equal(pj_report_trouble(&report, &slow), PJ_TROUBLE_SLOW);
    assert_int_equal(pj_report_trouble(&report, &passing), PJ_TROUBLE_PASSING);
    /* Programs load what lies there: nothing is compiled at first use. */
    struct pj_report_job wrong = {.verdict = PJ_VERDICT_MISSED, .reason_code = "entry-wrong"};
    assert_int_equal(pj_report_trouble(&report, &wrong), PJ_TROUBLE_WRONG);
    wrong.reason_code = "entry-unusable";
    assert_int_equal(pj_report_trouble(&report, &wrong), PJ_TROUBLE_WRONG);
    wrong.reason_code = "entry-damaged";
    assert_int_equal(pj_report_trouble(&report, &wrong), PJ_TROUBLE_COLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_median_minimum_maximum),
        cmocka_unit_test(samples_that_are_no_times_do_not_count),
        cmocka_unit_test(a_sample_count_beyond_the_array_is_cut),
        cmocka_unit_test(speedup_needs_both_times),
        cmocka_unit_test(a_summary_counts_every_verdict_and_origin),
        cmocka_unit_test(the_exit_status_is_that_of_the_worst_required_job),
        cmocka_unit_test(an_undecided_job_is_no_success_but_in_a_plan),
        cmocka_unit_test(each_verdict_falls_into_one_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
