/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: each time the answer is "out of memory", and nothing leaks. */
#include "support.h"

#include "../support/failing_memory.h"

static void sweep_parse(const char *text, int without_failure)
{
    size_t failures = 0;
    bool failed = true;
    for (size_t n = 1; failed; n++, failures++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_profile profile;
        failing_memory_start(n);
        int r = pj_profile_parse(text, strlen(text), "f", &arena, &profile, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : without_failure);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures > 10);
}

static void parsing_fails_cleanly(void **state)
{
    (void)state;
    sweep_parse(WHOLE, 0);
    sweep_parse("version: 2\n", PJ_ERROR_MANIFEST);
    sweep_parse("# nothing\n", PJ_ERROR_MANIFEST);
    sweep_parse("- a\n", PJ_ERROR_MANIFEST);
    sweep_parse("a: [\n", PJ_ERROR_MANIFEST);
    sweep_parse(
        "version: 1\ndriver: {version: x, cuda: 13, stamp: é, stampp: 1, frobnicate: 1}\ncache_format: 0\n"
        "ptx_isa: 8.9\narchitectures: [sm_90a, sm_91, sm_90, sm_90, []]\nproven: [plain, plain, plan, []]\n"
        "not_proven: []\ncompilers: [{tool: ptxs}, {tool: ptxas, version: 1.0, cases: 1, same_code_cases: "
        "2},\n"
        "{tool: ptxas, version: 1.0, cases: 1, same_code_cases: 2}]\nmade: {on: 1, with: \"\\t\"}\n",
        PJ_ERROR_MANIFEST);
}

static void writing_fails_cleanly(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile = parse(WHOLE, &arena);
    size_t failures = 0;
    for (int wrong = 0; wrong < 2; wrong++) {
        bool failed = true;
        profile.cache_format = wrong ? 0 : 65;
        for (size_t n = 1; failed; n++, failures++) {
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            failing_memory_start(n);
            int r = pj_profile_write(&profile, &text, &err);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : wrong ? PJ_ERROR_INTERNAL : 0);
            assert_int_equal(text.size > 0, r == 0);
        }
    }
    assert_true(failures > 20);
}

static void loading_fails_cleanly(void **state)
{
    (void)state;
    static const struct {
        const char *given;
        int without_failure;
    } cases[] = {
        {TEST_PROFILES "/580.159.04.yaml", 0},
        {"none.yaml", PJ_ERROR_MANIFEST},
        {"1.2.3", PJ_ERROR_USAGE},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            PJ_CLEANUP_ARENA struct pj_arena arena = {0};
            struct pj_profile profile;
            failing_memory_start(n);
            int r = pj_profile_load(cases[i].given, &arena, &profile, &err);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : cases[i].without_failure);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_fails_cleanly),
        cmocka_unit_test(writing_fails_cleanly),
        cmocka_unit_test(loading_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
