/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison with the driver's code comes to, and how it is said. */
#include "runs.h"

#include "session/against.h"

static void test_every_outcome_is_said(void **state)
{
    static const struct {
        struct pj_code_difference difference;
        enum pj_against against;
        const char *text;
    } cases[] = {
        {{.equality = PJ_CODE_SAME}, PJ_AGAINST_SAME, ""},
        {{.equality = PJ_CODE_BYTES, .section = ".text.k", .offset = 48, .a_bytes = 64, .b_bytes = 64},
         PJ_AGAINST_OTHER,
         "section .text.k of its entry " ENTRY_PATH " differs from byte 48 on"},
        {{.equality = PJ_CODE_SIZE, .section = ".text.k", .a_bytes = 64, .b_bytes = 128},
         PJ_AGAINST_OTHER,
         "section .text.k of its entry " ENTRY_PATH " has 64 bytes, the driver's 128"},
        {{.equality = PJ_CODE_ONLY_IN_A, .section = ".text.k"},
         PJ_AGAINST_OTHER,
         "section .text.k of its entry " ENTRY_PATH " is not in the driver's code"},
        {{.equality = PJ_CODE_ONLY_IN_B, .section = ".text.k"},
         PJ_AGAINST_OTHER,
         "section .text.k of the driver's code is not in its entry " ENTRY_PATH},
        {{.equality = PJ_CODE_UNREADABLE_A},
         PJ_AGAINST_NOT_COMPARED,
         "its entry " ENTRY_PATH " cannot be read as a cubin"},
        {{.equality = PJ_CODE_UNREADABLE_B},
         PJ_AGAINST_NOT_COMPARED,
         "what the driver stored cannot be read as a cubin"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        pj_against_describe(&cases[i].difference, ENTRY_PATH, &text);
        assert_string_equal(pj_buffer_text(&text), cases[i].text);
        assert_int_equal(pj_against_read(cases[i].difference.equality), cases[i].against);
    }
}

/* Without a proven job no driver is started, and no folder made. */
static void test_nothing_proven(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_job job = {.name = "k"};
    struct pj_plan plan = {.jobs = &job, .job_count = 1};
    struct pj_outcome outcome = {.stage = PJ_STAGE_FAILED, .verdict = PJ_VERDICT_MISSED};
    const struct pj_options options = {.against_driver = true};
    struct pj_session session = {.options = &options, .plan = &plan, .outcomes = &outcome};
    expect_success(pj_against_driver(&session, &err), &err);
    assert_int_equal(outcome.against_driver, PJ_AGAINST_NONE);
    assert_null(outcome.against_detail);
    pj_arena_free(&session.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_outcome_is_said),
        cmocka_unit_test(test_nothing_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
