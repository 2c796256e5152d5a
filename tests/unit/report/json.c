/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report to the byte, where the schema test only checks its shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "models.h"
#include "report/render.h"
#include "version.h"

#define HEAD                                                                                                 \
    "{\n  \"schema\": \"prejit-report/1\",\n  \"tool\": {\"name\": \"prejit\", \"version\": "                \
    "\"" PREJIT_VERSION "\"},\n"

static void render(const char *name, struct pj_buffer *ret_json)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_report *report = model_make(&arena, name);
    assert_non_null(report);
    assert_int_equal(pj_render_json(report, ret_json, NULL), 0);
}

static void a_bare_report_has_every_member(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    render("bare", &json);
    assert_string_equal(
        pj_buffer_text(&json),
        HEAD "  \"command\": null,\n"
             "  \"host\": {\"driver_version\": null, \"kernel_driver\": null, \"cuda_version\": null, "
             "\"stamp\": null, \"devices\": []},\n"
             "  \"toolkit\": {\"nvrtc\": null, \"nvjitlink\": null},\n"
             "  \"offline\": null,\n"
             "  \"cache\": {\"path\": null, \"limit_bytes\": null, \"bytes\": null, \"entries\": null},\n"
             "  \"summary\": {\"jobs\": 0, \"proven\": 0, \"stored\": 0, \"skipped\": 0, \"rejected\": 0, "
             "\"incompatible\": 0, \"crashed\": 0, \"timed_out\": 0, \"out_of_memory\": 0, \"missed\": 0, "
             "\"lost\": 0, \"evicted\": 0, \"too_large\": 0, \"inconclusive\": 0, \"undecided\": 0, "
             "\"failed\": 0, \"compiled\": 0, \"reused\": 0, \"repaired\": 0, \"left_out\": 0, "
             "\"nothing_to_do\": false, \"seconds\": 0.0},\n"
             "  \"saving\": null,\n"
             "  \"phases\": {\"prepare_ms\": null, \"compile_ms\": null, \"prove_ms\": null},\n"
             "  \"store\": null,\n"
             "  \"jobs\": [],\n"
             "  \"unserved\": [],\n"
             "  \"environment\": [],\n"
             "  \"notes\": [],\n"
             "  \"exit_reason\": null,\n"
             "  \"error\": null,\n"
             "  \"exit_code\": 0\n"
             "}\n");
}

static void a_refusal_has_its_code(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    PJ_CLEANUP_ERROR struct pj_error *refusal = NULL;
    (void)pj_error_set(&refusal, PJ_ERROR_ENVIRONMENT, "no driver:\n\"\xff\"");
    assert_int_equal(pj_render_json_refusal("warm", refusal, 3, &json, NULL), 0);
    assert_string_equal(pj_buffer_text(&json), HEAD "  \"command\": \"warm\",\n"
                                                    "  \"error\": {\"code\": \"environment\", \"message\": "
                                                    "\"no driver:\\n\\\"\\\\xff\\\"\"},\n"
                                                    "  \"exit_code\": 3\n"
                                                    "}\n");
}

static void a_short_run_took_some_time(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    assert_int_equal(pj_render_json(&(const struct pj_report){.seconds = 0.00041249}, &json, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&json), "\"seconds\": 0.000412}"));
}

static void a_measured_job_is_one_line(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    render("warm", &json);
    static const char job[] =
        "    {\"id\": \"m2[max_registers=64]@sm_80\", \"module\": \"m2\", \"modules\": [\"m2\"], \"target\": "
        "\"sm_80\", "
        "\"target_kind\": \"foreign\", \"options\": {\"max_registers\": 64, \"generate_line_info\": true, "
        "\"cache_mode\": \"ca\"}, \"required\": true, \"verdict\": \"proven\", \"planned\": null, "
        "\"reason_code\": null, \"reason\": null, \"origin\": \"repaired\", \"offline_compiler\": null, "
        "\"against_driver\": null, "
        "\"to_ptx_ms\": 63.0, \"compile_ms\": null, "
        "\"cold_ms\": {\"value\": 312.5, \"source\": \"receipt\"}, "
        "\"warm_ms\": {\"median\": 1.0, \"min\": 0.9, \"max\": 1.3, \"samples\": [1.0, 0.9, 1.3]}, "
        "\"witnesses\": {\"jit_disabled\": true, \"canary\": true, \"wall_time_zero\": true, "
        "\"entry_present\": true, \"faster\": true}, "
        "\"entries\": [{\"name\": \"c/a/920786966c763d\", \"bytes\": 290000}], "
        "\"peak_rss_bytes\": 56000000, \"log\": null}\n  ],\n";
    assert_non_null(strstr(pj_buffer_text(&json), job));
    assert_non_null(strstr(pj_buffer_text(&json),
                           "  \"environment\": [{\"name\": \"CUDA_CACHE_PATH\", \"value\": "
                           "\"/var/cache/app/nv\"}],\n"));
    assert_non_null(strstr(pj_buffer_text(&json), "\"cuda_version\": \"13.0\""));
    assert_non_null(strstr(pj_buffer_text(&json),
                           "  \"toolkit\": {\"nvrtc\": {\"path\": "
                           "\"/usr/local/cuda/lib64/libnvrtc.so.13.0.88\", \"version\": \"13.0\", "
                           "\"build\": \"13.0.88\"}, \"nvjitlink\": {\"path\": "
                           "\"/usr/local/cuda/lib64/libnvJitLink.so.13\", \"version\": \"13.0\", "
                           "\"build\": null}},\n"
                           "  \"offline\": null,\n"));
    assert_non_null(
        strstr(pj_buffer_text(&json),
               "  \"phases\": {\"prepare_ms\": 480.25, \"compile_ms\": 2100.5, \"prove_ms\": 700.0},\n"
               "  \"store\": {\"lock_holds\": 2, \"longest_hold_ms\": 1.25, "
               "\"longest_wait_ms\": 0.5, \"stale_evicted\": 2, \"evicted\": 0},\n"));
}

static void a_run_without_a_driver_names_profiles_and_compiler(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    render("offline", &json);
    assert_non_null(strstr(pj_buffer_text(&json),
                           "  \"offline\": {\"profiles\": [{\"driver_version\": \"580.159.04\", "
                           "\"stamp\": \"Apr 29 202617:12:06\"}, {\"driver_version\": \"581.1\", "
                           "\"stamp\": \"May  1 202609:00:00\"}], \"compiler\": \"ptxas 13.0.88\", "
                           "\"compiler_path\": \"/opt/bin/ptxas\"},\n"));
    assert_non_null(
        strstr(pj_buffer_text(&json), "\"origin\": \"compiled\", \"offline_compiler\": \"ptxas 13.0.88\", "));
    assert_non_null(strstr(pj_buffer_text(&json), "\"origin\": \"reused\", \"offline_compiler\": null, "));
}

/* No verdict, and yet something is known. */
static void a_plan_says_what_it_knows(void **state)
{
    static const struct {
        enum pj_verdict verdict;
        enum pj_witness present;
        const char *text;
    } rows[] = {
        {PJ_VERDICT_NONE, PJ_WITNESS_YES, "\"verdict\": null, \"planned\": \"present\", "},
        {PJ_VERDICT_NONE, PJ_WITNESS_NO, "\"verdict\": null, \"planned\": \"to-compile\", "},
        {PJ_VERDICT_NONE, PJ_WITNESS_UNKNOWN, "\"verdict\": null, \"planned\": \"unknown\", "},
        {PJ_VERDICT_SKIPPED, PJ_WITNESS_NO, "\"verdict\": \"skipped\", \"planned\": null, "},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer plan = {0}, warm = {0};
        struct pj_report_job job = {
            .id = "a@sm_90", .verdict = rows[i].verdict, .witnesses = {.entry_present = rows[i].present}};
        struct pj_report report = {.command = "plan", .jobs = &job, .job_count = 1};
        assert_int_equal(pj_render_json(&report, &plan, NULL), 0);
        assert_non_null(strstr(pj_buffer_text(&plan), rows[i].text));
        report.command = "warm";
        assert_int_equal(pj_render_json(&report, &warm, NULL), 0);
        assert_non_null(strstr(pj_buffer_text(&warm), "\"planned\": null, "));
    }
}

static void code_is_told_beside_the_drivers(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    render("against", &json);
    const char *text = pj_buffer_text(&json);
    assert_non_null(strstr(text, "\"against_driver\": {\"result\": \"other-code\", "
                                 "\"detail\": \"section .text.k differs\"}, "));
    assert_non_null(strstr(text, "\"against_driver\": {\"result\": \"same-code\", \"detail\": null}, "));
    assert_non_null(strstr(text, "\"against_driver\": {\"result\": \"not-compared\", "
                                 "\"detail\": \"the driver crashed\"}, "));
    assert_non_null(strstr(text, "\"against_driver\": null, "));
}

static void every_entry_is_listed(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    struct pj_report *report = model_proven(&arena, 1);
    assert_non_null(report);
    report->jobs[0].entry_count = 2;
    report->jobs[0].entries[1] = (struct pj_report_entry){.name = "0/1/23456789abcdef", .bytes = 7};
    assert_int_equal(pj_render_json(report, &json, NULL), 0);
    assert_non_null(strstr(pj_buffer_text(&json),
                           "\"entries\": [{\"name\": \"c/a/920786966c763d\", \"bytes\": 290000}, "
                           "{\"name\": \"0/1/23456789abcdef\", \"bytes\": null}], "));
}

static void output_is_appended_and_the_same_every_time(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer json = {0};
    render("trouble", &json);
    size_t once = json.size;
    render("trouble", &json);
    assert_int_equal(json.size, 2 * once);
    assert_memory_equal(json.data, json.data + once, once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_report_has_every_member),
        cmocka_unit_test(a_refusal_has_its_code),
        cmocka_unit_test(a_short_run_took_some_time),
        cmocka_unit_test(a_measured_job_is_one_line),
        cmocka_unit_test(a_run_without_a_driver_names_profiles_and_compiler),
        cmocka_unit_test(a_plan_says_what_it_knows),
        cmocka_unit_test(code_is_told_beside_the_drivers),
        cmocka_unit_test(every_entry_is_listed),
        cmocka_unit_test(output_is_appended_and_the_same_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
