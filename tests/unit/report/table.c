/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: what is shown, what is counted, what is explained below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "models.h"
#include "report/render.h"

/* The part below a table of jobs that take 312 ms to compile each. */
#define SAVES(sum) "\nsaves " sum " of JIT at each start (median 1.0 ms for 312 ms)\n"

/* Without notes it ends in the blank line that sets the answer off, which `expected` does not have. */
static void assert_table(const struct pj_report *report, bool verbose, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer wanted = {0};
    assert_int_equal(pj_render_table(report, verbose, &buffer, NULL), 0);
    pj_buffer_printf(&wanted, "%s%s", expected, *expected && report->note_count == 0 ? "\n" : "");
    assert_string_equal(pj_buffer_text(&buffer), pj_buffer_text(&wanted));
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void jobs_have_a_line_each(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_make(&arena, "warm");
    assert_non_null(report);
    report->jobs[1].verdict = PJ_VERDICT_INCONCLUSIVE;
    report->jobs[1].has_cold_ms = false;
    report->jobs[1].entries[0].has_bytes = false;
    report->jobs[0].slow = true;
    assert_table(
        report, false,
        "MODULE  TARGET  VERDICT       TO PTX  COMPILE    WARM  SPEEDUP    SIZE\n"
        "m0      sm_90   proven, slow       -   312 ms  1.0 ms     312x  290 kB\n"
        "m1      sm_90   inconclusive       -        -  1.0 ms        -       -\n"
        "m2      sm_80   proven         63 ms   312 ms  1.0 ms     312x  290 kB\n"
        "\n"
        "programs must have in their environment:\n"
        "    CUDA_CACHE_PATH=/var/cache/app/nv\n" SAVES(
            "312 ms") "\n"
                      "note: 2 stale entries of other driver builds (8.4 MB) were removed to make room\n");
}

static void code_has_a_column_where_it_was_compared(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_make(&arena, "against");
    assert_non_null(report);
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT  COMPILE    WARM  SPEEDUP    SIZE  CODE\n"
                 "m0      sm_90   proven    312 ms  1.0 ms     312x  290 kB  other-code\n"
                 "m1      sm_90   proven    312 ms  1.0 ms     312x  290 kB  same-code\n"
                 "m2      sm_90   proven    312 ms  1.0 ms     312x  290 kB  not-compared\n"
                 "m3      sm_90   skipped   312 ms  1.0 ms     312x  290 kB  -\n"
                 "\n"
                 "m0 sm_90: other-code: section .text.k differs\n"
                 "m2 sm_90: not-compared: the driver crashed\n" SAVES("938 ms"));
}

static void other_code_is_shown_among_many(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_proven(&arena, 60);
    assert_non_null(report);
    report->against_driver = true;
    for (size_t i = 0; i < 60; i++)
        report->jobs[i].against_driver = PJ_AGAINST_SAME;
    report->jobs[50].against_driver = PJ_AGAINST_OTHER;
    report->jobs[50].against_detail = "section .text.k differs";
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT  COMPILE    WARM  SPEEDUP    SIZE  CODE\n"
                 "m50     sm_90   proven    312 ms  1.0 ms     312x  290 kB  other-code\n"
                 "... 59 more proven (-v shows all)\n"
                 "\n"
                 "m50 sm_90: other-code: section .text.k differs\n" SAVES("18.8 s"));
}

static void verbose_adds_columns(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_proven(&arena, 2);
    assert_non_null(report);
    report->jobs[1].options.given = 1u << PJ_JIT_MAX_REGISTERS;
    report->jobs[1].options.values[PJ_JIT_MAX_REGISTERS] = 64;
    report->jobs[1].witnesses = (struct pj_witnesses){.canary = PJ_WITNESS_YES, .faster = PJ_WITNESS_NO};
    report->jobs[1].entry_count = 0;
    report->jobs[1].has_peak_rss = false;
    assert_table(report, true,
                 "MODULE  TARGET  OPTIONS           VERDICT  COMPILE    WARM     MIN     MAX  SPEEDUP    SIZE"
                 "  PEAK RSS  ENTRY               WITNESSES\n"
                 "m0      sm_90   -                 proven    312 ms  1.0 ms  0.9 ms  1.3 ms     312x  290 kB"
                 "     56 MB  c/a/920786966c763d  jit-disabled, canary, wall-time, entry, faster\n"
                 "m1      sm_90   max_registers=64  proven    312 ms  1.0 ms  0.9 ms  1.3 ms     312x       -"
                 "         -  -                   canary, not faster\n" SAVES("625 ms"));
}

static void verbose_names_the_compilers(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    struct pj_report report = {.command = "warm",
                               .nvrtc = {.path = "/opt/libnvrtc.so.13", .version = "13.0"},
                               .offline = {.compiler = "ptxas 13.0.88", .compiler_path = "/odd\n/ptxas"}};
    assert_table(&report, false, "");
    assert_table(&report, true,
                 "compilers:\n    NVRTC 13.0  /opt/libnvrtc.so.13\n"
                 "    ptxas 13.0.88  /odd\\x0a/ptxas\n");
    report.nvrtc.build = "13.0.88";
    report.offline.compiler_path = NULL;
    assert_table(&report, true, "compilers:\n    NVRTC 13.0.88  /opt/libnvrtc.so.13\n");
}

/* A link has one for each input: the size is that of all, and -v names them. */
static void several_entries_are_summed_and_named(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_proven(&arena, 2);
    assert_non_null(report);
    for (size_t i = 0; i < 2; i++) {
        report->jobs[i].entry_count = 2;
        report->jobs[i].entries[1] =
            (struct pj_report_entry){.name = "0/1/23456789abcdef", .has_bytes = i == 0, .bytes = 10000};
    }
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT  COMPILE    WARM  SPEEDUP    SIZE\n"
                 "m0      sm_90   proven    312 ms  1.0 ms     312x  300 kB\n"
                 "m1      sm_90   proven    312 ms  1.0 ms     312x       -\n" SAVES("625 ms"));
    report->job_count = 1;
    assert_table(report, true,
                 "MODULE  TARGET  VERDICT  COMPILE    WARM     MIN     MAX  SPEEDUP    SIZE  PEAK RSS"
                 "  ENTRY      WITNESSES\n"
                 "m0      sm_90   proven    312 ms  1.0 ms  0.9 ms  1.3 ms     312x  300 kB     56 MB"
                 "  2 entries  jit-disabled, canary, wall-time, entry, faster\n"
                 "\n"
                 "m0 sm_90: 2 entries\n"
                 "    c/a/920786966c763d  290 kB\n"
                 "    0/1/23456789abcdef  10 kB\n" SAVES("312 ms"));
}

static void a_plan_shows_what_is_there(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_make(&arena, "plan");
    assert_non_null(report);
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "m0      sm_90   present\n"
                 "m1      sm_90   to compile\n"
                 "m2      native  -\n"
                 "m3      sm_90   skipped\n");
}

static void forty_jobs_are_shown_in_full(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer forty = {0}, more = {0}, all = {0};
    struct pj_report *report = model_proven(&arena, 41);
    assert_non_null(report);
    report->job_count = 40;
    assert_int_equal(pj_render_table(report, false, &forty, NULL), 0);
    assert_int_equal(count_lines(pj_buffer_text(&forty)), 42 + 2);
    report->job_count = 41;
    assert_int_equal(pj_render_table(report, false, &more, NULL), 0);
    assert_string_equal(pj_buffer_text(&more), "41 proven (-v lists them)\n" SAVES("12.8 s") "\n");
    assert_int_equal(pj_render_table(report, true, &all, NULL), 0);
    assert_int_equal(count_lines(pj_buffer_text(&all)), 43 + 2);
}

static void a_long_table_shows_what_needs_attention(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_proven(&arena, 1000);
    assert_non_null(report);
    report->jobs[7] =
        (struct pj_report_job){.module = "bad", .target = "sm_90", .verdict = PJ_VERDICT_CRASHED};
    report->jobs[8].verdict = PJ_VERDICT_SKIPPED;
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "bad     sm_90   crashed\n"
                 "... 998 more proven, 1 more skipped (-v shows all)\n" SAVES("5 min 12 s"));
}

static void nothing_to_do_needs_no_table(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer verbose = {0};
    struct pj_report *report = model_make(&arena, "warm");
    assert_non_null(report);
    report->nothing_to_do = true;
    assert_table(report, false,
                 "note: 2 stale entries of other driver builds (8.4 MB) were removed to make room\n");
    report->note_count = 0;
    assert_table(report, false, "");
    assert_int_equal(pj_render_table(report, true, &verbose, NULL), 0);
    assert_int_equal(count_lines(pj_buffer_text(&verbose)), 4 + 1 + 2 + 2 + 1 + 3 + 1);
    report->jobs[1].slow = true;
    report->jobs[1].reason = "a warm load took 1 ms, the manifest allows 0.5 ms";
    assert_table(report, false,
                 "MODULE  TARGET  VERDICT       COMPILE    WARM  SPEEDUP    SIZE\n"
                 "m1      sm_90   proven, slow   312 ms  1.0 ms     312x  290 kB\n"
                 "... 2 more proven (-v shows all)\n"
                 "\n"
                 "m1 sm_90: proven: a warm load took 1 ms, the manifest allows 0.5 ms\n");
}

static void equal_reasons_are_told_once(void **state)
{
    (void)state;
    struct pj_report_job jobs[12];
    for (size_t i = 0; i < 12; i++) {
        jobs[i] = (struct pj_report_job){.module = i % 2 ? "b" : "a",
                                         .target = "sm_90",
                                         .verdict = PJ_VERDICT_REJECTED,
                                         .reason = i % 2 ? "empty" : "cut short"};
    }
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    struct pj_report report = {.command = "warm", .jobs = jobs, .job_count = 4};
    jobs[1].target = "sm_80";
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&buffer), "rejected\n\n"
                                                    "a sm_90, sm_90: rejected: cut short\n"
                                                    "b sm_80, sm_90: rejected: empty\n"));
    jobs[1].reason = jobs[3].reason = jobs[0].reason;
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&buffer), "a sm_90, b sm_80, a sm_90, b sm_90: rejected: cut"));
    jobs[1].reason = jobs[3].reason = "empty";
    /* Another verdict or another log is another matter; what takes several lines stands apart. */
    jobs[2].verdict = PJ_VERDICT_LOST;
    jobs[3].log = "more\n";
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&buffer), "\n\na sm_90: rejected: cut short\n"
                                                    "b sm_80: rejected: empty\n"
                                                    "a sm_90: lost: cut short\n"
                                                    "\n"
                                                    "b sm_90: rejected: empty\n"
                                                    "    more\n"));
    for (size_t i = 0; i < 12; i++)
        jobs[i] = jobs[0];
    report.job_count = 12;
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    assert_non_null(
        strstr(pj_buffer_text(&buffer),
               "\n\na sm_90, sm_90, sm_90, sm_90, sm_90, sm_90, sm_90, sm_90 and 4 more: rejected: "
               "cut short\n"));
}

static void a_log_does_not_repeat_the_reason(void **state)
{
    (void)state;
    struct pj_report_job job = {.module = "a",
                                .target = "sm_90",
                                .verdict = PJ_VERDICT_REJECTED,
                                .reason = "CUDA_ERROR_INVALID_PTX: ptxas fatal",
                                .log = "ptxas fatal\r\nsecond\n"};
    const struct pj_report report = {.command = "warm", .jobs = &job, .job_count = 1};
    assert_table(&report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "a       sm_90   rejected\n"
                 "\n"
                 "a sm_90: rejected: CUDA_ERROR_INVALID_PTX: ptxas fatal\n"
                 "    second\n");
    job.log = "ptxas fatal\n\n";
    assert_table(&report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "a       sm_90   rejected\n"
                 "\n"
                 "a sm_90: rejected: CUDA_ERROR_INVALID_PTX: ptxas fatal\n");
    job.log = "fatal, or so\n";
    job.reason = "fatal";
    assert_table(&report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "a       sm_90   rejected\n"
                 "\n"
                 "a sm_90: rejected: fatal\n"
                 "    fatal, or so\n");
}

static void a_crash_need_not_fail_the_run(void **state)
{
    (void)state;
    struct pj_report_job jobs[2] = {{.module = "a",
                                     .target = "sm_90",
                                     .verdict = PJ_VERDICT_TIMED_OUT,
                                     .reason = "gave up after 2.0 s (--timeout)",
                                     .required = true},
                                    {.module = "b",
                                     .target = "sm_90",
                                     .verdict = PJ_VERDICT_CRASHED,
                                     .reason = "killed by signal 11 (Segmentation fault), tried twice"}};
    const struct pj_report report = {.command = "warm", .jobs = jobs, .job_count = 2};
    assert_table(&report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "a       sm_90   timed-out\n"
                 "b       sm_90   crashed\n"
                 "\n"
                 "a sm_90: timed-out: gave up after 2.0 s (--timeout)\n"
                 "    to let the run succeed without it, give the module `required: false`\n"
                 "\n"
                 "b sm_90: crashed: killed by signal 11 (Segmentation fault), tried twice\n");
}

static void even_trouble_has_a_limit(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    struct pj_report *report = model_proven(&arena, 100);
    assert_non_null(report);
    char reasons[70][32];
    for (size_t i = 0; i < 70; i++) {
        report->jobs[i].verdict = PJ_VERDICT_MISSED;
        (void)snprintf(reasons[i], sizeof reasons[i], "reason %zu", i);
        report->jobs[i].reason = reasons[i];
    }
    assert_int_equal(pj_render_table(report, false, &buffer, NULL), 0);
    const char *text = pj_buffer_text(&buffer);
    assert_non_null(
        strstr(text, "\n... 30 more in trouble, 30 more proven (-v shows all)\n\nm0 sm_90: missed"));
    assert_non_null(strstr(text, "\nm19 sm_90: missed: reason 19\n\n... the reasons of 20 more "
                                 "(-v shows all)\n"));
    /* header, 40 jobs, hidden, blank, 20 reasons, blank, the rest, what is saved, blank */
    assert_int_equal(count_lines(text), 1 + 40 + 1 + 1 + 20 + 2 + 2 + 1);
}

static void failures_are_explained_below(void **state)
{
    (void)state;
    struct pj_report_job job = {.module = "a\x1b",
                                .target = "sm_90",
                                .verdict = PJ_VERDICT_REJECTED,
                                .reason = "CUDA_ERROR_INVALID_PTX\x07",
                                .log = "ptxas a.ptx, line 3; error : x\r\n\n\tsecond\xff\n\n \n"};
    const struct pj_report report = {.command = "warm", .jobs = &job, .job_count = 1};
    assert_table(&report, false,
                 "MODULE  TARGET  VERDICT\n"
                 "a\\x1b   sm_90   rejected\n"
                 "\n"
                 "a\\x1b sm_90: rejected: CUDA_ERROR_INVALID_PTX\\x07\n"
                 "    ptxas a.ptx, line 3; error : x\n"
                 "\n"
                 "    \\x09second\\xff\n");
}

static void long_logs_are_cut(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer log = {0}, buffer = {0};
    for (int i = 1; i <= 25; i++)
        pj_buffer_printf(&log, "line %d\n", i);
    struct pj_report_job job = {.module = "a", .target = "sm_90", .verdict = PJ_VERDICT_REJECTED};
    const struct pj_report report = {.command = "warm", .jobs = &job, .job_count = 1};
    job.log = pj_buffer_text(&log);
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    assert_non_null(
        strstr(pj_buffer_text(&buffer), "    line 20\n    ... 5 more lines (--format json has all)\n"));
    assert_null(strstr(pj_buffer_text(&buffer), "line 21"));

    char wide[1000];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    job.log = wide;
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_render_table(&report, false, &buffer, NULL), 0);
    char expected[500];
    (void)snprintf(expected, sizeof expected, "\n    %.400s...\n", wide);
    assert_non_null(strstr(pj_buffer_text(&buffer), expected));
}

static void an_empty_run_has_no_table(void **state)
{
    (void)state;
    assert_table(&(const struct pj_report){.command = "warm"}, false, "");
}

static void variables_are_quoted_for_a_shell(void **state)
{
    (void)state;
    struct pj_report_variable variable = {"CUDA_CACHE_PATH", "/my cache"};
    assert_table(&(const struct pj_report){.environment = &variable, .environment_count = 1}, false,
                 "programs must have in their environment:\n    CUDA_CACHE_PATH='/my cache'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_have_a_line_each),
        cmocka_unit_test(code_has_a_column_where_it_was_compared),
        cmocka_unit_test(other_code_is_shown_among_many),
        cmocka_unit_test(verbose_adds_columns),
        cmocka_unit_test(verbose_names_the_compilers),
        cmocka_unit_test(several_entries_are_summed_and_named),
        cmocka_unit_test(a_plan_shows_what_is_there),
        cmocka_unit_test(forty_jobs_are_shown_in_full),
        cmocka_unit_test(a_long_table_shows_what_needs_attention),
        cmocka_unit_test(nothing_to_do_needs_no_table),
        cmocka_unit_test(equal_reasons_are_told_once),
        cmocka_unit_test(a_log_does_not_repeat_the_reason),
        cmocka_unit_test(a_crash_need_not_fail_the_run),
        cmocka_unit_test(even_trouble_has_a_limit),
        cmocka_unit_test(failures_are_explained_below),
        cmocka_unit_test(long_logs_are_cut),
        cmocka_unit_test(an_empty_run_has_no_table),
        cmocka_unit_test(variables_are_quoted_for_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
