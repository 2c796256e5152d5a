/* SPDX-License-Identifier: Apache-2.0 */
/* Driver libraries, the kernel driver and device nodes of stand-in machines. */
#include "programs.h"

#define LIBRARIES "usr/lib/x86_64-linux-gnu/"

static void put_library(const struct folder *folder, const char *where, const char *stem, const char *soname,
                        const char *version)
{
    char name[300], link[700];
    (void)snprintf(name, sizeof name, "%s%s.so.%s", where, stem, version);
    folder_write(folder, name, "");
    (void)snprintf(link, sizeof link, "%s/%s%s", folder->path, where, soname);
    (void)snprintf(name, sizeof name, "%s.so.%s", stem, version);
    assert_int_equal(symlink(name, link), 0);
}

static void put_machine(struct folder *folder, const char *kernel)
{
    char text[200];
    folder_make(folder);
    put_library(folder, LIBRARIES, "libcuda", "libcuda.so.1", "580.1.2");
    put_library(folder, LIBRARIES, "libnvidia-ptxjitcompiler", "libnvidia-ptxjitcompiler.so.1", "580.1.2");
    put_library(folder, LIBRARIES, "libnvidia-nvvm", "libnvidia-nvvm.so.4", "580.1.2");
    put_library(folder, LIBRARIES, "libnvidia-ml", "libnvidia-ml.so.1", "580.1.2");
    (void)snprintf(text, sizeof text, "NVRM version: NVIDIA UNIX Kernel Module  %s  x\n", kernel);
    folder_write(folder, "proc/driver/nvidia/version", text);
    folder_write(folder, "proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: A\n");
    folder_write(folder, "dev/nvidiactl", "");
    folder_write(folder, "dev/nvidia0", "");
    folder_write(folder, "dev/nvidia-uvm", "");
}

static void node_mode(const struct folder *folder, const char *name, mode_t mode)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(chmod(path, mode), 0);
}

static void remove_file(const struct folder *folder, const char *name)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(unlink(path), 0);
}

static void expect(const struct folder *folder, const char *variable, const char *findings)
{
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_driver_facts facts = {.library = NULL};
    const struct pj_host_root root = {folder->path};
    program_make(&program, (const char *const[]){variable, NULL});
    program.own = true;
    expect_success(pj_check_driver(&root, &program, NULL, &list, &facts, &err), &err);
    expect_success(pj_check_machine(&root, &program, &facts, &list, &err), &err);
    expect_findings(&list, findings);
    pj_arena_free(&facts.arena);
}

static void test_whole(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    put_machine(&folder, "580.1.2");
    expect(&folder, "A=b", "");
}

static void test_helpers(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    put_machine(&folder, "580.1.2");
    remove_file(&folder, LIBRARIES "libnvidia-ptxjitcompiler.so.1");
    remove_file(&folder, LIBRARIES "libnvidia-nvvm.so.4");
    remove_file(&folder, LIBRARIES "libnvidia-ml.so.1");
    put_library(&folder, LIBRARIES, "libnvidia-ml", "libnvidia-ml.so.1", "570.9");
    expect(
        &folder, "A=b",
        "jit-compiler-missing libnvidia-ptxjitcompiler.so.1: it is in none of the loader's folders, and "
        "libcuda is 580.1.2 of /usr/lib/x86_64-linux-gnu/libcuda.so.1\n"
        "helper-version libnvidia-ml.so.1: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 is 570.9, libcuda is "
        "580.1.2\n"
        "helper-missing libnvidia-nvvm.so.4: it is in none of the loader's folders, and libcuda is 580.1.2 "
        "of /usr/lib/x86_64-linux-gnu/libcuda.so.1\n");
}

static void test_no_driver(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    expect(&folder, "A=b",
           "driver-missing libcuda.so.1: it is in none of the loader's folders\n"
           "kernel-driver-missing /proc/driver/nvidia/version: it cannot be read or tells no version\n");
}

static void test_reboot(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    put_machine(&folder, "570.86.15");
    expect(&folder, "A=b",
           "reboot-pending /proc/driver/nvidia/version: the kernel driver is 570.86.15, libcuda is 580.1.2 "
           "(/usr/lib/x86_64-linux-gnu/libcuda.so.1)\n");
}

/* Folders of ld.so.conf come before the default ones, LD_LIBRARY_PATH before all. */
static void test_order(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    char variable[700], found[900];
    put_machine(&folder, "580.1.2");
    folder_write(&folder, "etc/ld.so.conf", "# folders\ninclude /etc/ld.so.conf.d/*.conf\n");
    folder_write(&folder, "etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/compat/  # newer\n");
    put_library(&folder, "usr/local/cuda/compat/", "libcuda", "libcuda.so.1", "590.3");
    expect(
        &folder, "A=b",
        "helper-version libnvidia-ptxjitcompiler.so.1: "
        "/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.1 is 580.1.2, libcuda is 590.3\n"
        "helper-version libnvidia-nvvm.so.4: /usr/lib/x86_64-linux-gnu/libnvidia-nvvm.so.4 is 580.1.2, "
        "libcuda is 590.3\n"
        "helper-version libnvidia-ml.so.1: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 is 580.1.2, libcuda "
        "is 590.3\n"
        "forward-compatibility /usr/local/cuda/compat/libcuda.so.1: it is version 590.3\n");
    folder_write(&folder, "toolkit/stubs/libcuda.so.1", "");
    (void)snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=:%s/toolkit/stubs/", folder.path);
    (void)snprintf(
        found, sizeof found,
        "driver-stub %s/toolkit/stubs/libcuda.so.1: the loader finds it first, and it is for linking "
        "only\n",
        folder.path);
    expect(&folder, variable, found);
}

static void test_nodes(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    put_machine(&folder, "580.1.2");
    remove_file(&folder, "dev/nvidia-uvm");
    expect(&folder, "A=b", "device-late /dev/nvidia-uvm: there is no such node\n");
    remove_file(&folder, "dev/nvidia0");
    expect(&folder, "A=b",
           "device-missing /dev/nvidia0: there is no /dev/nvidiaN\n"
           "device-late /dev/nvidia-uvm: there is no such node\n");
    remove_file(&folder, "dev/nvidiactl");
    remove_file(&folder, "proc/driver/nvidia/gpus/0000:18:00.0/information");
    PJ_CLEANUP_FREE char *gpu = pj_path_join(folder.path, "proc/driver/nvidia/gpus/0000:18:00.0");
    assert_int_equal(rmdir(gpu), 0);
    expect(&folder, "A=b",
           "no-gpu /proc/driver/nvidia/gpus: it is empty\n"
           "device-missing /dev/nvidiactl: there is no such node\n");
    folder_write(&folder, "dev/dxg", "");
    remove_file(&folder, "proc/driver/nvidia/version");
    expect(&folder, "A=b", "");
}

static void test_denied(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    const struct pj_driver_facts facts = {.version = "580.1.2", .kernel_version = "580.1.2"};
    char found[200];
    put_machine(&folder, "580.1.2");
    node_mode(&folder, "dev/nvidiactl", 0660);
    node_mode(&folder, "dev/nvidia0", 0666);
    node_mode(&folder, "dev/nvidia-uvm", 0666);
    const struct pj_host_root root = {folder.path};
    program_make(&program, (const char *const[]){"A=b", NULL});
    program.uid = program.gid = 54321;
    assert_int_equal(pj_check_machine(&root, &program, &facts, &list, NULL), 0);
    (void)snprintf(found, sizeof found,
                   "device-denied /dev/nvidiactl: owner %lu, group %lu, mode 0660: user app cannot open it\n",
                   (unsigned long)geteuid(), (unsigned long)getegid());
    expect_findings(&list, found);
}

static void test_memory(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    folder_make(&folder);
    const struct pj_host_root root = {folder.path};
    assert_int_equal(pj_check_memory(&root, &list, NULL), 0);
    folder_write(&folder, "proc/meminfo", "MemAvailable: 8388608 kB\n");
    assert_int_equal(pj_check_memory(&root, &list, NULL), 0);
    expect_findings(&list, "");
    folder_write(&folder, "sys/fs/cgroup/memory.max", "134217728\n");
    folder_write(&folder, "sys/fs/cgroup/memory.current", "0\n");
    assert_int_equal(pj_check_memory(&root, &list, NULL), 0);
    expect_findings(&list, "memory-small memory: 134 MB can still be used here (the container's limit "
                           "counts)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),  cmocka_unit_test(test_helpers), cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_reboot), cmocka_unit_test(test_order),   cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_denied), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
