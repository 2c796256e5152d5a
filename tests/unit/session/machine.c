/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as a worker's answer and as a receipt describe it. */
#include "unit.h"

#include "base/memory.h"
#include "session/run/machine.h"

static void make(struct pj_session *session)
{
    memset(session, 0, sizeof *session);
}

static void test_from_worker(void **state)
{
    (void)state;
    struct pj_session session;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_wire_device devices[] = {
        {"NVIDIA H200", "GPU-1", 9, 0},  {"NVIDIA A100", "GPU-2", 8, 0}, {"NVIDIA H100", "GPU-3", 9, 0},
        {"NVIDIA B200", "GPU-4", 10, 0}, {"NVIDIA A10", "GPU-5", 8, 6},
    };
    struct pj_wire_file files[] = {
        {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04", 1, 2, 3, 4},
        {"/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.580.159.04", 5, 6, 7, 8},
    };
    const struct pj_wire_started started = {.device_count = PJ_COUNT(devices),
                                            .devices = devices,
                                            .cuda_version = 13000,
                                            .file_count = PJ_COUNT(files),
                                            .files = files};
    make(&session);
    expect_success(pj_machine_from_worker(&session, &started, &err), &err);
    memset(devices, 0x11, sizeof devices); /* the message is gone by then: nothing may point into it */
    memset(files, 0x11, sizeof files);
    const struct pj_machine *machine = &session.machine;
    assert_true(machine->known);
    assert_int_equal(machine->cuda_version, 13000);
    assert_int_equal(machine->device_count, 5);
    assert_string_equal(machine->devices[3].name, "NVIDIA B200");
    assert_string_equal(machine->devices[3].arch, "sm_100");
    assert_string_equal(machine->devices[3].uuid, "GPU-4");
    assert_int_equal(machine->device_arch[4], 86);
    static const uint16_t archs[] = {80, 86, 90, 100};
    assert_int_equal(machine->arch_count, PJ_COUNT(archs));
    assert_memory_equal(machine->archs, archs, sizeof archs);
    assert_string_equal(machine->driver_version, "580.159.04");
    assert_int_equal(machine->file_count, 2);
    assert_string_equal(machine->files[1].path,
                        "/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.580.159.04");
    assert_int_equal(machine->files[1].inode, 6);
    assert_int_equal(machine->files[1].mtime_seconds, 8);
    pj_arena_free(&session.arena);
}

static void test_driver_version(void **state)
{
    static const char *const cases[][2] = {
        {"/lib/libcuda.so.580.159.04", "580.159.04"},
        {"/lib/libcuda.so.535.104", "535.104"},
        {"/lib/libcuda.so.1", NULL},
        {"/lib/libcuda.so", NULL},
        {"/lib/libcuda.so.580.159.04 (deleted)", NULL},
        {"/lib/other.so.1.2", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_session session;
        const struct pj_wire_file file = {.path = cases[i][0]};
        make(&session);
        assert_int_equal(pj_machine_files(&session, &file, 1, NULL), 0);
        const char *found = session.machine.driver_version;
        assert_string_equal(found ? found : "none", cases[i][1] ? cases[i][1] : "none");
        pj_arena_free(&session.arena);
    }
}

/* A later, longer list (helpers are open after the first load) replaces the first; an empty one does not. */
static void test_later_files(void **state)
{
    (void)state;
    struct pj_session session;
    const struct pj_wire_file files[] = {{.path = "/lib/libcuda.so.580.1"}, {.path = "/lib/libnvidia-x.so"}};
    make(&session);
    assert_int_equal(pj_machine_files(&session, files, 1, NULL), 0);
    assert_int_equal(pj_machine_files(&session, files, 2, NULL), 0);
    assert_int_equal(pj_machine_files(&session, NULL, 0, NULL), 0);
    assert_int_equal(session.machine.file_count, 2);
    assert_string_equal(session.machine.driver_version, "580.1");
    pj_arena_free(&session.arena);
}

static void test_from_receipt(void **state)
{
    (void)state;
    struct pj_session session;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_report_device devices[] = {{"B", "sm_90", "GPU-1"}, {"A", "sm_80", "GPU-0"}};
    struct pj_receipt_file file = {.path = "/lib/libcuda.so.580.1"};
    struct pj_receipt receipt = {.driver_files = &file, .driver_file_count = 1};
    receipt.host = (struct pj_report_host){
        .driver_version = "580.1", .cuda_version = 13000, .devices = devices, .device_count = 2};
    make(&session);
    session.receipt = &receipt;
    session.same_gpus = true;
    expect_success(pj_machine_from_receipt(&session, &err), &err);
    assert_true(session.machine.known);
    assert_int_equal(session.machine.archs[0], 80);
    assert_int_equal(session.machine.archs[1], 90);
    assert_int_equal(session.machine.arch_count, 2);
    assert_int_equal(session.machine.device_arch[0], 90);
    assert_string_equal(session.machine.driver_version, "580.1");
    pj_arena_free(&session.arena);

    make(&session);
    devices[1].arch = "sm_8000";
    session.receipt = &receipt;
    session.same_gpus = true;
    expect_success(pj_machine_from_receipt(&session, &err), &err);
    assert_false(session.machine.known);
    assert_false(session.same_gpus); /* a receipt that makes no sense is not used */
    assert_int_equal(session.machine.device_count, 0);
    pj_arena_free(&session.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_worker),
        cmocka_unit_test(test_driver_version),
        cmocka_unit_test(test_later_files),
        cmocka_unit_test(test_from_receipt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
