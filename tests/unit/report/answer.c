/* SPDX-License-Identifier: Apache-2.0 */
/* The last line: every class of trouble, every shape of success, the cures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "report/render.h"

static void assert_answer(const struct pj_report *report, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_int_equal(pj_render_answer(report, false, &buffer, NULL), 0);
    assert_string_equal(pj_buffer_text(&buffer), expected);
}

/* The model of `count` proven jobs, its exit status kept in step with its jobs by `decide`. */
static struct pj_report *proven(void **state, size_t count)
{
    struct pj_report *report = model_proven(*state, count);
    assert_non_null(report);
    return report;
}

static void decide(struct pj_report_job *job, enum pj_verdict verdict, const char *reason)
{
    job->verdict = verdict;
    job->reason = reason;
    job->origin = PJ_ORIGIN_NONE;
}

static void success_counts_where_entries_came_from(void **state)
{
    struct pj_report *report = proven(state, 64);
    for (size_t i = 0; i < 4; i++)
        report->jobs[i].origin = PJ_ORIGIN_COMPILED;
    assert_answer(report, "64 jobs: 64 proven (60 reused, 4 compiled) in 2.9 s; 20 MB of 1.0 GiB in "
                          "/var/cache/app/nv");
    report->jobs[0].origin = PJ_ORIGIN_REPAIRED;
    assert_answer(report, "64 jobs: 64 proven (60 reused, 4 compiled, 1 of them twice) in 2.9 s; "
                          "20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void one_job_is_not_plural(void **state)
{
    struct pj_report *report = proven(state, 1);
    report->jobs[0].origin = PJ_ORIGIN_NONE;
    report->command = "verify";
    assert_answer(report, "1 job: 1 proven in 2.9 s; 20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void code_is_counted_where_it_was_compared(void **state)
{
    struct pj_report *report = model_make(*state, "against");
    assert_non_null(report);
    assert_answer(report,
                  "4 jobs: 3 proven (4 reused), 1 skipped in 2.9 s; code as the driver's own in 1 of 3; "
                  "20 MB of 1.0 GiB in /var/cache/app/nv");
    decide(&report->jobs[3], PJ_VERDICT_MISSED, NULL);
    report->exit_code = PJ_EXIT_COLD;
    assert_answer(report,
                  "exit 4: 1 of 4 will be compiled at first use: m3 sm_90 (missed); code as the driver's own "
                  "in 1 of 3; run: prejit warm m.yaml");
    for (size_t i = 0; i < 3; i++) {
        decide(&report->jobs[i], PJ_VERDICT_MISSED, NULL);
        report->jobs[i].against_driver = PJ_AGAINST_NONE;
    }
    assert_answer(report,
                  "exit 4: 4 of 4 will be compiled at first use: m0 sm_90, m1 sm_90, m2 sm_90 (missed) and 1 "
                  "more; run: prejit warm m.yaml");
}

static void nothing_to_do_says_how_fast_that_was_known(void **state)
{
    struct pj_report *report = proven(state, 64);
    report->nothing_to_do = true;
    report->seconds = 0.012;
    assert_answer(report, "64 jobs: 64 proven, nothing to do (checked in 12 ms); 20 MB of 1.0 GiB in "
                          "/var/cache/app/nv");
}

static void offline_skipped_and_left_out_have_counts(void **state)
{
    struct pj_report *report = proven(state, 4);
    decide(&report->jobs[0], PJ_VERDICT_STORED, NULL);
    decide(&report->jobs[1], PJ_VERDICT_STORED, NULL);
    decide(&report->jobs[2], PJ_VERDICT_STORED, NULL);
    report->jobs[0].origin = PJ_ORIGIN_COMPILED;
    report->jobs[1].origin = report->jobs[2].origin = PJ_ORIGIN_REUSED;
    decide(&report->jobs[3], PJ_VERDICT_SKIPPED, NULL);
    report->left_out = 1;
    report->cache.has_content = false;
    assert_answer(report, "4 jobs: 3 stored (2 reused, 1 compiled, not yet seen by a driver), 1 skipped, "
                          "1 target left out in 2.9 s; cache /var/cache/app/nv");
    struct pj_report_profile profile = {.driver_version = "580.159.04", .stamp = "Apr 29 202617:12:06"};
    report->offline = (struct pj_report_offline){&profile, 1, "ptxas 13.0.88", NULL};
    assert_answer(report,
                  "4 jobs: 3 stored (2 reused, 1 compiled by ptxas 13.0.88, not yet seen by a driver), "
                  "1 skipped, 1 target left out in 2.9 s; cache /var/cache/app/nv");
    report->exit_reason = "interrupted by SIGTERM";
    report->ended_early = report->dies_by_signal = true;
    report->manifest = NULL;
    report->command = "warm";
    decide(&report->jobs[2], PJ_VERDICT_INCONCLUSIVE, "the run was interrupted");
    report->jobs[2].reason_code = "interrupted";
    assert_answer(report,
                  "interrupted by SIGTERM: 1 of 4 compiled and kept, 1 reused; run again: prejit warm");
}

static void an_empty_run_is_a_line_too(void **state)
{
    struct pj_report *report = proven(state, 0);
    report->cache.path = NULL;
    assert_answer(report, "0 jobs in 2.9 s");
    report->left_out = 2;
    report->nothing_to_do = true;
    assert_answer(report, "0 jobs: 2 targets left out, nothing to do (checked in 2.9 s)");
}

static void a_plan_counts_what_is_there(void **state)
{
    struct pj_report *report = model_make(*state, "plan");
    assert_non_null(report);
    assert_answer(
        report,
        "4 jobs: 1 present, 1 to compile, presence of 1 not known yet (`prejit warm` has not met this "
        "driver yet), 1 skipped, 2 targets left out");
    report->host.stamp = "Apr 29 202617:12:06";
    assert_answer(report, "4 jobs: 1 present, 1 to compile, presence of 1 not known yet, 1 skipped, "
                          "2 targets left out");
    report->host.stamp = NULL;
    report->left_out = 0;
    report->jobs += 2;
    report->job_count = 1;
    assert_answer(report, "1 job: presence not known yet (`prejit warm` has not met this driver yet)");
    report->jobs -= 2;
    report->job_count = 4;
    decide(&report->jobs[2], PJ_VERDICT_INCOMPATIBLE, "sm_90a code runs on compute capability 9.0 alone");
    report->exit_code = pj_report_exit(report);
    assert_answer(report,
                  "exit 1: 1 of 4 failed: m2 native (incompatible: sm_90a code runs on compute capability "
                  "9.0 alone)");
}

static void a_missed_job_is_named_with_its_cure(void **state)
{
    struct pj_report *report = proven(state, 64);
    report->command = "verify";
    report->jobs[5].module = "solver";
    decide(&report->jobs[5], PJ_VERDICT_MISSED, "entry deleted");
    report->exit_code = pj_report_exit(report);
    assert_answer(report,
                  "exit 4: 1 of 64 will be compiled at first use: solver sm_90 (missed: entry deleted); "
                  "run: prejit warm m.yaml");
}

static void every_class_is_named_in_order(void **state)
{
    struct pj_report *report = proven(state, 64);
    decide(&report->jobs[0], PJ_VERDICT_PROVEN, "60 ms, at most 50 ms were asked for");
    report->jobs[0].slow = true;
    decide(&report->jobs[1], PJ_VERDICT_INCONCLUSIVE, NULL);
    report->jobs[1].reason_code = "control-failed";
    decide(&report->jobs[2], PJ_VERDICT_NONE, NULL);
    decide(&report->jobs[3], PJ_VERDICT_LOST, NULL);
    decide(&report->jobs[4], PJ_VERDICT_INCONCLUSIVE, "all GPU memory is in use");
    report->jobs[4].passing = true;
    decide(&report->jobs[5], PJ_VERDICT_CRASHED, NULL);
    decide(&report->jobs[6], PJ_VERDICT_REJECTED, "CUDA_ERROR_INVALID_PTX");
    decide(&report->jobs[7], PJ_VERDICT_TOO_LARGE, "9.0 MB; CUDA_CACHE_MAXSIZE=16777216 fits");
    decide(&report->jobs[8], PJ_VERDICT_TIMED_OUT, NULL);
    report->jobs[8].required = false;
    report->exit_code = pj_report_exit(report);
    assert_answer(report, "exit 3: 1 of 64 too large for the cache: m7 sm_90 (too-large: 9.0 MB; "
                          "CUDA_CACHE_MAXSIZE=16777216 fits); "
                          "2 failed: m5 sm_90 (crashed), m6 sm_90 (rejected: CUDA_ERROR_INVALID_PTX); "
                          "1 could not be proven now: m4 sm_90 (inconclusive: all GPU memory is in use); "
                          "1 will be compiled at first use: m3 sm_90 (lost); "
                          "1 not done: m2 sm_90; "
                          "1 not proven: m1 sm_90 (inconclusive: control-failed); "
                          "1 slower than asked: m0 sm_90 (60 ms, at most 50 ms were asked for); "
                          "1 not required: m8 sm_90 (timed-out); run again later: prejit warm m.yaml");
}

static void only_three_jobs_are_named(void **state)
{
    struct pj_report *report = proven(state, 64);
    for (size_t i = 0; i < 15; i++)
        decide(&report->jobs[i], PJ_VERDICT_CRASHED, NULL);
    report->exit_code = pj_report_exit(report);
    assert_answer(report, "exit 1: 15 of 64 failed: m0 sm_90, m1 sm_90, m2 sm_90 (crashed) and "
                          "12 more");
}

static void targets_of_a_module_that_fail_alike_are_named_together(void **state)
{
    static const char *const targets[] = {"sm_75", "sm_80", "sm_86",  "sm_87",
                                          "sm_89", "sm_90", "sm_100", "sm_103"};
    struct pj_report *report = proven(state, 16);
    for (size_t i = 0; i < 14; i++) {
        decide(&report->jobs[i], i == 2 ? PJ_VERDICT_CRASHED : PJ_VERDICT_REJECTED, "too new");
        report->jobs[i].module = i < 8 ? "new" : i < 10 ? "b" : i == 10 ? "c" : "d";
        report->jobs[i].target = targets[i % 8];
    }
    report->exit_code = pj_report_exit(report);
    assert_answer(report, "exit 1: 14 of 16 failed: new sm_75, sm_80, sm_87, sm_89, sm_90, sm_100 and 1 more "
                          "(rejected: too new), new sm_86 (crashed: too new), b sm_75, sm_80 (rejected: too "
                          "new) and 4 more");
    for (size_t i = 0; i < 8; i++)
        decide(&report->jobs[i], PJ_VERDICT_PROVEN, NULL);
    assert_answer(report,
                  "exit 1: 6 of 16 failed: b sm_75, sm_80, c sm_86, d sm_87, sm_89, sm_90 (rejected: too "
                  "new)");
}

static void what_is_not_required_is_named_beside_success(void **state)
{
    struct pj_report *report = proven(state, 2);
    decide(&report->jobs[1], PJ_VERDICT_REJECTED, NULL);
    report->jobs[1].required = false;
    report->exit_code = pj_report_exit(report);
    assert_int_equal(report->exit_code, PJ_EXIT_OK);
    assert_answer(report, "2 jobs: 1 proven (1 reused) in 2.9 s; 1 not required: m1 sm_90 (rejected); "
                          "20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void what_passes_is_to_be_tried_again(void **state)
{
    struct pj_report *report = proven(state, 2);
    report->command = "verify";
    decide(&report->jobs[0], PJ_VERDICT_INCONCLUSIVE, "GPU 0 is in exclusive mode and in use");
    report->jobs[0].passing = true;
    report->exit_code = pj_report_exit(report);
    assert_answer(report,
                  "exit 75: 1 of 2 could not be proven now: m0 sm_90 (inconclusive: GPU 0 is in exclusive "
                  "mode and in use); run again later: prejit verify m.yaml");
}

static void a_reason_of_the_whole_run_comes_first(void **state)
{
    struct pj_report *report = proven(state, 2);
    report->exit_code = PJ_EXIT_RETRY;
    report->exit_reason = "a reboot is pending: kernel module 570.1, libcuda 580.2";
    assert_answer(report, "exit 75: a reboot is pending: kernel module 570.1, libcuda 580.2; "
                          "2 jobs: 2 proven (2 reused) in 2.9 s; run again later: prejit warm m.yaml");
    report->exit_reason = NULL;
    report->exit_code = (enum pj_exit)143;
    assert_answer(report,
                  "exit 143: 2 jobs: 2 proven (2 reused) in 2.9 s; 20 MB of 1.0 GiB in /var/cache/app/nv");
}

/* Like the run that ends with its first entries compiled: what was not reached has one reason. */
static void end_early(struct pj_report *report, const char *reason_code)
{
    report->ended_early = true;
    for (size_t i = 0; i < report->job_count; i++) {
        decide(&report->jobs[i], PJ_VERDICT_INCONCLUSIVE, "the run ended");
        report->jobs[i].reason_code = reason_code;
        report->jobs[i].passing = true;
        if (i < 30)
            report->jobs[i].origin = PJ_ORIGIN_COMPILED;
    }
    report->exit_code = pj_report_exit(report);
}

/* What a run removed must be seen, also where all went well. */
static void evictions_are_counted(void **state)
{
    struct pj_report *report = proven(state, 1);
    report->has_store = true;
    report->store.stale_evicted = 1;
    assert_answer(report, "1 job: 1 proven (1 reused) in 2.9 s; 1 entry of other driver builds made room; "
                          "20 MB of 1.0 GiB in /var/cache/app/nv");
    report->store.evicted = 2;
    assert_answer(report,
                  "1 job: 1 proven (1 reused) in 2.9 s; 1 entry of other driver builds and 2 entries of "
                  "this driver build made room (--evict); 20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void an_early_end_says_what_was_achieved(void **state)
{
    struct pj_report *report = proven(state, 60);
    end_early(report, "interrupted");
    report->dies_by_signal = true;
    report->exit_reason = "interrupted by SIGTERM";
    assert_answer(report,
                  "interrupted by SIGTERM: 30 of 60 compiled and kept, 0 proven; run again: prejit warm "
                  "m.yaml");
    end_early(report, "deadline");
    report->dies_by_signal = false;
    report->exit_reason = "the deadline passed";
    report->jobs[40].origin = PJ_ORIGIN_REUSED;
    decide(&report->jobs[0], PJ_VERDICT_PROVEN, NULL);
    decide(&report->jobs[1], PJ_VERDICT_CRASHED, "tried twice");
    decide(&report->jobs[59], PJ_VERDICT_NONE, NULL);
    report->exit_code = pj_report_exit(report);
    assert_answer(report,
                  "exit 1: the deadline passed: 28 of 60 compiled and kept, 1 reused, 1 proven; 1 failed: "
                  "m1 sm_90 (crashed: tried twice); run again: prejit warm m.yaml");
    report->command = "verify";
    decide(&report->jobs[1], PJ_VERDICT_PROVEN, NULL);
    report->exit_code = PJ_EXIT_RETRY;
    assert_answer(report, "exit 75: the deadline passed: 2 of 60 proven; run again: prejit verify m.yaml");
    report->job_count = 0;
    report->dies_by_signal = true;
    report->exit_reason = "interrupted by SIGINT before the jobs were known";
    assert_answer(report,
                  "interrupted by SIGINT before the jobs were known; run again: prejit verify m.yaml");
}

static void warming_is_no_cure_for_what_cannot_be_read(void **state)
{
    struct pj_report *report = proven(state, 2);
    const char *options[] = {"--cache", "/my cache", "-t", "sm_90", "--user", "app", "--driver", "/d"};
    report->command = "verify";
    decide(&report->jobs[0], PJ_VERDICT_MISSED, "this user cannot write index");
    report->jobs[0].reason_code = "index-not-writable";
    report->exit_code = pj_report_exit(report);
    assert_answer(report,
                  "exit 4: 1 of 2 will be compiled at first use: m0 sm_90 (missed: this user cannot write "
                  "index); see: prejit doctor m.yaml");
    report->repeat_options = options;
    report->repeat_option_count = 8;
    assert_answer(report,
                  "exit 4: 1 of 2 will be compiled at first use: m0 sm_90 (missed: this user cannot write "
                  "index); see: prejit doctor --cache '/my cache' --user app --driver /d m.yaml");
}

static void a_long_reason_stands_in_the_table(void **state)
{
    struct pj_report *report = proven(state, 2);
    char reason[62] = {0};
    memset(reason, 'r', 61);
    decide(&report->jobs[0], PJ_VERDICT_REJECTED, reason);
    report->exit_code = pj_report_exit(report);
    PJ_CLEANUP_BUFFER struct pj_buffer above = {0}, alone = {0};
    assert_int_equal(pj_render_answer(report, true, &above, NULL), 0);
    assert_string_equal(pj_buffer_text(&above), "exit 1: 1 of 2 failed: m0 sm_90 (rejected)");
    assert_int_equal(pj_render_answer(report, false, &alone, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&alone), "(rejected: rrr"));
    reason[60] = '\0';
    pj_buffer_reset(&above);
    assert_int_equal(pj_render_answer(report, true, &above, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&above), "(rejected: rrr"));
}

static void cures_can_be_pasted_into_a_shell(void **state)
{
    struct pj_report *report = proven(state, 1);
    const char *options[] = {"--cache", "/my cache"};
    report->command = "verify";
    decide(&report->jobs[0], PJ_VERDICT_EVICTED, NULL);
    report->exit_code = pj_report_exit(report);
    report->manifest = "it's $HOME.yaml";
    report->repeat_options = options;
    report->repeat_option_count = 2;
    assert_answer(report, "exit 4: 1 of 1 will be compiled at first use: m0 sm_90 (evicted); "
                          "run: prejit warm --cache '/my cache' 'it'\\''s $HOME.yaml'");
    report->repeat_option_count = 0;
    report->manifest = "-m.yaml";
    assert_answer(report, "exit 4: 1 of 1 will be compiled at first use: m0 sm_90 (evicted); "
                          "run: prejit warm ./-m.yaml");
    report->manifest = "-";
    assert_answer(report,
                  "exit 4: 1 of 1 will be compiled at first use: m0 sm_90 (evicted); run: prejit warm -");
    report->manifest = NULL;
    report->command = "refresh";
    assert_answer(report,
                  "exit 4: 1 of 1 will be compiled at first use: m0 sm_90 (evicted); run: prejit refresh");
}

static void names_and_reasons_are_escaped_and_cut(void **state)
{
    struct pj_report *report = proven(state, 1);
    char module[200] = "\x1b[2J", reason[1400] = "line\t";
    for (size_t i = 4; i < sizeof module - 1; i++)
        module[i] = 'm';
    for (size_t i = 5; i < sizeof reason - 1; i++)
        reason[i] = i < 700 ? 'r' : 'c';
    report->jobs[0].module = module;
    decide(&report->jobs[0], PJ_VERDICT_REJECTED, reason);
    report->exit_code = pj_report_exit(report);
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_int_equal(pj_render_answer(report, false, &buffer, NULL), 0);
    char expected[1600];
    (void)snprintf(expected, sizeof expected,
                   "exit 1: 1 of 1 failed: \\x1b[2J%.76s... sm_90 (rejected: line\\x09%.495s ... %s)",
                   module + 4, reason + 5, reason + sizeof reason - 501);
    assert_string_equal(pj_buffer_text(&buffer), expected);
    reason[4] = '\n';
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_render_answer(report, false, &buffer, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&buffer), " sm_90 (rejected: line)"));
}

static int make_arena(void **state)
{
    *state = calloc(1, sizeof(struct pj_arena));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    pj_arena_free(*state);
    free(*state);
    return 0;
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, free_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(success_counts_where_entries_came_from),
        WITH_ARENA(one_job_is_not_plural),
        WITH_ARENA(code_is_counted_where_it_was_compared),
        WITH_ARENA(nothing_to_do_says_how_fast_that_was_known),
        WITH_ARENA(offline_skipped_and_left_out_have_counts),
        WITH_ARENA(an_empty_run_is_a_line_too),
        WITH_ARENA(a_plan_counts_what_is_there),
        WITH_ARENA(a_missed_job_is_named_with_its_cure),
        WITH_ARENA(every_class_is_named_in_order),
        WITH_ARENA(only_three_jobs_are_named),
        WITH_ARENA(targets_of_a_module_that_fail_alike_are_named_together),
        WITH_ARENA(what_is_not_required_is_named_beside_success),
        WITH_ARENA(what_passes_is_to_be_tried_again),
        WITH_ARENA(a_reason_of_the_whole_run_comes_first),
        WITH_ARENA(evictions_are_counted),
        WITH_ARENA(an_early_end_says_what_was_achieved),
        WITH_ARENA(warming_is_no_cure_for_what_cannot_be_read),
        WITH_ARENA(a_long_reason_stands_in_the_table),
        WITH_ARENA(cures_can_be_pasted_into_a_shell),
        WITH_ARENA(names_and_reasons_are_escaped_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
