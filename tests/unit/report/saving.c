/* SPDX-License-Identifier: Apache-2.0 */
/* What a start is spared: which jobs count, the sums and medians, and when it is worth a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "report/saving.h"

static struct pj_report_job job(const char *target, double cold_ms, double warm_ms)
{
    return (struct pj_report_job){.module = "m",
                                  .target = target,
                                  .verdict = PJ_VERDICT_PROVEN,
                                  .has_cold_ms = true,
                                  .cold_ms = cold_ms,
                                  .warm = {.ms = {warm_ms}, .count = 1}};
}

static void expect(struct pj_report_job *jobs, size_t count, const char *line)
{
    const struct pj_report report = {.jobs = jobs, .job_count = count};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    assert_int_equal(pj_report_put_saving(&report, 0, &text, NULL), 0);
    assert_string_equal(pj_buffer_text(&text), line);
}

static void the_jobs_of_one_gpu_are_added_up(void **state)
{
    (void)state;
    struct pj_report_job jobs[] = {job("sm_90", 400, 1), job("sm_80", 2000, 3), job("sm_90", 380, 2),
                                   job("sm_90", 420, 3)};
    struct pj_report_saving saving;
    expect(jobs, 1, "saves 400 ms of JIT at each start (median 1.0 ms for 400 ms)\n");
    expect(jobs, 4, "saves 2.0 s of JIT at each start (median 3.0 ms for 2.0 s)\n"); /* the GPU with more */
    jobs[1].cold_ms = 1000;
    expect(jobs, 4, "saves 1.2 s of JIT at each start (median 2.0 ms for 400 ms)\n");
    const struct pj_report report = {.jobs = jobs, .job_count = 4};
    assert_int_equal(pj_report_saving(&report, &saving, NULL), 0);
    assert_string_equal(saving.target, "sm_90");
    assert_int_equal(saving.jobs, 3);
    assert_true(saving.cold_ms == 1200 && saving.median_cold_ms == 400 && saving.median_warm_ms == 2);
}

static void only_what_was_measured_here_counts(void **state)
{
    (void)state;
    struct pj_report_job jobs[4] = {job("sm_90", 400, 1), job("sm_90", 400, 1), job("sm_90", 400, 1),
                                    job("sm_90", 400, 1)};
    jobs[0].verdict = PJ_VERDICT_MISSED;
    jobs[1].target_kind = PJ_TARGET_KIND_FOREIGN;
    jobs[2].has_cold_ms = false;
    jobs[3].warm.count = 0;
    expect(jobs, 4, "");
    expect(jobs, 0, "");
}

static void little_is_not_worth_a_line(void **state)
{
    (void)state;
    struct pj_report_job jobs[] = {job("sm_90", 60, 1), job("sm_90", 39, 1)};
    expect(jobs, 2, "");
    jobs[1].cold_ms = 40;
    expect(jobs, 2, "saves 100 ms of JIT at each start (median 1.0 ms for 50 ms)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_jobs_of_one_gpu_are_added_up),
        cmocka_unit_test(only_what_was_measured_here_counts),
        cmocka_unit_test(little_is_not_worth_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
