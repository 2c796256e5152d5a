/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of host fails once: a listing is whole or an error, never a shorter one. */
#include "folder.h"

#include "host/gpus.h"
#include "host/limits.h"

#include "failing_memory.h"

static void make_machine(struct folder *folder)
{
    folder_make(folder);
    folder_write(folder, "proc/driver/nvidia/version", "NVRM version: Module  580.159.04  x\n");
    folder_write(folder, "proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: A\nGPU UUID: B\n");
    folder_write(folder, "dev/nvidia0", "");
    folder_write(folder, "proc/self/cgroup", "0::/a\n");
    folder_write(folder, "sys/fs/cgroup/a/memory.events", "oom_kill 3\n");
    folder_write(folder, "sys/fs/cgroup/a/memory.max", "1000\n");
    folder_write(folder, "sys/fs/cgroup/a/memory.current", "300\n");
}

static void test_listing(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_machine(&folder);
    const struct pj_host_root root = {folder.path};
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        size_t count = 4711;
        failing_memory_start(n);
        int r = pj_host_gpu_listing(&root, &text, &count, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_int_equal(count, failed ? 4711 : 1);
        if (!failed)
            assert_string_equal(pj_buffer_text(&text), "kernel 580.159.04\ngpu 0000:18:00.0\nModel: A\n"
                                                       "GPU UUID: B\nnode nvidia0\n");
    }
    assert_true(failures >= 10);
}

/* These have no way to say it: what they cannot read is not known, and what they know is right. */
static void test_limits(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_machine(&folder);
    const struct pj_host_root root = {folder.path};
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        uint64_t kills = 7;
        failing_memory_start(n);
        PJ_CLEANUP_FREE char *version = pj_host_kernel_driver(&root);
        bool known = pj_host_oom_kills(&root, &kills);
        uint64_t memory = pj_host_memory_available(&root);
        failed = failing_memory_stop();
        assert_int_equal(kills, known ? 3 : 7);
        assert_true(memory == 0 || memory == 700);
        if (version)
            assert_string_equal(version, "580.159.04");
        assert_true(failed || (known && memory == 700 && version));
        failing_memory_start(n);
        assert_true(pj_host_cores(&root) >= 1);
        failed |= failing_memory_stop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
