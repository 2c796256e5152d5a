/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once on the way from a source to its order, its files and its kept PTX, and of
 * build's units: "out of memory", no leak, and no descriptor left. */
#include "runs.h"

#include "../job/descriptors.h"
#include "session/build/private.h"
#include "session/make/order.h"
#include "session/prepare/headers.h"
#include "session/prepare/prepare.h"
#include "session/prepare/private.h"
#include "session/run/outcome.h"

#include "failing_memory.h"

#define PTX_TEXT ".version 9.0\n"

typedef int attempt(struct run *run, struct pj_error **err);

/* The first job's source; needs a plan. */
static int make_source(struct run *run, struct pj_source *ret_source, struct pj_error **err)
{
    struct pj_session *session = &run->session;
    int r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    if (r == 0)
        *ret_source = (struct pj_source){.module = &session->manifest->modules[0],
                                         .images = session->plan->module_images[0],
                                         .arch = {.number = 90}};
    return r;
}

static int try_order(struct run *run, struct pj_error **err)
{
    PJ_CLEANUP_MAKER_ORDER struct pj_maker_order order = {.parts = NULL};
    struct pj_maker_results results = {.count = 0};
    PJ_CLEANUP_BUFFER struct pj_buffer request = {0};
    const struct pj_compiler nvrtc = {.version = 13000};
    struct pj_source source;
    struct pj_making making;
    int r = make_source(run, &source, err);
    if (r == 0)
        r = pj_source_request(&source, "/d", &request, err);
    if (r == 0)
        r = pj_source_order(&source, &nvrtc, "/inc", PJ_OUTPUT_PTX | PJ_OUTPUT_LOG, true, &run->session.arena,
                            &making, err);
    if (r == 0)
        r = pj_maker_order_make(&making, 1, &order, &results, err);
    if (r == 0)
        assert_int_equal(order.descriptors.count, 2 + 2);
    pj_maker_results_close(&results);
    return r;
}

static int try_headers(struct run *run, struct pj_error **err)
{
    struct pj_source source;
    struct pj_plan_file *files = NULL;
    const char *doubt = NULL;
    size_t count = 0;
    int r = make_source(run, &source, err);
    if (r == 0)
        r = pj_headers_files(&source, "k.h\n other.h\nk.h\ngone.h\naxpb.ptx\n", run->folder.path, NULL,
                             &run->session.arena, &files, &count, &doubt, err);
    assert_int_equal(count, r == 0 ? 4 : 0); /* the source, its header in memory, two on disk */
    return r;
}

static int try_difference(struct run *run, struct pj_error **err)
{
    return pj_prepare_first_difference("a\nb", "a\nc", &run->session.arena) ? 0 : pj_error_no_memory(err);
}

static int try_search(struct run *run, struct pj_error **err)
{
    return pj_prepare_search(&run->session, err);
}

static int try_kept(struct run *run, struct pj_error **err)
{
    struct pj_session *session = &run->session;
    struct pj_receipt_input input = run->input;
    struct pj_prepared found, prepared = {.request = "r",
                                          .compiler_search = "s",
                                          .compiler_files = &run->driver,
                                          .compiler_file_count = 1,
                                          .inputs = &input,
                                          .input_count = 1,
                                          .ptx_bytes = strlen(PTX_TEXT)};
    const char *ptx = NULL;
    session->nvrtc.search = "s";
    pj_sha256_of(PTX_TEXT, strlen(PTX_TEXT), &prepared.ptx_sha256);
    int r = pj_prepared_save(session, &prepared, PTX_TEXT, err);
    if (r == 0)
        r = pj_prepared_load(session, &session->nvrtc, "r", &found, &ptx, err);
    assert_int_equal(ptx != NULL, r == 0);
    return r;
}

static int try_build_plan(struct run *run, struct pj_error **err)
{
    struct pj_build build = {.manifest = run->session.manifest};
    int r = pj_plan_read(build.manifest, &build.selection, &build.plan, err);
    if (r == 0)
        r = pj_build_plan(&build, err);
    if (r == 0)
        assert_int_equal(build.count, 2 + 1 + 1);
    free(build.works);
    pj_plan_free(build.plan);
    pj_arena_free(&build.arena);
    return r;
}

static void prepare_run(struct run *run)
{
    struct pj_session *session = &run->session;
    const struct pj_store_options options = {.path = session->location.path,
                                             .limit_bytes = session->location.limit_bytes,
                                             .check_payload = pj_check_payload};
    struct pj_store_preparation done;
    folder_write(&run->folder, "k.cu", "int a;\n");
    folder_write(&run->folder, "k.h", "int b;\n");
    folder_write(&run->folder, "other.h", "int c;\n");
    folder_write(&run->folder, "m.yaml",
                 "version: 1\nmodules:\n- {name: a, source: k.cu, headers: {other.h: other.h}, nvrtc: [-DX], "
                 "targets: ['90', "
                 "sm_90a]}\n- {name: b, ptx: axpb.ptx, targets: ['75']}\n- {name: c, source: k.cu, nvrtc: "
                 "[-arch=sm_80], "
                 "targets: ['90']}\n");
    pj_manifest_free(session->manifest);
    session->manifest = NULL;
    assert_int_equal(pj_manifest_load(run->manifest_path, &session->manifest, NULL), 0);
    assert_int_equal(pj_store_open(&options, &session->store, NULL), 0);
    assert_int_equal(pj_store_prepare(session->store, &done, NULL), 0);
    run_touch(run, "axpb.ptx"); /* so that its contents are read */
}

static void sweep(const char *name, attempt *what)
{
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        run_make(&run);
        prepare_run(&run);
        size_t descriptors = count_descriptors();
        failing_memory_start(n);
        int r = what(&run, &err);
        failed = failing_memory_stop();
        if (r != (failed ? PJ_ERROR_NO_MEMORY : 0))
            fail_msg("%s, allocation %zu: %d", name, n, r);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
        assert_int_equal(count_descriptors(), descriptors);
        pj_store_close(run.session.store, false);
    }
    assert_true(failures > 0);
}

static void test_everything_fails_cleanly(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("CUDA_HOME"), 0);
    assert_int_equal(unsetenv("CUDA_PATH"), 0);
    sweep("order", try_order);
    sweep("headers", try_headers);
    sweep("difference", try_difference);
    sweep("search", try_search);
    sweep("kept", try_kept);
    sweep("build plan", try_build_plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_everything_fails_cleanly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
