/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes make a receipt speak of another driver, other GPUs, or another request. */
#include "runs.h"

#include "session/receipt/identity.h"

/* A change to the machine or to the receipt. */
typedef void change(struct run *run);

static void nothing(struct run *run)
{
    (void)run;
}

static void driver_touched(struct run *run)
{
    run_touch(run, "driver/libcuda.so.580.1");
}

static void driver_replaced(struct run *run)
{
    /* Same name, size and time: another inode. */
    PJ_CLEANUP_FREE char *other = pj_path_join(run->folder.path, "driver/other");
    struct stat status;
    assert_int_equal(stat(run->driver_path, &status), 0);
    folder_write(&run->folder, "driver/other", "DRIVER");
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
    assert_int_equal(rename(other, run->driver_path), 0);
}

static void driver_grown(struct run *run)
{
    folder_write(&run->folder, "driver/libcuda.so.580.1", "driver 2");
}

static void driver_gone(struct run *run)
{
    assert_int_equal(unlink(run->driver_path), 0);
}

static void driver_unknown(struct run *run)
{
    run->receipt.driver_file_count = 0;
}

static void driver_option(struct run *run)
{
    run->options.driver = "/opt/libcuda.so.1";
}

static void library_path(struct run *run)
{
    (void)run;
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/a", 1), 0);
}

static void loader_cache(struct run *run)
{
    run_touch(run, "root/etc/ld.so.cache");
}

static void other_gpu(struct run *run)
{
    folder_write(&run->folder, "root/proc/driver/nvidia/gpus/0000:19:00.0/information", "Model: A100\n");
}

static void kernel_module(struct run *run)
{
    folder_write(&run->folder, "root/proc/driver/nvidia/version", "NVRM version: Module  580.2  x\n");
}

static void device_node(struct run *run)
{
    folder_write(&run->folder, "root/dev/nvidia0", "");
}

static void visible_devices(struct run *run)
{
    (void)run;
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
}

static void no_devices_known(struct run *run)
{
    run->receipt.host.device_count = 0;
}

static void tool_version(struct run *run)
{
    run->receipt.tool_version = "0.0.0";
}

static void manifest_digest(struct run *run)
{
    run->receipt.manifest_sha256.bytes[31] ^= 1;
}

static void selection(struct run *run)
{
    run->session.selection_text = "-m a\n";
}

static void limit(struct run *run)
{
    run->session.location.limit_bytes++;
}

static void samples(struct run *run)
{
    run->session.manifest->verify_samples++;
}

static void test_changes(void **state)
{
    static const struct {
        const char *name;
        change *apply;
        bool driver, gpus, request;
    } cases[] = {
        {"nothing", nothing, true, true, true},
        {"driver touched", driver_touched, false, true, true},
        {"driver replaced", driver_replaced, false, true, true},
        {"driver grown", driver_grown, false, true, true},
        {"driver gone", driver_gone, false, true, true},
        {"driver unknown", driver_unknown, false, true, true},
        {"--driver", driver_option, false, true, true},
        {"LD_LIBRARY_PATH", library_path, false, true, true},
        {"ld.so.cache", loader_cache, false, true, true},
        {"other GPU", other_gpu, true, false, true},
        {"kernel module", kernel_module, true, false, true},
        {"device node", device_node, true, false, true},
        {"CUDA_VISIBLE_DEVICES empty", visible_devices, true, false, true},
        {"no devices known", no_devices_known, true, false, true},
        {"tool version", tool_version, true, true, false},
        {"manifest", manifest_digest, true, true, false},
        {"selection", selection, true, true, false},
        {"limit", limit, true, true, false},
        {"samples", samples, true, true, false},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_RUN struct run run;
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        run_make(&run);
        cases[i].apply(&run);
        expect_success(pj_identity_now(&run.session, &err), &err);
        pj_identity_compare(&run.session);
        if (run.session.same_driver != cases[i].driver || run.session.same_gpus != cases[i].gpus ||
            run.session.same_request != cases[i].request)
            fail_msg("%s: driver %d, GPUs %d, request %d", cases[i].name, run.session.same_driver,
                     run.session.same_gpus, run.session.same_request);
    }
}

static void compare(struct run *run, const char *then, bool same, bool unsure)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_identity_now(&run->session, &err), &err);
    run->receipt.gpu_listing = run->session.now.gpu_listing;
    run->receipt.boot_id = then;
    pj_identity_compare(&run->session);
    assert_int_equal(run->session.same_gpus, same);
    assert_int_equal(run->session.gpus_unsure, unsure);
}

/* Where the kernel lists no GPU, two empty listings do not make the GPUs the same. */
static void test_no_listing(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    compare(&run, NULL, true, false); /* it lists one: the boot does not matter */
    assert_null(run.session.now.boot_id);
    PJ_CLEANUP_FREE char *gpus = pj_path_join(run.root_path, "proc/driver");
    PJ_CLEANUP_FREE char *away = pj_path_join(run.root_path, "away");
    assert_int_equal(rename(gpus, away), 0);
    compare(&run, NULL, false, true);
    compare(&run, "b00", false, true);
    folder_write(&run.folder, "root/proc/sys/kernel/random/boot_id", "b00\n");
    compare(&run, "b00", true, false);
    compare(&run, "b01", false, true);
    compare(&run, NULL, false, true);
    run.receipt.host.device_count = 0;
    compare(&run, "b00", false, false);
}

static void test_now(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "0", 1), 0);
    run_touch(&run, "root/etc/ld.so.cache");
    assert_int_equal(pj_identity_now(&run.session, NULL), 0);
    const struct pj_receipt *now = &run.session.now;
    assert_string_equal(now->gpu_listing, "kernel 580.1\ngpu 0000:18:00.0\nModel: H200\n");
    assert_string_equal(now->host.kernel_driver, "580.1");
    assert_string_equal(now->cuda_visible_devices, "0");
    assert_null(now->ld_library_path);
    assert_null(now->driver_option);
    assert_int_equal(now->ld_so_cache_mtime_seconds, 1500000000);
    assert_int_equal(now->samples, 3);
    assert_int_equal(now->limit_bytes, 1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_no_listing),
        cmocka_unit_test(test_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
