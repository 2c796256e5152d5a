/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts: names, judgement over all witnesses, exit statuses and their order. */
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

static void names_are_pinned_and_found(void **state)
{
    (void)state;
    assert_int_equal(PJ_COUNT(pinned), PJ_VERDICT_COUNT - 1);
    for (size_t i = 0; i < PJ_COUNT(pinned); i++) {
        enum pj_verdict found = PJ_VERDICT_NONE;
        assert_string_equal(pj_verdict_name(pinned[i].verdict), pinned[i].name);
        assert_true(pj_verdict_find(pinned[i].name, &found));
        assert_int_equal(found, pinned[i].verdict);
    }
    assert_string_equal(pj_verdict_name(PJ_VERDICT_NONE), "");
    assert_string_equal(pj_verdict_name(PJ_VERDICT_COUNT), "");
}

static void unknown_names_are_not_found(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "Proven", "timed_out", "proven ", "prove"};
    for (size_t i = 0; i < PJ_COUNT(wrong); i++) {
        enum pj_verdict found = PJ_VERDICT_LOST;
        assert_false(pj_verdict_find(wrong[i], &found));
        assert_int_equal(found, PJ_VERDICT_LOST);
    }
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

static const char *const witness_words[] = {"?", "yes", "no"};

/* What the rules say, written the other way round than the code: from the verdict to what it needs. */
static bool must_be_proven(const struct pj_witnesses *w)
{
    return w->jit_disabled == PJ_WITNESS_YES && w->canary == PJ_WITNESS_YES &&
           w->entry_present != PJ_WITNESS_NO;
}

static bool must_be_missed(const struct pj_witnesses *w)
{
    return w->jit_disabled == PJ_WITNESS_NO && w->canary == PJ_WITNESS_YES;
}

static void every_combination_of_witnesses_is_judged(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * 3 * 3 * 3 * 3; i++) {
        struct pj_witnesses w = {
            .jit_disabled = (enum pj_witness)(i % 3),
            .canary = (enum pj_witness)(i / 3 % 3),
            .wall_time_zero = (enum pj_witness)(i / 9 % 3),
            .entry_present = (enum pj_witness)(i / 27 % 3),
            .faster = (enum pj_witness)(i / 81),
        };
        const char *code = "unset";
        enum pj_verdict verdict = pj_verdict_judge(&w, &code);
        enum pj_verdict expected = must_be_proven(&w)   ? PJ_VERDICT_PROVEN
                                   : must_be_missed(&w) ? PJ_VERDICT_MISSED
                                                        : PJ_VERDICT_INCONCLUSIVE;
        if (verdict != expected)
            fail_msg("jit_disabled %s, canary %s, entry %s: %s", witness_words[w.jit_disabled],
                     witness_words[w.canary], witness_words[w.entry_present], pj_verdict_name(verdict));
        assert_true((code == NULL) == (verdict == PJ_VERDICT_PROVEN));
    }
}

static void each_judgement_names_its_reason(void **state)
{
    (void)state;
    static const struct {
        struct pj_witnesses witnesses;
        const char *code;
    } cases[] = {
        {{.jit_disabled = PJ_WITNESS_YES, .canary = PJ_WITNESS_NO}, "control-failed"},
        {{.jit_disabled = PJ_WITNESS_YES}, "no-control"},
        {{.canary = PJ_WITNESS_YES}, "not-loaded"},
        {{.jit_disabled = PJ_WITNESS_NO, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_YES},
         "entry-not-read"},
        {{.jit_disabled = PJ_WITNESS_NO, .canary = PJ_WITNESS_YES}, "entry-missing"},
        {{.jit_disabled = PJ_WITNESS_YES, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_NO},
         "witnesses-disagree"},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        const char *code = NULL;
        (void)pj_verdict_judge(&cases[i].witnesses, &code);
        assert_non_null(code);
        assert_string_equal(code, cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_pinned_and_found),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(exit_statuses_are_pinned),
        cmocka_unit_test(each_verdict_has_its_exit_status),
        cmocka_unit_test(only_an_inconclusive_verdict_passes),
        cmocka_unit_test(a_missed_threshold_is_cold_and_hides_nothing_worse),
        cmocka_unit_test(statuses_combine_in_the_documented_order),
        cmocka_unit_test(every_combination_of_witnesses_is_judged),
        cmocka_unit_test(each_judgement_names_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
