/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts: names, exit statuses and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "verify/verdict.h"

/* Pinned: reports and scripts depend on every word and status of this table. */
static const struct {
    enum pj_verdict verdict;
    const char *name;
    enum pj_exit status;
} pinned[] = {
    {PJ_VERDICT_PROVEN, "proven", PJ_EXIT_OK},
    {PJ_VERDICT_STORED, "stored", PJ_EXIT_OK},
    {PJ_VERDICT_SKIPPED, "skipped", PJ_EXIT_OK},
    {PJ_VERDICT_REJECTED, "rejected", PJ_EXIT_FAILED},
    {PJ_VERDICT_INCOMPATIBLE, "incompatible", PJ_EXIT_FAILED},
    {PJ_VERDICT_CRASHED, "crashed", PJ_EXIT_FAILED},
    {PJ_VERDICT_TIMED_OUT, "timed-out", PJ_EXIT_FAILED},
    {PJ_VERDICT_OUT_OF_MEMORY, "out-of-memory", PJ_EXIT_FAILED},
    {PJ_VERDICT_MISSED, "missed", PJ_EXIT_COLD},
    {PJ_VERDICT_LOST, "lost", PJ_EXIT_COLD},
    {PJ_VERDICT_EVICTED, "evicted", PJ_EXIT_COLD},
    {PJ_VERDICT_TOO_LARGE, "too-large", PJ_EXIT_ENVIRONMENT},
    {PJ_VERDICT_INCONCLUSIVE, "inconclusive", PJ_EXIT_COLD},
};

static void names_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(PJ_COUNT(pinned), PJ_VERDICT_COUNT - 1);
    for (size_t i = 0; i < PJ_COUNT(pinned); i++) {
        assert_string_equal(pj_verdict_name(pinned[i].verdict), pinned[i].name);
    }
    assert_string_equal(pj_verdict_name(PJ_VERDICT_NONE), "");
    assert_string_equal(pj_verdict_name(PJ_VERDICT_COUNT), "");
}

static void exit_statuses_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(PJ_EXIT_OK, 0);
    assert_int_equal(PJ_EXIT_FAILED, 1);
    assert_int_equal(PJ_EXIT_USAGE, 2);
    assert_int_equal(PJ_EXIT_ENVIRONMENT, 3);
    assert_int_equal(PJ_EXIT_COLD, 4);
    assert_int_equal(PJ_EXIT_RETRY, 75);
}

static void each_verdict_has_its_exit_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(pinned); i++) {
        assert_int_equal(pj_verdict_exit(pinned[i].verdict, false, false, true), pinned[i].status);
        assert_int_equal(pj_verdict_exit(pinned[i].verdict, true, true, false), PJ_EXIT_OK);
    }
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_NONE, false, false, true), PJ_EXIT_OK);
}

static void only_an_inconclusive_verdict_passes(void **state)
{
    (void)state;
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_INCONCLUSIVE, true, false, true), PJ_EXIT_RETRY);
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_MISSED, true, false, true), PJ_EXIT_COLD);
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_PROVEN, true, false, true), PJ_EXIT_OK);
}

static void a_missed_threshold_is_cold_and_hides_nothing_worse(void **state)
{
    (void)state;
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_PROVEN, false, true, true), PJ_EXIT_COLD);
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_CRASHED, false, true, true), PJ_EXIT_FAILED);
    assert_int_equal(pj_verdict_exit(PJ_VERDICT_INCONCLUSIVE, true, true, true), PJ_EXIT_RETRY);
}

static void statuses_combine_in_the_documented_order(void **state)
{
    (void)state;
    static const enum pj_exit order[] = {PJ_EXIT_USAGE, PJ_EXIT_ENVIRONMENT, PJ_EXIT_FAILED,
                                         PJ_EXIT_RETRY, PJ_EXIT_COLD,        PJ_EXIT_OK};
    for (size_t i = 0; i < PJ_COUNT(order); i++) {
        for (size_t k = i; k < PJ_COUNT(order); k++) {
            assert_int_equal(pj_exit_combine(order[i], order[k]), order[i]);
            assert_int_equal(pj_exit_combine(order[k], order[i]), order[i]);
        }
    }
    assert_int_equal(pj_exit_combine(PJ_EXIT_USAGE, (enum pj_exit)143), 143);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_pinned),
        cmocka_unit_test(exit_statuses_are_pinned),
        cmocka_unit_test(each_verdict_has_its_exit_status),
        cmocka_unit_test(only_an_inconclusive_verdict_passes),
        cmocka_unit_test(a_missed_threshold_is_cold_and_hides_nothing_worse),
        cmocka_unit_test(statuses_combine_in_the_documented_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
