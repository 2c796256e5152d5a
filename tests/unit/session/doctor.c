/* SPDX-License-Identifier: Apache-2.0 */
/* The checks as other sessions use them, and doctor's whole answer over a stand-in machine; every allocation
 * of it fails once. */
#include "folder.h"

#include "failing_memory.h"
#include "session/doctor/doctor.h"

static void put_machine(struct folder *folder)
{
    folder_make(folder);
    folder_write(folder, "proc/driver/nvidia/version", "NVRM version: Module  570.8.6  x\n");
    folder_write(folder, "usr/lib/libcuda.so.580.1.2", "");
    folder_write(folder, "nv/index", "");
    PJ_CLEANUP_FREE char *link = pj_path_join(folder->path, "usr/lib/libcuda.so.1");
    assert_int_equal(symlink("libcuda.so.580.1.2", link), 0);
    assert_int_equal(setenv("PREJIT_ROOT", folder->path, 1), 0);
}

static void test_refuse_cache(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    struct pj_error *err = NULL;
    char path[600], message[1400];
    put_machine(&folder);
    const struct pj_host_root root = {folder.path};
    (void)snprintf(path, sizeof path, "%s/nv", folder.path);
    expect_success(pj_doctor_findings(&root, path, 1 << 30, NULL, PJ_DOCTOR_CACHE, &list, &err), &err);
    expect_success(pj_doctor_refuse(&list, &err), &err);
    (void)snprintf(path, sizeof path, "%s/nv/index/below", folder.path);
    expect_success(pj_doctor_findings(&root, path, 1 << 30, NULL, PJ_DOCTOR_CACHE, &list, &err), &err);
    (void)snprintf(
        message, sizeof message,
        "%s/nv/index: it is no directory; move %s/nv/index away, or set CUDA_CACHE_PATH to another "
        "directory",
        folder.path, folder.path);
    expect_error(pj_doctor_refuse(&list, &err), &err, PJ_ERROR_ENVIRONMENT, message);
}

static void test_refuse_reboot(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    struct pj_error *err = NULL;
    put_machine(&folder);
    folder_write(&folder, "usr/lib/libnvidia-ptxjitcompiler.so.1", "");
    const struct pj_host_root root = {folder.path};
    expect_success(pj_doctor_findings(&root, "/", 1 << 30, NULL, PJ_DOCTOR_MACHINE, &list, &err), &err);
    expect_error(
        pj_doctor_refuse(&list, &err), &err, PJ_ERROR_BUSY,
        "/proc/driver/nvidia/version: the kernel driver is 570.8.6, libcuda is 580.1.2 "
        "(/usr/lib/libcuda.so.1); reboot, then run prejit warm; in a container take the libraries of "
        "the host's driver");
}

/* An environment of this test alone: nothing of the caller's. */
static void put_environment(const struct folder *folder, char file[600])
{
    folder_write(folder, "env", "HOME=/nowhere\nCUDA_CACHE_PATH=/nowhere/nv\nCUDA_CACHE_DISABLE=1\n");
    (void)snprintf(file, 600, "%s/env", folder->path);
}

static void test_broken_lines(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_FREE char *text = NULL;
    struct pj_error *err = NULL;
    char file[600];
    int status;
    put_machine(&folder);
    put_environment(&folder, file);
    const struct pj_doctor_options options = {.env_file = file, .columns = 60, .interrupt_fd = -1};
    expect_success(pj_doctor(&options, &text, &status, &err), &err);
    assert_int_equal(status, 3);
    assert_non_null(strstr(text, "error    cache-disabled: CUDA_CACHE_DISABLE\n"
                                 "  found: it is \"1\", so the driver neither reads nor writes\n"
                                 "         any cache\n"
                                 "  cure:  unset CUDA_CACHE_DISABLE, here and for the program\n"));
    assert_non_null(strstr(text, "\nexit 3: a program with that environment reads nothing from /nowhere/nv: "
                                 "unset CUDA_CACHE_DISABLE, here and for the program; "));
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void test_memory(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    char file[600];
    put_machine(&folder);
    put_environment(&folder, file);
    for (int json = 0; json < 2; json++) {
        const struct pj_doctor_options options = {
            .env_file = file, .user = "7:8", .json = json != 0, .interrupt_fd = -1};
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            PJ_CLEANUP_FREE char *text = NULL;
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            int status = 4711;
            failing_memory_start(n);
            int r = pj_doctor(&options, &text, &status, &err);
            failed = failing_memory_stop();
            assert_true(r == 0 || (failed && r == PJ_ERROR_NO_MEMORY));
            assert_true((r == 0) == (text != NULL));
            assert_int_equal(status, r == 0 ? 3 : 4711);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse_cache),
        cmocka_unit_test(test_refuse_reboot),
        cmocka_unit_test(test_broken_lines),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
