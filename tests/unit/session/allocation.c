/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once while a session without a driver is looked at: "out of memory", no leak, and
 * never a wrong "nothing to do". */
#include "runs.h"

#include "session/engine/probe.h"
#include "session/frame/request.h"
#include "session/receipt/file.h"
#include "session/receipt/identity.h"
#include "session/receipt/reuse.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

#include "failing_memory.h"

typedef int attempt(struct run *run, struct pj_error **err);

static int try_identity(struct run *run, struct pj_error **err)
{
    int r = pj_identity_now(&run->session, err);
    if (r < 0)
        return r;
    pj_identity_compare(&run->session);
    const struct pj_session *session = &run->session;
    assert_true(session->same_driver && session->same_gpus && session->same_request);
    /* For people alone, so it may be "not known". */
    return session->now.host.kernel_driver ? 0 : pj_error_no_memory(err);
}

static int try_nothing_to_do(struct run *run, struct pj_error **err)
{
    bool nothing_to_do = false;
    pj_identity_compare(&run->session);
    int r = pj_reuse_everything(&run->session, &nothing_to_do, err);
    if (r == 0)
        assert_true(nothing_to_do);
    return r;
}

static int try_plan_and_carry(struct run *run, struct pj_error **err)
{
    struct pj_session *session = &run->session;
    pj_identity_compare(session);
    int r = pj_machine_from_receipt(session, err);
    if (r == 0)
        r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    if (r == 0)
        r = pj_request_expand(session, err);
    if (r == 0)
        r = pj_reuse_jobs(session, err);
    if (r == 0)
        assert_int_equal(session->outcomes[0].stage, PJ_STAGE_CARRIED);
    return r;
}

static int try_receipt(struct run *run, struct pj_error **err)
{
    struct pj_receipt *receipt = NULL;
    int r = pj_receipt_load(run->session.location.path, run->session.selection_text, &receipt, err);
    assert_int_equal(receipt != NULL, r == 0);
    pj_receipt_free(receipt);
    return r;
}

static int try_worker(struct run *run, struct pj_error **err)
{
    struct pj_wire_device device = {"a", "b", 9, 0};
    struct pj_wire_file file = {.path = "/lib/libcuda.so.580.1"};
    const struct pj_wire_started started = {
        .device_count = 1, .devices = &device, .file_count = 1, .files = &file};
    return pj_machine_from_worker(&run->session, &started, err);
}

static int try_probe(struct run *run, struct pj_error **err)
{
    struct pj_probe probe;
    (void)run;
    int r = pj_probe_make(true, &probe, err);
    if (r == 0)
        pj_probe_close(&probe);
    return r;
}

static int try_learn(struct run *run, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    int r = pj_file_read(AT_FDCWD, run->image_path, 1 << 20, &image, err);
    const struct pj_probe probe = {.fd = -1, .text = image.data, .size = image.size};
    if (r == 0)
        r = pj_probe_learn(&run->session, &probe, run->session.location.path, ENTRY_PATH, 90, err);
    if (r == 0)
        assert_int_equal(run->session.format, PJ_FORMAT_KNOWN);
    return r;
}

static int try_entry(struct run *run, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int cache = open(run->session.location.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const uint64_t hash = ENTRY_HASH;
    struct pj_outcome outcome = {.stage = PJ_STAGE_WAITING};
    enum pj_entry_state found = PJ_ENTRY_ABSENT;
    run->session.outcomes = &outcome;
    int r = pj_outcome_set_entries(&run->session, &outcome, &hash, 1, err);
    if (r == 0)
        r = pj_outcome_check_entry(&run->session, 0, cache, &found, NULL, err);
    assert_int_equal(found, r == 0 ? PJ_ENTRY_SOUND : PJ_ENTRY_ABSENT);
    return r;
}

static int try_order(struct run *run, struct pj_error **err)
{
    PJ_CLEANUP_ORDER struct pj_job_order order = {.parts = NULL};
    struct pj_plan_image image = {.path = run->image_path, .size_bytes = 822};
    const struct pj_plan_image *images[] = {&image, &image};
    const struct pj_job job = {.id = "a", .link = true, .images = images, .image_count = 2};
    int r = pj_job_order_make(&job, 0, PJ_LOAD_COMPILE, 0, &order, err);
    assert_int_equal(order.descriptors.count, r == 0 ? 2 : 0);
    return r;
}

static int try_links(struct run *run, struct pj_error **err)
{
    struct pj_session *session = &run->session;
    struct pj_job job = {.id = "a@sm_90", .link = true, .content = run->job.content};
    struct pj_plan plan = {.jobs = &job, .job_count = 1};
    struct pj_outcome outcome = {.stage = PJ_STAGE_WAITING};
    pj_identity_compare(session);
    session->plan = &plan;
    session->outcomes = &outcome;
    int r = pj_reuse_links(session, err);
    session->plan = NULL;
    assert_int_equal(outcome.entry_count, r == 0);
    return r;
}

static void sweep(const char *name, attempt *what)
{
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        run_make(&run);
        assert_int_equal(pj_receipt_write(&run.receipt, &text, NULL), 0);
        folder_write_bytes(&run.folder, "cache/.prejit/receipt.json", text.data, text.size);
        run_touch(&run, "axpb.ptx"); /* so that times differ and contents are read */
        run_touch(&run, "cache/" ENTRY_PATH);
        failing_memory_start(n);
        int r = what(&run, &err);
        failed = failing_memory_stop();
        if (r != (failed ? PJ_ERROR_NO_MEMORY : 0))
            fail_msg("%s, allocation %zu: %d", name, n, r);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures > 0);
}

static void test_everything_fails_cleanly(void **state)
{
    (void)state;
    sweep("identity", try_identity);
    sweep("nothing to do", try_nothing_to_do);
    sweep("plan and carry", try_plan_and_carry);
    sweep("receipt", try_receipt);
    sweep("worker", try_worker);
    sweep("probe", try_probe);
    sweep("learn", try_learn);
    sweep("entry", try_entry);
    sweep("order", try_order);
    sweep("links", try_links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_everything_fails_cleanly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
