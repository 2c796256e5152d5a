/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler's answer means for a unit of `build`. */
#include "unit.h"

#include "image/usage.h"
#include "session/build/private.h"

struct result {
    struct pj_build build;
    struct pj_build_unit unit;
    struct pj_build_work work;
    struct pj_making making;
};

static void make(struct result *result)
{
    memset(result, 0, sizeof *result);
    result->work.unit = &result->unit;
}

static void release(struct result *result)
{
    pj_making_free(&result->making);
    pj_arena_free(&result->build.arena);
}
#define CLEANUP_RESULT __attribute__((cleanup(release)))

static const char figures[] = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                              "ptxas info    : Used 4 registers\n";

static void test_usage(void **state)
{
    (void)state;
    CLEANUP_RESULT struct result result;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    make(&result);
    struct pj_buffer *log = pj_making_result(&result.making, PJ_OUTPUT_LOG);
    pj_buffer_puts(log, figures);
    expect_success(pj_build_take_usage(&result.build, &result.work, &result.making, &err), &err);
    assert_int_equal(result.unit.kernel_count, 1);
    assert_int_equal(result.unit.kernels[0].registers, 4);
    assert_int_equal(result.unit.warning_count, 0);
    /* The linker says more than anybody reads: what the compiler said of it before does not count any more.
     */
    size_t size = (size_t)PJ_USAGE_BYTES_MAX + 1 - log->size;
    PJ_CLEANUP_FREE char *more = malloc(size);
    assert_non_null(more);
    memset(more, '\n', size);
    pj_buffer_append(log, more, size);
    assert_false(log->failed);
    expect_success(pj_build_take_usage(&result.build, &result.work, &result.making, &err), &err);
    assert_int_equal(result.unit.kernel_count, 0);
    assert_int_equal(result.unit.warning_count, 1);
    assert_string_equal(
        result.unit.warnings[0],
        "warning : what its kernels take is not known: a compiler's text of 67108865 bytes is "
        "too long: prejit reads at most 67108864");
}

static void test_failures(void **state)
{
    static const struct {
        enum pj_making_end end;
        enum pj_build_verdict verdict;
        const char *code;
    } cases[] = {
        {PJ_MAKING_IMPOSSIBLE, PJ_BUILD_REJECTED, "not-handed-over"},
        {PJ_MAKING_CHANGED, PJ_BUILD_REJECTED, "image-changed"},
        {PJ_MAKING_CRASHED, PJ_BUILD_CRASHED, "crashed"},
        {PJ_MAKING_TIMED_OUT, PJ_BUILD_TIMED_OUT, "timed-out"},
        {PJ_MAKING_OUT_OF_MEMORY, PJ_BUILD_OUT_OF_MEMORY, "out-of-memory"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RESULT struct result result;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        make(&result);
        result.making.end = cases[i].end;
        result.making.reason = "why";
        expect_success(pj_build_take_failure(&result.build, &result.work, &result.making, "NVRTC", &err),
                       &err);
        assert_int_equal(result.unit.verdict, cases[i].verdict);
        assert_string_equal(result.unit.reason_code, cases[i].code);
        assert_string_equal(result.unit.reason, "why");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
