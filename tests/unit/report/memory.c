/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of every renderer fails once: each says so, and nothing leaks or crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "build_models.h"
#include "models.h"
#include "report/prepared.h"
#include "report/progress.h"
#include "report/receipt.h"
#include "report/render.h"

#include "../support/failing_memory.h"

enum { ATTEMPTS_MAX = 20000 };

typedef int render_function(const void *model, struct pj_buffer *buffer, struct pj_error **err);

/* Renders with the first, second, … allocation failing, until it has enough; then the output must be whole.
 */
static void sweep_model(render_function *render, const void *model, const char *name)
{
    PJ_CLEANUP_BUFFER struct pj_buffer whole = {0};
    assert_non_null(model);
    assert_int_equal(render(model, &whole, NULL), 0);
    for (size_t n = 1; n < ATTEMPTS_MAX; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        failing_memory_start(n);
        int result = render(model, &buffer, &error);
        bool enough = !failing_memory_stop();
        if (enough) {
            assert_int_equal(result, 0);
            assert_string_equal(pj_buffer_text(&buffer), pj_buffer_text(&whole));
            assert_true(n > 1);
            return;
        }
        assert_int_equal(result, PJ_ERROR_NO_MEMORY);
        assert_string_equal(pj_error_message(error), "out of memory");
    }
    fail_msg("%s still allocates after %d allocations", name, ATTEMPTS_MAX);
}

static void sweep(render_function *render, const char *name)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    sweep_model(render, model_make(&arena, name), name);
}

static void sweep_build(render_function *render, const char *name)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    sweep_model(render, build_model_make(&arena, name), name);
}

static int render_table(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_render_table(model, true, buffer, err);
}

static int render_json(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_render_json(model, buffer, err);
}

static int render_answer(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_render_answer(model, false, buffer, err);
}

static int render_refusal(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    const struct pj_report *report = model;
    return pj_render_json_refusal(report->command, NULL, 3, buffer, err);
}

static int render_build_table(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_build_render_table(model, false, buffer, err);
}

static int render_build_in_full(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_build_render_table(model, true, buffer, err);
}

static int render_build_json(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_build_render_json(model, buffer, err);
}

static int render_build_answer(const void *model, struct pj_buffer *buffer, struct pj_error **err)
{
    return pj_build_render_answer(model, false, buffer, err);
}

static void the_table_survives(void **state)
{
    (void)state;
    sweep(render_table, "warm");
    sweep(render_table, "trouble");
    sweep(render_table, "hostile");
}

static void json_survives(void **state)
{
    (void)state;
    sweep(render_json, "warm");
    sweep(render_json, "hostile");
    sweep(render_json, "unserved");
    sweep(render_refusal, "warm");
}

static void the_answer_survives(void **state)
{
    (void)state;
    sweep(render_answer, "warm");
    sweep(render_answer, "trouble");
    sweep(render_answer, "hostile");
    sweep(render_answer, "unserved");
}

static void what_build_shows_survives(void **state)
{
    (void)state;
    static const char *const names[] = {"built", "trouble", "hostile"};
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        sweep_build(render_build_table, names[i]);
        sweep_build(render_build_in_full, names[i]);
        sweep_build(render_build_json, names[i]);
        sweep_build(render_build_answer, names[i]);
    }
}

static struct pj_receipt_job jobs[20];
static struct pj_receipt_input input = {.file = {.path = "a.ptx"}};
static uint32_t position;
static struct pj_receipt_entry entry = {1, 2, 3, 4, 5};
static struct pj_receipt_file file = {"/usr/lib/libcuda.so.1\xff", 1, 2, 3, 4};
static struct pj_report_device device = {"NVIDIA H200", "sm_90", "GPU-0"};

static void make_receipt(struct pj_receipt *ret_receipt)
{
    for (size_t i = 0; i < PJ_COUNT(jobs); i++)
        jobs[i] = (struct pj_receipt_job){.row = {.id = "a", .module = "a", .target = "sm_90", .log = "x\n"},
                                          .inputs = &position,
                                          .input_count = 1,
                                          .entries = &entry,
                                          .entry_count = 1};
    *ret_receipt = (struct pj_receipt){.driver_files = &file,
                                       .driver_file_count = 1,
                                       .host = {.devices = &device, .device_count = 1},
                                       .inputs = &input,
                                       .input_count = 1,
                                       .jobs = jobs,
                                       .job_count = PJ_COUNT(jobs)};
}

static void writing_a_receipt_survives(void **state)
{
    (void)state;
    struct pj_receipt receipt;
    make_receipt(&receipt);
    for (size_t n = 1; n < ATTEMPTS_MAX; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        failing_memory_start(n);
        int result = pj_receipt_write(&receipt, &text, NULL);
        bool enough = !failing_memory_stop();
        assert_int_equal(result, enough ? 0 : PJ_ERROR_NO_MEMORY);
        if (enough)
            return;
    }
    fail_msg("still allocates after %d allocations", ATTEMPTS_MAX);
}

static void reading_a_receipt_survives(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_receipt receipt;
    make_receipt(&receipt);
    assert_int_equal(pj_receipt_write(&receipt, &text, NULL), 0);
    for (size_t n = 1; n < ATTEMPTS_MAX; n++) {
        struct pj_receipt *found = NULL;
        failing_memory_start(n);
        int result = pj_receipt_read(text.data, text.size, &found, NULL);
        bool enough = !failing_memory_stop();
        assert_int_equal(result, enough ? 0 : PJ_ERROR_NO_MEMORY);
        assert_int_equal(found != NULL, enough);
        pj_receipt_free(found);
        if (enough)
            return;
    }
    fail_msg("still allocates after %d allocations", ATTEMPTS_MAX);
}

static void a_record_of_ptx_survives(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer whole = {0};
    const struct pj_prepared prepared = {.request = "r\n",
                                         .compiler_search = "s",
                                         .compiler_files = &file,
                                         .compiler_file_count = 1,
                                         .inputs = &input,
                                         .input_count = 1,
                                         .log = "x\n"};
    bool enough = false;
    assert_int_equal(pj_prepared_write(&prepared, &whole, NULL), 0);
    for (size_t n = 1; !enough; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_prepared found;
        failing_memory_start(n);
        int result = pj_prepared_write(&prepared, &text, NULL);
        if (result == 0)
            result = pj_prepared_read(whole.data, whole.size, &arena, &found, NULL);
        enough = !failing_memory_stop();
        assert_int_equal(result, enough ? 0 : PJ_ERROR_NO_MEMORY);
    }
}

static void progress_survives(void **state)
{
    (void)state;
    for (size_t n = 1; n < ATTEMPTS_MAX; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
        struct pj_progress progress;
        failing_memory_start(n);
        pj_progress_init(&progress, true, 80);
        pj_progress_begin(&progress, "compile", 10, 0, 0, &out);
        int result = 0;
        for (size_t i = 0; i < 10 && result == 0; i++)
            result = pj_progress_start(&progress, i, "a", 0, &out, NULL);
        pj_progress_tick(&progress, 30000, &out);
        pj_progress_finish(&progress, 0, NULL, 0, "crashed", true, 40000, &out);
        pj_progress_end(&progress, &out);
        bool enough = !failing_memory_stop();
        assert_int_equal(result != 0 || out.failed, !enough);
        if (enough)
            return;
    }
    fail_msg("still allocates after %d allocations", ATTEMPTS_MAX);
}

/* What cannot be remembered is told in full again. */
static void an_equal_failure_survives(void **state)
{
    static const char reason[] = "rejected: a reason that takes some room";
    (void)state;
    for (size_t n = 1; n < ATTEMPTS_MAX; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer out = {0};
        struct pj_progress progress;
        failing_memory_start(n);
        pj_progress_init(&progress, false, 0);
        pj_progress_begin(&progress, "compile", 2, 0, 0, &out);
        pj_progress_finish(&progress, 0, "a sm_80", 0, reason, true, 0, &out);
        pj_progress_finish(&progress, 1, "a sm_90", 0, reason, true, 0, &out);
        pj_progress_end(&progress, &out);
        bool enough = !failing_memory_stop();
        const char *second = out.failed ? "" : strstr(pj_buffer_text(&out), "[2/2] a sm_90: ");
        assert_non_null(second);
        if (!enough)
            continue;
        assert_string_equal(second, "[2/2] a sm_90: the same as a sm_80\n");
        return;
    }
    fail_msg("still allocates after %d allocations", ATTEMPTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_survives),         cmocka_unit_test(json_survives),
        cmocka_unit_test(the_answer_survives),        cmocka_unit_test(what_build_shows_survives),
        cmocka_unit_test(writing_a_receipt_survives), cmocka_unit_test(reading_a_receipt_survives),
        cmocka_unit_test(a_record_of_ptx_survives),   cmocka_unit_test(progress_survives),
        cmocka_unit_test(an_equal_failure_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
