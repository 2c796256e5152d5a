/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of messages, plans and starts fails once: "out of memory", and nothing leaks. */
#include "plans.h"

#include "descriptors.h"
#include "job/child.h"
#include "job/pool.h"
#include "job/wire_codec.h"
#include "messages.h"

#include "failing_memory.h"

static void test_encode(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        const struct pj_wire_message message = message_make(i);
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
            failing_memory_start(n);
            int r = pj_wire_encode(&message, &bytes, NULL);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        }
    }
}

/* A message as large as they come, so that its texts need more than one block. */
static void test_decode(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        static char log[60000];
        memset(log, 'l', sizeof log - 1);
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_wire_message message = message_make(i);
        if (message.type == PJ_WIRE_LOADED)
            message.loaded.log = log;
        assert_int_equal(pj_wire_encode(&message, &bytes, NULL), 0);
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            PJ_CLEANUP_ARENA struct pj_arena arena = {0};
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            struct pj_wire_message got;
            failing_memory_start(n);
            int r = pj_wire_decode(bytes.data, bytes.size, &arena, &got, &err);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
            if (failed)
                assert_string_equal(pj_error_message(err), "out of memory");
        }
    }
}

static void test_environment(void **state)
{
    (void)state;
    char *const caller[] = {(char *)(uintptr_t) "PATH=/bin", (char *)(uintptr_t) "LD_LIBRARY_PATH=/a", NULL};
    const struct pj_child_environment wanted = {.cache_path = "/c", .library_path = "/d/libcuda.so"};
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        failing_memory_start(n);
        char **environment = pj_child_environment(&arena, caller, &wanted);
        failed = failing_memory_stop();
        assert_int_equal(environment == NULL, failed);
    }
}

static void test_plan(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a.ptx", PTX("sm_80"));
    folder_write(&folder, "b.ptx", PTX("sm_90a"));
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        CLEANUP_PLAN struct plan_case plan_case = {
            .text = "version: 1\ntargets: [native, sm_80..sm_100, 80]\nmodules:\n- {name: a, ptx: a.ptx}\n"
                    "- {name: b, ptx: b.ptx, kernels: [none]}\n- {name: c, ptx: a.ptx}\n"
                    "- {name: d, ptx: gone.ptx, required: false, options: {max_registers: 8}}\n"
                    "- {name: e, ptx: b.ptx, sha256: "
                    "0000000000000000000000000000000000000000000000000000000000000000}\n",
            .directory = folder.path,
            .devices = {80, 90}};
        failing_memory_start(n);
        int r = plan_case_read(&plan_case, &err);
        if (r == 0)
            r = plan_case_expand(&plan_case, &err);
        if (r == 0)
            r = pj_plan_name(plan_case.plan, "Apr 29 202617:12:06", &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures > 50);
}

/* Sources, their PTX, and links of everything. */
static int plan_compiled(struct plan_case *plan_case, struct pj_error **err)
{
    static const uint16_t devices[] = {80, 90};
    static const struct pj_plan_machine machine = {.devices = devices, .device_count = 2};
    int r = plan_case_read(plan_case, err);
    if (r == 0)
        r = plan_case_expand(plan_case, err);
    for (size_t i = 0; r == 0 && i < plan_case->plan->job_count; i++) {
        const struct pj_job *job = &plan_case->plan->jobs[i];
        if (pj_job_needs_preparing(job))
            r = pj_plan_prepared(plan_case->plan, i, &machine, PTX("sm_90"), strlen(PTX("sm_90")), job->files,
                                 job->file_count, err);
    }
    if (r == 0)
        r = pj_plan_settle(plan_case->plan, err);
    return r == 0 ? pj_plan_name(plan_case->plan, "Apr 29 202617:12:06", err) : r;
}

static void test_plan_compiled(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a.ptx", PTX("sm_80"));
    folder_write(&folder, "a.cu", "__global__ void k() {}\n");
    folder_write(&folder, "text", "hello\n");
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        CLEANUP_PLAN struct plan_case plan_case = {
            .text = "version: 1\ntargets: [native, 90a, sm_80..sm_100]\nmodules:\n"
                    "- {name: a, source: a.cu, headers: {h: text}, nvrtc: [-DX], name_expressions: [k]}\n"
                    "- {name: b, source: a.cu, kernels: [none]}\n- {name: c, source: a.ptx}\n"
                    "- {name: d, source: a.cu, nvrtc: [-arch=sm_90]}\n- {name: e, link: [a.ptx]}\n"
                    "- {name: f, link: [text, a.ptx], options: {max_registers: 8}}\n"
                    "- {name: g, link: [a.ptx], linker: nvjitlink}\n",
            .directory = folder.path,
            .devices = {80, 90},
            .unsettled = true};
        failing_memory_start(n);
        int r = plan_compiled(&plan_case, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures > 50);
}

/* A worker that cannot be started for want of memory leaves neither process nor descriptor. */
static void test_pool(void **state)
{
    (void)state;
    size_t descriptors = count_descriptors();
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const struct pj_pool_options options = {.worker_program = "/bin/true",
                                                .root = {"/nonexistent"},
                                                .driver_path = "/d/libcuda.so",
                                                .interrupt_fd = -1,
                                                .start_timeout_ms = 10000};
        const struct pj_worker_spec spec = {.cache_path = "/c", .watch_path = "/w"};
        const struct pj_wire_message order = {.type = PJ_WIRE_LOAD, .load = {.job = 1}};
        struct pj_pool *pool = NULL;
        struct pj_worker *worker = NULL;
        struct pj_event event;
        failing_memory_start(n);
        int r = pj_pool_new(&options, &pool, &err);
        if (r == 0)
            r = pj_pool_start(pool, &spec, &worker, &err);
        if (r == 0)
            r = pj_pool_give(pool, worker, &order, NULL, 10000, &err);
        if (r == 0)
            r = pj_pool_wait(pool, (double)UINT32_MAX * 1000, &event, &err);
        failed = failing_memory_stop();
        pj_pool_free(pool);
        if (r != 0)
            assert_int_equal(r, PJ_ERROR_NO_MEMORY);
        else
            assert_int_equal(event.kind, PJ_EVENT_DIED);
        expect_no_children();
        assert_int_equal(count_descriptors(), descriptors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode),        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_environment),   cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_compiled), cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
