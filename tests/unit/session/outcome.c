/* SPDX-License-Identifier: Apache-2.0 */
/* The steps in the life of a job's outcome: from the plan, by its entry, to the verdict and the thresholds.
 */
#include "runs.h"

#include "session/run/outcome.h"

static void test_from_plan(void **state)
{
    static const struct {
        enum pj_job_fate fate;
        enum pj_stage stage;
        enum pj_verdict verdict;
        bool open;
    } cases[] = {
        {PJ_JOB_OPEN, PJ_STAGE_WAITING, PJ_VERDICT_NONE, true},
        {PJ_JOB_REJECTED, PJ_STAGE_FAILED, PJ_VERDICT_REJECTED, false},
        {PJ_JOB_INCOMPATIBLE, PJ_STAGE_FAILED, PJ_VERDICT_INCOMPATIBLE, false},
        {PJ_JOB_SKIPPED, PJ_STAGE_FAILED, PJ_VERDICT_SKIPPED, false},
        {PJ_JOB_CRASHED, PJ_STAGE_FAILED, PJ_VERDICT_CRASHED, false},
        {PJ_JOB_TIMED_OUT, PJ_STAGE_FAILED, PJ_VERDICT_TIMED_OUT, false},
        {PJ_JOB_OUT_OF_MEMORY, PJ_STAGE_FAILED, PJ_VERDICT_OUT_OF_MEMORY, false},
        {PJ_JOB_NOT_TRIED, PJ_STAGE_FAILED, PJ_VERDICT_INCONCLUSIVE, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_outcome outcome;
        const struct pj_job job = {.fate = cases[i].fate, .reason_code = "code", .reason = "why"};
        memset(&outcome, 0x77, sizeof outcome);
        pj_outcome_from_plan(&outcome, &job);
        assert_int_equal(outcome.stage, cases[i].stage);
        assert_int_equal(outcome.verdict, cases[i].verdict);
        assert_int_equal(pj_outcome_is_open(&outcome), cases[i].open);
        assert_string_equal(outcome.reason_code, "code"); /* a warning stays with an open job */
        assert_string_equal(outcome.reason, "why");
        assert_int_equal(outcome.passing, cases[i].fate == PJ_JOB_NOT_TRIED);
        assert_int_equal(outcome.entry_count, 0);
        assert_int_equal(outcome.evidence.hits, 0);
    }
}

static void test_forget(void **state)
{
    (void)state;
    struct pj_outcome outcome = {.stage = PJ_STAGE_PRESENT, .verdict = PJ_VERDICT_MISSED, .reason = "x"};
    outcome.evidence = (struct pj_evidence){
        .misses = 3, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_YES, .entry_listed_before = true};
    outcome.warm.count = 2;
    assert_false(pj_outcome_is_open(&outcome));
    pj_outcome_forget_evidence(&outcome);
    assert_true(pj_outcome_is_open(&outcome));
    assert_int_equal(outcome.evidence.misses, 0);
    assert_int_equal(outcome.evidence.canary, PJ_WITNESS_UNKNOWN);
    /* What the file said is no proof process's word. */
    assert_int_equal(outcome.evidence.entry_present, PJ_WITNESS_YES);
    assert_true(outcome.evidence.entry_listed_before);
    assert_int_equal(outcome.warm.count, 0);
    assert_null(outcome.reason);
}

static void judge(struct run *run, struct pj_outcome *outcome)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    run->session.outcomes = outcome;
    expect_success(pj_outcome_judge(&run->session, 0, &err), &err);
}

/* Three hits and all that must go with them. */
static struct pj_outcome proven(double warm_ms)
{
    struct pj_outcome outcome = {.stage = PJ_STAGE_PRESENT, .has_cold_ms = true, .cold_ms = 100};
    outcome.evidence = (struct pj_evidence){
        .hits = 3, .walls = 3, .canary = PJ_WITNESS_YES, .entry_present = PJ_WITNESS_YES};
    outcome.warm = (struct pj_samples){.ms = {warm_ms}, .count = 1};
    return outcome;
}

static void test_thresholds(void **state)
{
    static const struct {
        double max_warm_ms, min_speedup, warm_ms; /* thresholds: 0 = none */
        const char *reason;
    } cases[] = {
        {0, 0, 1000, NULL},
        {50, 0, 50, NULL},
        {50, 0, 50.2, "a warm load took 50.2 ms, the manifest allows 50 ms"},
        {0, 3, 33, NULL},
        {0, 3, 40, "a warm load was 2.5 times as fast as the compile, the manifest asks for 3"},
        {10, 90, 20,
         "a warm load took 20 ms, the manifest allows 10 ms; it was 5 times as fast as the compile, the "
         "manifest asks for 90"},
        /* Small, large and close numbers are what they are. */
        {0.001, 0, 0.0125, "a warm load took 0.0125 ms, the manifest allows 0.001 ms"},
        {50, 0, 50.04, "a warm load took 50.04 ms, the manifest allows 50 ms"},
        {0, 1e6, 0.02, "a warm load was 5000 times as fast as the compile, the manifest asks for 1000000"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        run_make(&run);
        struct pj_manifest *manifest = run.session.manifest;
        manifest->has_max_warm_ms = cases[i].max_warm_ms > 0;
        manifest->max_warm_ms = cases[i].max_warm_ms;
        manifest->has_min_speedup = cases[i].min_speedup > 0;
        manifest->min_speedup = cases[i].min_speedup;
        struct pj_outcome outcome = proven(cases[i].warm_ms);
        judge(&run, &outcome);
        assert_int_equal(outcome.verdict, PJ_VERDICT_PROVEN); /* times never decide the verdict */
        assert_int_equal(outcome.slow, cases[i].reason != NULL);
        assert_string_equal(outcome.reason ? outcome.reason : "", cases[i].reason ? cases[i].reason : "");
        assert_string_equal(outcome.reason_code ? outcome.reason_code : "",
                            cases[i].reason ? "slower-than-asked" : "");
        assert_int_equal(outcome.witnesses.faster, cases[i].warm_ms < 100 ? PJ_WITNESS_YES : PJ_WITNESS_NO);
    }
}

/* A speed-up cannot be missed where the compile was never timed. */
static void test_no_cold_time(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    run.session.manifest->has_min_speedup = true;
    run.session.manifest->min_speedup = 1000;
    struct pj_outcome outcome = proven(50);
    outcome.has_cold_ms = false;
    judge(&run, &outcome);
    assert_false(outcome.slow);
    assert_int_equal(outcome.witnesses.faster, PJ_WITNESS_UNKNOWN);
}

static void test_reasons(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    struct pj_outcome outcome = proven(1);
    outcome.evidence.misses = 1;
    outcome.evidence.entry_present = PJ_WITNESS_NO;
    outcome.evidence.entry_listed_before = true;
    judge(&run, &outcome);
    assert_int_equal(outcome.verdict, PJ_VERDICT_EVICTED);
    assert_string_equal(outcome.reason_code, "evicted");
    assert_string_equal(outcome.reason, "entry deleted");
    /* The driver's own words stay where they are about the same thing, and only there. */
    for (int same = 0; same < 2; same++) {
        outcome = proven(1);
        outcome.evidence.poisoned = 1;
        outcome.reason_code = same ? "entry-unusable" : "gpu-memory";
        outcome.reason = "CUDA_ERROR_INVALID_IMAGE";
        judge(&run, &outcome);
        assert_int_equal(outcome.verdict, PJ_VERDICT_MISSED);
        assert_string_equal(outcome.reason_code, "entry-unusable");
        assert_string_equal(outcome.reason, same ? "CUDA_ERROR_INVALID_IMAGE"
                                                 : "the entry is there and the driver cannot load it");
    }
}

static void test_entry(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_CLOSE int cache = -1;
    struct pj_outcome outcome = {.stage = PJ_STAGE_PRESENT};
    enum pj_entry_state found = PJ_ENTRY_SOUND;
    run.session.outcomes = &outcome;
    assert_int_equal(pj_directory_open(AT_FDCWD, run.session.location.path, true, &cache, NULL), 0);
    expect_success(pj_outcome_check_entry(&run.session, 0, cache, &found, NULL, &err), &err);
    assert_int_equal(found, PJ_ENTRY_ABSENT); /* no name is known */
    assert_int_equal(outcome.evidence.entry_present, PJ_WITNESS_UNKNOWN);
    uint64_t hashes[] = {ENTRY_HASH, ENTRY_HASH, ENTRY_HASH + 1};
    expect_success(pj_outcome_set_entries(&run.session, &outcome, hashes, 2, &err), &err);
    expect_success(pj_outcome_check_entry(&run.session, 0, -1, &found, NULL, &err), &err);
    assert_int_equal(found, PJ_ENTRY_ABSENT);
    run_touch(&run, "cache/" ENTRY_PATH);
    expect_success(pj_outcome_check_entry(&run.session, 0, cache, &found, NULL, &err), &err);
    assert_int_equal(found, PJ_ENTRY_SOUND);
    assert_int_equal(outcome.evidence.entry_present, PJ_WITNESS_YES);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(outcome.entries[i].file_bytes, 4714);
        assert_int_equal(outcome.entries[i].mtime_seconds, 1500000000);
    }
    /* One of several that is not there is enough; the sizes of the others are known. */
    expect_success(pj_outcome_set_entries(&run.session, &outcome, hashes + 1, 2, &err), &err);
    assert_int_equal(outcome.entries[0].file_bytes, 0);
    expect_success(pj_outcome_check_entry(&run.session, 0, cache, &found, NULL, &err), &err);
    assert_int_equal(found, PJ_ENTRY_ABSENT);
    assert_int_equal(outcome.evidence.entry_present, PJ_WITNESS_NO);
    assert_int_equal(outcome.entries[0].file_bytes, 4714);
    assert_int_equal(outcome.entries[1].file_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_plan), cmocka_unit_test(test_forget), cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_reasons),   cmocka_unit_test(test_entry),  cmocka_unit_test(test_no_cold_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
