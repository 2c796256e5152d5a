/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU that no target is for: exit status, last line and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "models.h"
#include "report/render.h"

static void assert_answer(const struct pj_report *report, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_int_equal(pj_render_answer(report, false, &buffer, NULL), 0);
    assert_string_equal(pj_buffer_text(&buffer), expected);
}

static struct pj_report *unserved(void **state)
{
    struct pj_report *report = model_make(*state, "unserved");
    assert_non_null(report);
    return report;
}

static void the_manifests_targets_are_in_fault(void **state)
{
    struct pj_report *report = unserved(state);
    assert_int_equal(report->exit_code, PJ_EXIT_COLD);
    assert_answer(report,
                  "exit 4: 2 modules have no target for the GPU here, sm_120, and will be compiled there "
                  "at first use: a, b; write native among the targets in m.yaml");
    report->manifest = "-";
    report->unserved[0].module_count = 1;
    assert_answer(report,
                  "exit 4: 1 module has no target for the GPU here, sm_120, and will be compiled there at "
                  "first use: a; write native among the targets in the manifest");
    report->unserved[0].module_count = 2;
}

static void it_stands_behind_the_jobs_in_trouble(void **state)
{
    struct pj_report *report = unserved(state);
    report->jobs[1].verdict = PJ_VERDICT_REJECTED;
    report->jobs[1].reason = "no";
    report->exit_code = pj_report_exit(report);
    assert_int_equal(report->exit_code, PJ_EXIT_FAILED);
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_int_equal(pj_render_answer(report, false, &buffer, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&buffer),
                           "(rejected: no); 2 modules have no target for the GPU here, sm_120, and will be "
                           "compiled there at first use: a, b; write native"));
}

static void targets_that_were_typed_speak_of_other_machines(void **state)
{
    struct pj_report *report = unserved(state);
    report->targets_given = true;
    report->exit_code = pj_report_exit(report);
    assert_int_equal(report->exit_code, PJ_EXIT_OK);
    assert_answer(report,
                  "2 jobs: 2 proven (2 reused) in 2.9 s; not for the GPU here, sm_120, which -t does not "
                  "name; 20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void modules_that_are_not_required_change_no_status(void **state)
{
    struct pj_report *report = unserved(state);
    report->unserved++;
    report->unserved_count = 1;
    report->exit_code = pj_report_exit(report);
    assert_int_equal(report->exit_code, PJ_EXIT_OK);
    assert_answer(report, "2 jobs: 2 proven (2 reused) in 2.9 s; 20 MB of 1.0 GiB in /var/cache/app/nv");
}

static void json_names_the_gpus(void **state)
{
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    assert_int_equal(pj_render_json(unserved(state), &json, NULL), 0);
    assert_non_null(
        strstr(pj_buffer_text(&json),
               "\"unserved\": [{\"target\": \"sm_120\", \"devices\": [{\"name\": \"NVIDIA X\", "
               "\"arch\": \"sm_120\", \"uuid\": \"GPU-0\"}, {\"name\": \"NVIDIA Y\", \"arch\": "
               "\"sm_120\", \"uuid\": \"GPU-1\"}], \"modules\": [\"a\", \"b\"], \"required\": true}, "
               "{\"target\": \"sm_90\", \"devices\": [{\"name\": \"NVIDIA Z\", \"arch\": \"sm_90\", "
               "\"uuid\": \"GPU-2\"}], \"modules\": [\"c\"], \"required\": false}],"));
}

static int set_up(void **state)
{
    static struct pj_arena arena;
    arena = (struct pj_arena){0};
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    pj_arena_free(*state);
    return 0;
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(the_manifests_targets_are_in_fault),
        WITH_ARENA(it_stands_behind_the_jobs_in_trouble),
        WITH_ARENA(targets_that_were_typed_speak_of_other_machines),
        WITH_ARENA(modules_that_are_not_required_change_no_status),
        WITH_ARENA(json_names_the_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
