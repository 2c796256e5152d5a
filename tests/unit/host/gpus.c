/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of GPUs: the same machine gives the same text, another one another. */
#include "folder.h"

#include "host/gpus.h"

#define VERSION                                                                                              \
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder)  "    \
    "Wed Apr 29 17:00:00 UTC 2026\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"

static void write_gpu(const struct folder *folder, const char *bus, const char *model, const char *uuid,
                      const char *bios)
{
    char name[128], text[512];
    (void)snprintf(name, sizeof name, "proc/driver/nvidia/gpus/%s/information", bus);
    (void)snprintf(text, sizeof text,
                   "Model: \t\t %s\nIRQ:   \t\t 91\nGPU UUID: \t %s\nVideo BIOS: \t %s\nBus Type: \t PCIe\n"
                   "DMA Size: \t 52 bits\nBus Location: \t %s\nDevice Minor: \t 0\n",
                   model, uuid, bios, bus);
    folder_write(folder, name, text);
}

static char *listing(const struct folder *folder, size_t *ret_count)
{
    const struct pj_host_root root = {folder->path};
    struct pj_error *err = NULL;
    struct pj_buffer text = {0};
    expect_success(pj_host_gpu_listing(&root, &text, ret_count, &err), &err);
    char *copy = strdup(pj_buffer_text(&text));
    pj_buffer_free(&text);
    return copy;
}

static void expect_listing(const struct folder *folder, size_t count, const char *wanted)
{
    size_t found = 4711;
    PJ_CLEANUP_FREE char *text = listing(folder, &found);
    assert_string_equal(text, wanted);
    assert_int_equal(found, count);
}

static void test_two_gpus(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "proc/driver/nvidia/version", VERSION);
    /* Written in the other order, with nodes that tell nothing about GPUs. */
    folder_write(&folder, "dev/nvidia1", "");
    folder_write(&folder, "dev/nvidia10", "");
    folder_write(&folder, "dev/nvidia0", "");
    folder_write(&folder, "dev/nvidiactl", "");
    folder_write(&folder, "dev/nvidia-uvm", "");
    folder_write(&folder, "dev/null", "");
    write_gpu(&folder, "0000:cb:00.0", "NVIDIA A100", "GPU-2222", "96.00.9f");
    write_gpu(&folder, "0000:18:00.0", "NVIDIA H200", "GPU-1111", "96.00.9f");
    folder_write(&folder, "proc/driver/nvidia/gpus/.hidden", "");
#define TWO_GPUS                                                                                             \
    "kernel 580.159.04\ngpu 0000:18:00.0\nModel: \t\t NVIDIA H200\nGPU UUID: \t GPU-1111\n"                  \
    "gpu 0000:cb:00.0\nModel: \t\t NVIDIA A100\nGPU UUID: \t GPU-2222\n"                                     \
    "node nvidia0\nnode nvidia1\nnode nvidia10\n"
    expect_listing(&folder, 2, TWO_GPUS);
    /* Firmware and interrupts change by themselves; what is compiled does not depend on them. */
    write_gpu(&folder, "0000:18:00.0", "NVIDIA H200", "GPU-1111", "97.00.00");
    expect_listing(&folder, 2, TWO_GPUS);
}

static void test_each_part_counts(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    size_t count;
    PJ_CLEANUP_FREE char *empty = listing(&folder, &count);
    write_gpu(&folder, "0000:18:00.0", "NVIDIA H200", "GPU-1", "1");
    PJ_CLEANUP_FREE char *gpu = listing(&folder, &count);
    write_gpu(&folder, "0000:18:00.0", "NVIDIA H200", "GPU-2", "1");
    PJ_CLEANUP_FREE char *uuid = listing(&folder, &count);
    folder_write(&folder, "dev/nvidia0", "");
    PJ_CLEANUP_FREE char *node = listing(&folder, &count);
    folder_write(&folder, "proc/driver/nvidia/version", VERSION);
    PJ_CLEANUP_FREE char *version = listing(&folder, &count);
    assert_string_not_equal(empty, gpu);
    assert_string_not_equal(gpu, uuid);
    assert_string_not_equal(uuid, node);
    assert_string_not_equal(node, version);
}

static void test_no_gpu(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    expect_listing(&folder, 0, "");
    expect_listing(&folder, 0, ""); /* an empty machine equals itself */
    folder_write(&folder, "dev/null", "");
    folder_write(&folder, "proc/driver/nvidia/gpus/.hidden", "");
    expect_listing(&folder, 0, "");
    /* A container without the listing of GPUs, but with their nodes. */
    folder_write(&folder, "dev/nvidia3", "");
    expect_listing(&folder, 0, "node nvidia3\n");
}

static void test_odd_information(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: X"); /* cut off */
    folder_write(&folder, "proc/driver/nvidia/gpus/0000:19:00.0/registry", "");
    folder_write(&folder, "proc/driver/nvidia/gpus/0000:20:00.0/information",
                 "\n\nGPU UUID: \t GPU-????????\n no GPU UUID: here\n");
    expect_listing(&folder, 3,
                   "gpu 0000:18:00.0\nModel: X\ngpu 0000:19:00.0\ngpu 0000:20:00.0\n"
                   "GPU UUID: \t GPU-????????\n");
}

static void test_kernel_driver(void **state)
{
    static const struct {
        const char *text, *version;
    } cases[] = {
        {VERSION, "580.159.04"},
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
         "GCC version:  gcc version 11.4.0\n",
         "535.104.05"},
        {"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  550.54.15  Release Build\n", "550.54.15"},
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82  Thu Oct 14 10:25:20 UTC 2021", "470.82"},
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module\nGCC version:  gcc version 12.3.0\n", NULL},
        {"NVRM version: 580\n", NULL},
        {"", NULL},
        {"\n580.159.04\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        CLEANUP_FOLDER struct folder folder;
        folder_make(&folder);
        folder_write(&folder, "proc/driver/nvidia/version", cases[i].text);
        const struct pj_host_root root = {folder.path};
        PJ_CLEANUP_FREE char *version = pj_host_kernel_driver(&root);
        assert_string_equal(version ? version : "none", cases[i].version ? cases[i].version : "none");
    }
    const struct pj_host_root nowhere = {"/nonexistent"};
    assert_null(pj_host_kernel_driver(&nowhere));
}

static void test_boot_id(void **state)
{
    static const struct {
        const char *text, *id;
    } cases[] = {
        {"3f2c1d00-0000-4000-8000-00000000000a\n", "3f2c1d00-0000-4000-8000-00000000000a"},
        {"abc", "abc"},
        {"", NULL},
        {"\n", NULL},
        {"abc def\n", NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123456789\n", NULL},
    };
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    const struct pj_host_root root = {folder.path};
    assert_null(pj_host_boot_id(&root));
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        folder_write(&folder, "proc/sys/kernel/random/boot_id", cases[i].text);
        PJ_CLEANUP_FREE char *id = pj_host_boot_id(&root);
        assert_int_equal(id == NULL, cases[i].id == NULL);
        if (id)
            assert_string_equal(id, cases[i].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_gpus),      cmocka_unit_test(test_each_part_counts),
        cmocka_unit_test(test_no_gpu),        cmocka_unit_test(test_odd_information),
        cmocka_unit_test(test_kernel_driver), cmocka_unit_test(test_boot_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
