/* SPDX-License-Identifier: Apache-2.0 */
/* Entry names that a plan predicts, against those that driver 580.159.04 gave the same files. */
#include "plans.h"

#define STAMP "Apr 29 202617:12:06"

static void test_golden(void **state)
{
    static const struct {
        const char *id;
        uint64_t hash;
    } golden[] = {
        {"plain@sm_90", 0xca920786966c763d},
        {"plain@sm_80", 0x0f936157d6e3da30},
        {"plain@sm_100", 0x52c24fd8231b4c35},
        {"crlf@sm_90", 0xb6dacea9b89b8ed3},
        {"nonl@sm_90", 0xf05566ffb89dd9c5},
        {"sm90a@sm_90", 0x856a6990ab206bc5},
        {"opt_debug[optimization_level=0, generate_debug_info=true]@sm_90", 0x3b5fee838ec8f74d},
        {"opt_gmax[max_registers=32, generate_debug_info=true]@sm_90", 0x5bba7cb55ac9a925},
        {"opt_split[split_compile=2]@sm_90", 0x5ae71dff23f168b6},
        {"opt_bounds[min_cta_per_sm=2, max_threads_per_block=128]@sm_90", 0x22c262e32aa6aba4},
        {"opt_all[optimization_level=2, max_registers=40, generate_line_info=true, cache_mode=ca, "
         "position_independent_code=true, override_directive_values=true]@sm_90",
         0xa1b779f33f8f12eb},
    };
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = "version: 1\nmodules:\n"
                "- {name: plain, ptx: axpb.ptx, targets: [native, 80, 100]}\n"
                "- {name: crlf, ptx: axpb_crlf.ptx}\n"
                "- {name: nonl, ptx: axpb_nonl.ptx}\n"
                "- {name: sm90a, ptx: axpb_90a.ptx}\n"
                "- {name: opt_debug, ptx: axpb.ptx, "
                "options: {generate_debug_info: true, optimization_level: 0}}\n"
                "- {name: opt_gmax, ptx: axpb.ptx, options: {generate_debug_info: true, max_registers: 32}}\n"
                "- {name: opt_split, ptx: axpb.ptx, options: {split_compile: 2}}\n"
                "- {name: opt_bounds, ptx: axpb.ptx, "
                "options: {min_cta_per_sm: 2, max_threads_per_block: 128}}\n"
                "- {name: opt_all, ptx: axpb.ptx, options: {override_directive_values: true, "
                "position_independent_code: true, cache_mode: ca, generate_line_info: true, "
                "optimization_level: 2, max_registers: 40}}\n",
        .directory = GOLDEN_INPUTS,
        .devices = {90},
        .cuda_version = 13000};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    plan_case_make(&plan_case);
    assert_false(plan_case.plan->jobs[0].has_names);
    expect_success(pj_plan_name(plan_case.plan, STAMP, &err), &err);
    assert_int_equal(plan_case.plan->job_count, PJ_COUNT(golden));
    for (size_t i = 0; i < PJ_COUNT(golden); i++) {
        assert_string_equal(plan_case.plan->jobs[i].id, golden[i].id);
        assert_true(plan_case.plan->jobs[i].has_names);
        if (plan_case.plan->jobs[i].entries[0] != golden[i].hash)
            fail_msg("%s: %016llx", golden[i].id, (unsigned long long)plan_case.plan->jobs[i].entries[0]);
    }
}

/* Another build of the driver gives other names. */
static void test_stamp_counts(void **state)
{
    (void)state;
    CLEANUP_PLAN struct plan_case plan_case = {.text = "version: 1\nmodules: [{name: a, ptx: axpb.ptx}]\n",
                                               .directory = GOLDEN_INPUTS,
                                               .devices = {90}};
    plan_case_make(&plan_case);
    assert_int_equal(pj_plan_name(plan_case.plan, "Jan 01 202500:00:00", NULL), 0);
    assert_true(plan_case.plan->jobs[0].has_names);
    assert_true(plan_case.plan->jobs[0].entries[0] != UINT64_C(0xca920786966c763d));
}

/* No name without a target, for what is not compiled, and for an image that is not the one that was read. */
static void test_no_name(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a.ptx", PTX("sm_80"));
    folder_write(&folder, "b.ptx", PTX("sm_50"));
    folder_write(&folder, "c.ptx", PTX("sm_52"));
    folder_write(&folder, "d.ptx", PTX("sm_60"));
    CLEANUP_PLAN struct plan_case plan_case = {
        .text = "version: 1\ntargets: [native, 75]\nmodules:\n- {name: a, ptx: a.ptx}\n"
                "- {name: b, ptx: b.ptx}\n- {name: c, ptx: c.ptx}\n- {name: d, ptx: d.ptx}\n",
        .directory = folder.path};
    plan_case_make(&plan_case);
    plan_expect(&plan_case, "a@native | a | unresolved | open\n"
                            "a@sm_75 | a | foreign | incompatible | newer-than-gpu\n"
                            "b@native | b | unresolved | open\n"
                            "b@sm_75 | b | foreign | open\n"
                            "c@native | c | unresolved | open\n"
                            "c@sm_75 | c | foreign | open\n"
                            "d@native | d | unresolved | open\n"
                            "d@sm_75 | d | foreign | open\n");
    folder_write(&folder, "c.ptx", PTX("sm_61"));
    PJ_CLEANUP_FREE char *gone = pj_path_join(folder.path, "d.ptx");
    assert_int_equal(unlink(gone), 0);
    assert_int_equal(pj_plan_name(plan_case.plan, STAMP, NULL), 0);
    for (size_t i = 0; i < plan_case.plan->job_count; i++)
        assert_int_equal(plan_case.plan->jobs[i].has_names, i == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_stamp_counts),
        cmocka_unit_test(test_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
