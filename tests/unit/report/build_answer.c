/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a build, the words for what became of a module, and the exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "build_models.h"

static void assert_answer(const struct pj_build_report *report, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_int_equal(pj_build_render_answer(report, false, &buffer, NULL), 0);
    assert_string_equal(pj_buffer_text(&buffer), expected);
}

static struct pj_build_report *built(void **state, size_t count)
{
    struct pj_build_report *report = build_model_built(*state, count);
    assert_non_null(report);
    return report;
}

static struct pj_build_report *model(void **state, const char *name)
{
    struct pj_build_report *report = build_model_make(*state, name);
    assert_non_null(report);
    return report;
}

static void reject(struct pj_build_unit *unit, const char *reason)
{
    unit->verdict = PJ_BUILD_REJECTED;
    unit->has_cubin = false;
    unit->reason = reason;
}

static void words_are_pinned(void **state)
{
    (void)state;
    static const char *const words[PJ_BUILD_VERDICT_COUNT] = {
        "not-tried", "built", "rejected", "incompatible", "crashed", "timed-out", "out-of-memory"};
    for (unsigned i = 0; i < PJ_BUILD_VERDICT_COUNT; i++)
        assert_string_equal(pj_build_verdict_name((enum pj_build_verdict)i), words[i]);
    assert_string_equal(pj_build_verdict_name(PJ_BUILD_VERDICT_COUNT), "");
}

static void the_exit_status_is_what_units_add_up_to(void **state)
{
    struct pj_build_report *report = built(state, 2);
    assert_int_equal(pj_build_exit(report), PJ_EXIT_OK);
    for (unsigned i = PJ_BUILD_REJECTED; i < PJ_BUILD_VERDICT_COUNT; i++) {
        report->units[1].verdict = (enum pj_build_verdict)i;
        report->units[1].required = true;
        assert_int_equal(pj_build_exit(report), PJ_EXIT_FAILED);
        report->units[1].required = false;
        assert_int_equal(pj_build_exit(report), PJ_EXIT_OK);
    }
    report->unit_count = 0;
    assert_int_equal(pj_build_exit(report), PJ_EXIT_OK);
}

static void an_early_end_passes_and_a_failure_does_not(void **state)
{
    struct pj_build_report *report = built(state, 2);
    report->units[1].verdict = PJ_BUILD_NOT_TRIED;
    assert_int_equal(pj_build_exit(report), PJ_EXIT_FAILED);
    report->ended_by = "interrupted";
    assert_int_equal(pj_build_exit(report), PJ_EXIT_RETRY);
    report->units[0].verdict = PJ_BUILD_CRASHED;
    assert_int_equal(pj_build_exit(report), PJ_EXIT_FAILED);
}

static void success_counts_cubins_and_targets(void **state)
{
    struct pj_build_report *report = built(state, 12);
    static const char *const targets[] = {"sm_75", "sm_80", "sm_90a", "sm_120"};
    for (size_t i = 0; i < 12; i++)
        report->units[i].target = targets[i % 4];
    assert_answer(report, "12 cubins built for 4 targets in 2.1 s into out");
    report->out_dir = NULL;
    assert_answer(report, "12 cubins compile for 4 targets (nothing written)");
    report->unit_count = 1;
    assert_answer(report, "1 cubin compiles for 1 target (nothing written)");
    report->out_dir = "o\x1b";
    assert_answer(report, "1 cubin built for 1 target in 2.1 s into o\\x1b");
}

static void nothing_to_build_is_a_line_too(void **state)
{
    struct pj_build_report *report = model(state, "empty");
    assert_answer(report, "0 cubins built in 2.1 s into out");
    report->out_dir = NULL;
    report->left_out = 2;
    assert_answer(report, "0 cubins compile (nothing written); 2 targets left out");
}

static void a_failed_module_is_named_with_its_reason(void **state)
{
    struct pj_build_report *report = built(state, 12);
    report->units[3].module = "physics";
    reject(&report->units[3], "NVRTC refused it: a.cu(1): error: no\nmore");
    report->exit_code = pj_build_exit(report);
    assert_answer(report,
                  "exit 1: 1 of 12 failed: physics sm_90 (rejected: NVRTC refused it: a.cu(1): error: no)");
    report->units[3].reason = NULL;
    report->units[3].reason_code = "no-code";
    assert_answer(report, "exit 1: 1 of 12 failed: physics sm_90 (rejected: no-code)");
    report->units[3].reason_code = NULL;
    report->left_out = 1;
    assert_answer(report, "exit 1: 1 of 12 failed: physics sm_90 (rejected); 1 target left out");
}

static void neighbours_share_a_reason_and_the_rest_is_counted(void **state)
{
    struct pj_build_report *report = built(state, 12);
    for (size_t i = 0; i < 5; i++)
        reject(&report->units[i], i < 2 ? "no" : "never");
    report->exit_code = pj_build_exit(report);
    assert_answer(
        report,
        "exit 1: 5 of 12 failed: u0 sm_90, u1 sm_90 (rejected: no), u2 sm_90 (rejected: never) and 2 more");
    report->units[1].module = report->units[3].module = "u0";
    report->units[1].target = report->units[3].target = "sm_80";
    report->units[2].module = "u4";
    assert_answer(report, "exit 1: 5 of 12 failed: u0 sm_90, sm_80 (rejected: no), u4 sm_90, sm_90, u0 sm_80 "
                          "(rejected: never)");
}

static void long_reasons_keep_their_end(void **state)
{
    struct pj_build_report *report = built(state, 1);
    char reason[1201];
    memset(reason, 'x', 600);
    memset(reason + 600, 'c', 600);
    reason[1200] = '\0';
    reject(&report->units[0], reason);
    report->exit_code = pj_build_exit(report);
    PJ_CLEANUP_BUFFER struct pj_buffer expected = {0};
    pj_buffer_printf(&expected, "exit 1: 1 of 1 failed: u0 sm_90 (rejected: %.500s ... %s)", reason,
                     reason + 700);
    assert_answer(report, pj_buffer_text(&expected));
}

static void below_the_table_only_short_reasons_stand(void **state)
{
    struct pj_build_report *report = built(state, 3);
    char reason[64] = {0};
    memset(reason, 'x', 61);
    reason[61] = '\n';
    reject(&report->units[0], reason);
    reject(&report->units[1], "no kernel");
    report->exit_code = pj_build_exit(report);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    assert_int_equal(pj_build_render_answer(report, true, &text, NULL), 0);
    assert_string_equal(pj_buffer_text(&text),
                        "exit 1: 2 of 3 failed: u0 sm_90 (rejected), u1 sm_90 (rejected: no kernel)");
    reason[60] = '\0';
    pj_buffer_reset(&text);
    assert_int_equal(pj_build_render_answer(report, true, &text, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&text), "u0 sm_90 (rejected: xxx"));
}

static void what_is_not_required_is_told_apart(void **state)
{
    struct pj_build_report *report = built(state, 3);
    reject(&report->units[1], "no");
    report->units[1].required = false;
    report->exit_code = pj_build_exit(report);
    assert_answer(report,
                  "2 cubins built for 1 target in 2.1 s into out; 1 not required: u1 sm_90 (rejected: no)");
    reject(&report->units[2], "never");
    report->exit_code = pj_build_exit(report);
    assert_answer(
        report, "exit 1: 1 of 3 failed: u2 sm_90 (rejected: never); 1 not required: u1 sm_90 (rejected: no)");
}

static void what_was_removed_is_counted(void **state)
{
    struct pj_build_report *report = built(state, 2);
    reject(&report->units[1], "no");
    report->units[1].required = false;
    report->removed = 1;
    assert_answer(report,
                  "1 cubin built for 1 target in 2.1 s into out; 1 not required: u1 sm_90 (rejected: no); 1 "
                  "file of an earlier run removed");
    report->removed = 2;
    report->units[1].required = true;
    report->exit_code = pj_build_exit(report);
    report->left_out = 1;
    assert_answer(report,
                  "exit 1: 1 of 2 failed: u1 sm_90 (rejected: no); 1 target left out; 2 files of an earlier "
                  "run removed");
}

static void an_early_end_says_how_far_it_came(void **state)
{
    struct pj_build_report *report = model(state, "early");
    assert_answer(report, "exit 75: the deadline passed: 2 of 3 built into out");
    /* The caller sees the signal, not the status. */
    report->ended_by = "interrupted";
    assert_answer(report, "interrupted: 2 of 3 built into out");
    report->out_dir = NULL;
    reject(&report->units[0], "no");
    report->exit_code = pj_build_exit(report);
    assert_answer(report, "interrupted: 1 of 3 compiled; 1 failed: u0 sm_90 (rejected: no)");
}

static int set_up(void **state)
{
    static struct pj_arena arena;
    arena = (struct pj_arena){0};
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    pj_arena_free(*state);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words_are_pinned),
        TEST(the_exit_status_is_what_units_add_up_to),
        TEST(an_early_end_passes_and_a_failure_does_not),
        TEST(success_counts_cubins_and_targets),
        TEST(nothing_to_build_is_a_line_too),
        TEST(a_failed_module_is_named_with_its_reason),
        TEST(neighbours_share_a_reason_and_the_rest_is_counted),
        TEST(long_reasons_keep_their_end),
        TEST(below_the_table_only_short_reasons_stand),
        TEST(what_is_not_required_is_told_apart),
        TEST(what_was_removed_is_counted),
        TEST(an_early_end_says_how_far_it_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
