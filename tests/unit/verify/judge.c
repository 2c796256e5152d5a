/* SPDX-License-Identifier: Apache-2.0 */
/* From evidence to verdicts: every combination, each reason, each answer of the driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "verify/judge.h"

static void answers_of_the_driver_are_read(void **state)
{
    (void)state;
    static const struct {
        int result;
        enum pj_load_answer native, foreign;
    } cases[] = {
        {0, PJ_LOAD_HIT, PJ_LOAD_ODD},         /* CUDA_SUCCESS */
        {2, PJ_LOAD_MEMORY, PJ_LOAD_MEMORY},   /* CUDA_ERROR_OUT_OF_MEMORY */
        {200, PJ_LOAD_POISON, PJ_LOAD_POISON}, /* CUDA_ERROR_INVALID_IMAGE */
        {209, PJ_LOAD_POISON, PJ_LOAD_POISON}, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
        {223, PJ_LOAD_MISS, PJ_LOAD_MISS},     /* CUDA_ERROR_JIT_COMPILATION_DISABLED */
        {300, PJ_LOAD_POISON, PJ_LOAD_HIT},    /* CUDA_ERROR_INVALID_SOURCE */
        {500, PJ_LOAD_POISON, PJ_LOAD_ODD},    /* CUDA_ERROR_NOT_FOUND */
        {999, PJ_LOAD_ODD, PJ_LOAD_ODD},       /* CUDA_ERROR_UNKNOWN */
        {-1, PJ_LOAD_ODD, PJ_LOAD_ODD},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        assert_int_equal(pj_load_read(cases[i].result, false), cases[i].native);
        assert_int_equal(pj_load_read(cases[i].result, true), cases[i].foreign);
    }
}

static void each_reason_has_its_evidence(void **state)
{
    (void)state;
    static const struct {
        struct pj_evidence evidence;
        enum pj_verdict verdict;
        const char *reason_code; /* "" = none */
        bool passing;
    } cases[] = {
        {{.hits = 3, .walls = 3, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_YES},
         PJ_VERDICT_PROVEN,
         "",
         false},
        {{.hits = 1, .canary = PJ_WITNESS_YES}, PJ_VERDICT_PROVEN, "", false},
        {{.misses = 3, .hits = 1, .canary = PJ_WITNESS_NO}, PJ_VERDICT_INCONCLUSIVE, "control-failed", false},
        {{.hits = 1, .poisoned = 1, .canary = PJ_WITNESS_YES}, PJ_VERDICT_MISSED, "entry-unusable", false},
        {{.poisoned = 3, .canary = PJ_WITNESS_YES, .driver_made_it = true, .entry_present = PJ_WITNESS_YES},
         PJ_VERDICT_REJECTED,
         "cannot-be-loaded",
         false},
        {{.poisoned = 3, .canary = PJ_WITNESS_YES, .driver_made_it = true}, /* no file to look at */
         PJ_VERDICT_REJECTED,
         "cannot-be-loaded",
         false},
        {{.poisoned = 1, .canary = PJ_WITNESS_YES, .driver_made_it = true, .entry_present = PJ_WITNESS_NO},
         PJ_VERDICT_MISSED, /* somebody damaged it meanwhile */
         "entry-unusable",
         false},
        {{.misses = 1, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_NO, .entry_listed_before = true},
         PJ_VERDICT_EVICTED,
         "evicted",
         false},
        {{.misses = 1, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_NO},
         PJ_VERDICT_MISSED,
         "entry-absent",
         false},
        {{.misses = 1, .hits = 5, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_YES},
         PJ_VERDICT_MISSED,
         "not-found-by-driver",
         false},
        {{.hits = 2, .memory = 1, .canary = PJ_WITNESS_YES}, PJ_VERDICT_INCONCLUSIVE, "gpu-memory", true},
        {{.canary = PJ_WITNESS_YES, .passing_obstacle = true}, PJ_VERDICT_INCONCLUSIVE, "no-context", true},
        {{.canary = PJ_WITNESS_YES, .lasting_obstacle = true}, PJ_VERDICT_INCONCLUSIVE, "no-context", false},
        {{.hits = 1, .odd = 1, .canary = PJ_WITNESS_YES},
         PJ_VERDICT_INCONCLUSIVE,
         "unexpected-answer",
         false},
        {{.canary = PJ_WITNESS_YES}, PJ_VERDICT_INCONCLUSIVE, "not-tried", true},
        {{.hits = 1}, PJ_VERDICT_INCONCLUSIVE, "control-missing", false},
        {{.hits = 3, .walls = 3, .walls_not_zero = 1, .canary = PJ_WITNESS_YES},
         PJ_VERDICT_INCONCLUSIVE,
         "wall-time-not-zero",
         false},
        {{.hits = 1, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_NO},
         PJ_VERDICT_INCONCLUSIVE,
         "entry-unsound",
         false},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_judgement judgement;
        pj_judge(&cases[i].evidence, &judgement);
        assert_int_equal(judgement.verdict, cases[i].verdict);
        assert_string_equal(judgement.reason_code ? judgement.reason_code : "", cases[i].reason_code);
        assert_int_equal(judgement.passing, cases[i].passing);
    }
}

/* What proof takes, written from the verdict's side. */
static bool must_be_proven(const struct pj_evidence *e)
{
    return e->hits > 0 && e->canary == PJ_WITNESS_YES && e->entry_present != PJ_WITNESS_NO &&
           e->misses + e->poisoned + e->memory + e->odd + e->walls_not_zero == 0;
}

static void nothing_but_whole_evidence_is_proof(void **state)
{
    (void)state;
    size_t proven = 0;
    for (unsigned bits = 0; bits < 512; bits++) {
        for (unsigned i = 0; i < 9; i++) {
            const struct pj_evidence evidence = {
                .hits = bits & 1,
                .misses = bits >> 1 & 1,
                .poisoned = bits >> 2 & 1,
                .memory = bits >> 3 & 1,
                .odd = bits >> 4 & 1,
                .walls = 1,
                .walls_not_zero = bits >> 5 & 1,
                .entry_listed_before = bits >> 6 & 1,
                .passing_obstacle = bits >> 7 & 1,
                .lasting_obstacle = bits >> 8 & 1,
                .canary = (enum pj_witness)(i % 3),
                .entry_present = (enum pj_witness)(i / 3),
            };
            struct pj_judgement judgement;
            pj_judge(&evidence, &judgement);
            assert_int_equal(judgement.verdict == PJ_VERDICT_PROVEN, must_be_proven(&evidence));
            assert_int_equal(judgement.reason_code == NULL, judgement.verdict == PJ_VERDICT_PROVEN);
            assert_true(!judgement.passing || judgement.verdict == PJ_VERDICT_INCONCLUSIVE);
            proven += judgement.verdict == PJ_VERDICT_PROVEN;
        }
    }
    assert_int_equal(proven, 2 * 8); /* entry sound or not known, whatever the three other facts are */
}

static void witnesses_say_what_was_heard_and_no_more(void **state)
{
    (void)state;
    struct pj_judgement judgement;
    pj_judge(&(const struct pj_evidence){0}, &judgement);
    assert_int_equal(judgement.witnesses.jit_disabled, PJ_WITNESS_UNKNOWN);
    assert_int_equal(judgement.witnesses.canary, PJ_WITNESS_UNKNOWN);
    assert_int_equal(judgement.witnesses.wall_time_zero, PJ_WITNESS_UNKNOWN);
    assert_int_equal(judgement.witnesses.entry_present, PJ_WITNESS_UNKNOWN);
    assert_int_equal(judgement.witnesses.faster, PJ_WITNESS_UNKNOWN);
    pj_judge(&(const struct pj_evidence){.hits = 2, .walls = 2, .canary = PJ_WITNESS_YES}, &judgement);
    assert_int_equal(judgement.witnesses.jit_disabled, PJ_WITNESS_YES);
    assert_int_equal(judgement.witnesses.canary, PJ_WITNESS_YES);
    assert_int_equal(judgement.witnesses.wall_time_zero, PJ_WITNESS_YES);
    pj_judge(&(const struct pj_evidence){.hits = 2,
                                         .misses = 1,
                                         .walls = 2,
                                         .walls_not_zero = 1,
                                         .canary = PJ_WITNESS_NO,
                                         .entry_present = PJ_WITNESS_NO},
             &judgement);
    assert_int_equal(judgement.witnesses.jit_disabled, PJ_WITNESS_NO);
    assert_int_equal(judgement.witnesses.canary, PJ_WITNESS_NO);
    assert_int_equal(judgement.witnesses.wall_time_zero, PJ_WITNESS_NO);
    assert_int_equal(judgement.witnesses.entry_present, PJ_WITNESS_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_the_driver_are_read),
        cmocka_unit_test(each_reason_has_its_evidence),
        cmocka_unit_test(nothing_but_whole_evidence_is_proof),
        cmocka_unit_test(witnesses_say_what_was_heard_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
