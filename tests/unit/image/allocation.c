/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the readers of link inputs fails once: "out of memory", and nothing leaks. */
#include "data.h"

#include "image/contents.h"
#include "image/usage.h"

#include "failing_memory.h"

static size_t sweep_contents(const char *file, int without_failure)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read(file, &bytes);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_contents contents = {.count = 7};
        failing_memory_start(n);
        int r = pj_contents_read(bytes.data, bytes.size, &arena, &contents, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : without_failure);
        assert_int_equal(contents.count == 7, r < 0);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    return failures;
}

static void test_contents(void **state)
{
    (void)state;
    static const char *const files[] = {"link/letters.fatbin", "link/host_and_rdc.a",
                                        "link/dlto.o",         "../cache/inputs/axpb.ptx",
                                        "link/sm_90.ltoir",    "ptxas_sm_90a.cubin"};
    for (size_t i = 0; i < PJ_COUNT(files); i++)
        assert_true(sweep_contents(files[i], 0) >= 2);
    assert_true(sweep_contents("link/k.cu", PJ_ERROR_FORMAT) >= 1);
}

static void test_usage(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    data_read("usage/nvrtc_sm_80.txt", &text);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_usage usage = {.count = 7};
        failing_memory_start(n);
        int r = pj_usage_read(text.data, text.size, &arena, &usage, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_int_equal(usage.count, failed ? 7 : 5);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
