/* SPDX-License-Identifier: Apache-2.0 */
/* Progress with injected time: what is drawn, when, and what is left on the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "report/progress.h"

#define ERASE "\r\x1b[K"

/* Asserts what was written since the last time, and forgets it. */
static void assert_written(struct pj_buffer *buffer, const char *expected)
{
    assert_string_equal(pj_buffer_text(buffer), expected);
    pj_buffer_reset(buffer);
}

static void a_log_gets_a_line_per_finished_job(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, false, 0);
    pj_progress_begin(&progress, "compile", 3, 0, 0, &out);
    assert_int_equal(pj_progress_start(&progress, 7, "saxpy sm_90", 0, &out, NULL), 0);
    assert_int_equal(pj_progress_start(&progress, 8, "a\x1b sm_90", 0, &out, NULL), 0);
    pj_progress_tick(&progress, 5000, &out);
    assert_written(&out, "");
    pj_progress_finish(&progress, 8, NULL, 1, "compiled in 2.9 s", false, 5000, &out);
    assert_written(&out, "[1/3] a\\x1b sm_90: compiled in 2.9 s\n");
    pj_progress_finish(&progress, 7, NULL, 1, "rejected\n", true, 5000, &out);
    assert_written(&out, "[2/3] saxpy sm_90: rejected\\x0a\n");
    pj_progress_finish(&progress, 9, "late sm_90", 1, "skipped", false, 5000, &out);
    assert_written(&out, "[3/3] late sm_90: skipped\n");
    pj_progress_end(&progress, &out);
    assert_written(&out, "");
}

/* What fails alike for many targets is told in full once. */
static void an_equal_failure_of_a_module_is_named(void **state)
{
    static const char reason[] = "rejected: PTX ISA 9.9 is newer than 9.0";
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, false, 0);
    pj_progress_begin(&progress, "compile", 9, 0, 0, &out);
    pj_progress_finish(&progress, 1, "new sm_80", 1, reason, true, 0, &out);
    pj_progress_finish(&progress, 2, "new sm_90", 1, reason, true, 0, &out);
    pj_progress_finish(&progress, 3, "old sm_90", 1, reason, true, 0, &out);
    pj_progress_finish(&progress, 4, "new\n sm_90", 1, reason, true, 0, &out);
    pj_progress_finish(&progress, 5, "new\n sm_100", 1, reason, true, 0, &out);
    assert_written(&out, "[1/9] new sm_80: rejected: PTX ISA 9.9 is newer than 9.0\n"
                         "[2/9] new sm_90: the same as new sm_80\n"
                         "[3/9] old sm_90: rejected: PTX ISA 9.9 is newer than 9.0\n"
                         "[4/9] new\\x0a sm_90: rejected: PTX ISA 9.9 is newer than 9.0\n"
                         "[5/9] new\\x0a sm_100: the same as new\\x0a sm_90\n");
    /* Another reason, what is not longer than that, what is well, a name without a target. */
    pj_progress_finish(&progress, 6, "new sm_100", 1, "crashed", true, 0, &out);
    pj_progress_finish(&progress, 7, "new sm_103", 1, "crashed", true, 0, &out);
    pj_progress_finish(&progress, 8, "new sm_110", 1, reason, false, 0, &out);
    pj_progress_finish(&progress, 9, "new", 1, reason, true, 0, &out);
    assert_written(&out, "[6/9] new sm_100: crashed\n"
                         "[7/9] new sm_103: crashed\n"
                         "[8/9] new sm_110: rejected: PTX ISA 9.9 is newer than 9.0\n"
                         "[9/9] new: rejected: PTX ISA 9.9 is newer than 9.0\n");
    /* What scrolled away, and what another phase said, is told again. */
    for (int i = 0; i < PJ_PROGRESS_TOLD_MAX; i++) {
        char name[] = "a sm_90";
        name[0] = (char)('a' + i);
        pj_progress_finish(&progress, 9, name, 1, reason, true, 0, &out);
    }
    pj_buffer_reset(&out);
    pj_progress_finish(&progress, 9, "new sm_80", 1, reason, true, 0, &out);
    pj_progress_begin(&progress, "prove", 1, 0, 0, &out);
    pj_progress_finish(&progress, 1, "new sm_80", 1, reason, true, 0, &out);
    assert_written(&out, "[26/9] new sm_80: rejected: PTX ISA 9.9 is newer than 9.0\n"
                         "[1/1] new sm_80: rejected: PTX ISA 9.9 is newer than 9.0\n");
    pj_progress_end(&progress, &out);
}

static void a_terminal_gets_one_line(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "compile", 4, 0, 1000, &out);
    assert_written(&out, "\r[....................] 0/4 compile\x1b[K");
    assert_int_equal(pj_progress_start(&progress, 1, "saxpy sm_90", 1200, &out, NULL), 0);
    assert_written(&out, "\r[....................] 0/4 compile: saxpy sm_90\x1b[K");
    assert_int_equal(pj_progress_start(&progress, 2, "physics sm_90", 1400, &out, NULL), 0);
    assert_written(&out, "\r[....................] 0/4 compile: saxpy sm_90, physics sm_90\x1b[K");
    /* A quarter took 2 s, so three quarters will take 6. */
    pj_progress_finish(&progress, 1, NULL, 1, "compiled", false, 3000, &out);
    assert_written(&out, "\r[#####...............] 1/4 compile, 6.0 s left: physics sm_90\x1b[K");
    pj_progress_finish(&progress, 2, NULL, 1, "crashed", true, 5000, &out);
    assert_written(&out, ERASE "[2/4] physics sm_90: crashed\n"
                               "\r[##########..........] 2/4 compile, 1 failed, 4.0 s left\x1b[K");
    pj_progress_end(&progress, &out);
    assert_written(&out, ERASE);
}

static void time_left_follows_weights(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "compile", 2, 1000, 0, &out);
    pj_buffer_reset(&out);
    pj_progress_finish(&progress, 1, "big", 900, "compiled", false, 9000, &out);
    assert_written(&out, "\r[##########..........] 1/2 compile, 1.0 s left\x1b[K");
    pj_progress_finish(&progress, 2, "small", 100, "compiled", false, 10000, &out);
    assert_written(&out, "\r[####################] 2/2 compile\x1b[K");
    pj_progress_end(&progress, &out);
}

static void no_guess_in_the_first_second(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "prove", 2, 0, 0, &out);
    pj_buffer_reset(&out);
    pj_progress_finish(&progress, 1, "a", 0, "proven", false, 999, &out);
    assert_written(&out, "\r[##########..........] 1/2 prove\x1b[K");
    pj_progress_end(&progress, &out);
}

static void redraws_are_rare(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "prove", 1000, 0, 0, &out);
    size_t drawn = 1;
    pj_buffer_reset(&out);
    for (size_t i = 0; i < 1000; i++) {
        double now = (double)i;
        pj_progress_finish(&progress, i, "a", 0, "proven", false, now, &out);
        pj_progress_tick(&progress, now, &out);
        drawn += out.size > 0;
        pj_buffer_reset(&out);
    }
    assert_int_equal(drawn, 10); /* 1 s, one in 100 ms */
    assert_true(progress.dirty);
    pj_progress_tick(&progress, 1000, &out);
    assert_written(&out, "\r[####################] 1000/1000 prove\x1b[K");
    pj_progress_end(&progress, &out);
}

static void a_job_that_runs_on_is_told_every_30_s(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, false, 0);
    pj_progress_begin(&progress, "compile", 2, 0, 0, &out);
    assert_int_equal(pj_progress_start(&progress, 1, "long sm_90", 500, &out, NULL), 0);
    pj_progress_tick(&progress, 30499, &out);
    assert_written(&out, "");
    pj_progress_tick(&progress, 30500, &out);
    assert_written(&out, "long sm_90: compile runs on, 30.0 s so far\n");
    pj_progress_tick(&progress, 60499, &out);
    assert_written(&out, "");
    pj_progress_tick(&progress, 90500, &out);
    assert_written(&out, "long sm_90: compile runs on, 1 min 30 s so far\n");
    pj_progress_requeue(&progress, 1);
    pj_progress_tick(&progress, 500000, &out);
    assert_written(&out, "");
    pj_progress_end(&progress, &out);
}

static void lines_go_above_the_bar(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "compile", 1, 0, 0, &out);
    assert_int_equal(pj_progress_start(&progress, 1, "long", 0, &out, NULL), 0);
    pj_buffer_reset(&out);
    pj_progress_say(&progress, "waiting for \x1b[m", &out);
    assert_written(&out, ERASE "waiting for \\x1b[m\n");
    pj_progress_tick(&progress, 200, &out);
    assert_written(&out, "\r[....................] 0/1 compile: long\x1b[K");
    pj_progress_tick(&progress, 1199, &out);
    assert_written(&out, "");
    pj_progress_tick(&progress, 1200, &out);
    assert_written(&out, "\r[....................] 0/1 compile: long\x1b[K");
    pj_progress_tick(&progress, 30000, &out);
    assert_written(&out, ERASE "long: compile runs on, 30.0 s so far\n"
                               "\r[....................] 0/1 compile: long\x1b[K");
    pj_progress_end(&progress, &out);
}

static void the_line_never_wraps(void **state)
{
    (void)state;
    static const struct {
        unsigned width;
        const char *line;
    } cases[] = {
        {60,
         "\r[....................] 0/9 compile: \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 sm_90, bbbbbbbbbbb\x1b[K"},
        {50, "\r[....................] 0/9 compile: \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 sm_90, b\x1b[K"},
        {40, "\r0/9 compile: \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 sm_90, bbbbbbbbbbbbbb\x1b[K"},
        {15, "\r0/9 compile: \xc3\xa9\x1b[K"},
        {1, "\r\x1b[K"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
        struct pj_progress progress;
        pj_progress_init(&progress, true, cases[i].width);
        pj_progress_begin(&progress, "compile", 9, 0, 0, &out);
        assert_int_equal(
            pj_progress_start(&progress, 1, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 sm_90", 0, &out, NULL), 0);
        assert_int_equal(pj_progress_start(&progress, 2, "bbbbbbbbbbbbbbbbbbbbbbbb", 0, &out, NULL), 0);
        pj_buffer_reset(&out);
        pj_progress_tick(&progress, 100, &out);
        assert_written(&out, cases[i].line);
        pj_progress_end(&progress, &out);
    }
}

static void a_phase_can_follow_another(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
    struct pj_progress progress;
    pj_progress_init(&progress, true, 100);
    pj_progress_begin(&progress, "compile", 1, 0, 0, &out);
    assert_int_equal(pj_progress_start(&progress, 1, "a", 0, &out, NULL), 0);
    pj_progress_finish(&progress, 1, NULL, 0, "crashed", true, 0, &out);
    assert_int_equal(pj_progress_start(&progress, 2, "b", 0, &out, NULL), 0);
    pj_buffer_reset(&out);
    pj_progress_begin(&progress, "prove", 5, 0, 5000, &out);
    assert_written(&out, "\r[....................] 0/5 prove\x1b[K");
    pj_progress_end(&progress, &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_gets_a_line_per_finished_job),
        cmocka_unit_test(an_equal_failure_of_a_module_is_named),
        cmocka_unit_test(a_terminal_gets_one_line),
        cmocka_unit_test(time_left_follows_weights),
        cmocka_unit_test(no_guess_in_the_first_second),
        cmocka_unit_test(redraws_are_rare),
        cmocka_unit_test(a_job_that_runs_on_is_told_every_30_s),
        cmocka_unit_test(lines_go_above_the_bar),
        cmocka_unit_test(the_line_never_wraps),
        cmocka_unit_test(a_phase_can_follow_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
