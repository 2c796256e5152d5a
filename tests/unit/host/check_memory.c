/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the checks fails once: the findings are all there, or the check says that memory is
 * out. */
#include "programs.h"

#include "failing_memory.h"

static void make_machine(struct folder *folder)
{
    folder_make(folder);
    folder_write(folder, "etc/passwd", "app:x:700:701::/srv:/bin/sh\n");
    folder_write(folder, "etc/group", "video:x:44:app\n");
    folder_write(folder, "etc/ld.so.conf", "include ld.so.conf.d/*.conf\n");
    folder_write(folder, "etc/ld.so.conf.d/a.conf", "/opt/driver\n");
    folder_write(folder, "opt/driver/libcuda.so.1", "");
    folder_write(folder, "usr/lib/libnvidia-ml.so.1", "");
    folder_write(folder, "proc/driver/nvidia/version", "NVRM version: Module  580.1.2  x\n");
    folder_write(folder, "proc/77/status",
                 "Name:\tserver\nUid:\t1\t700\t7\t7\nGid:\t1\t701\t7\t7\nGroups:\t44 \n");
    folder_write(folder, "proc/77/environ", "CUDA_CACHE_PATH=$HOME/nv");
    folder_write(folder, ".triton/cache/a", "");
    folder_write(folder, "nv/index", "");
    folder_write(
        folder, "env",
        "export CUDA_CACHE_MAXSIZE='2G'\nodd\nCUDA_CACHE_DIR=/x\nCUDA_FORCE_JIT=1\nCUDA_HOME=/none\n");
    folder_write(folder, "opt/driver/libnvrtc.so.13", "");
}

/* All the checks one after the other, as doctor makes them. */
static int check_all(const struct folder *folder, struct pj_program *program, struct pj_finding_list *list,
                     struct pj_driver_facts *facts, struct pj_toolkit_facts *toolkit, struct pj_error **err)
{
    const struct pj_toolkit_needs needs = {.sources = 1, .required_sources = 1};
    const struct pj_host_root root = {folder->path};
    char env[600], cache[600];
    bool exists = false;
    (void)snprintf(env, sizeof env, "%s/env", folder->path);
    (void)snprintf(cache, sizeof cache, "%s/nv", folder->path);
    int r = pj_program_of_process(&root, 77, list, program, err);
    if (r == 0)
        r = pj_check_variables(program, list, err);
    if (r == 0)
        r = pj_program_set_environment_file(program, env, list, err);
    if (r == 0)
        r = pj_program_set_user(program, &root, "app", true, list, err);
    if (r == 0)
        r = pj_program_set_variable(program, "HOME", 4, folder->path, err);
    if (r == 0)
        r = pj_check_variables(program, list, err);
    if (r == 0)
        r = pj_check_path(program, cache, &exists, list, err);
    if (r == 0)
        r = pj_check_index(program, cache, list, err);
    if (r == 0)
        r = pj_check_file_system(program, cache, list, err);
    if (r == 0)
        r = pj_check_driver(&root, program, NULL, list, facts, err);
    if (r == 0)
        r = pj_check_machine(&root, program, facts, list, err);
    if (r == 0)
        r = pj_check_toolkit(&root, program, &needs, list, toolkit, err);
    if (r == 0) {
        struct pj_toolkit_facts of_options = {.nvrtc = NULL};
        const struct pj_toolkit_needs named = {.nvrtc = "/nowhere", .ptxas = "/nowhere"};
        r = pj_check_toolkit(&root, program, &named, list, &of_options, err);
        pj_arena_free(&of_options.arena);
    }
    return r == 0 ? pj_check_other_caches(program, cache, list, err) : r;
}

static void test_checks(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    make_machine(&folder);
    size_t whole = 0;
    bool failed = false;
    /* The first round, in which nothing fails, tells how many findings there are. */
    for (size_t n = 0; n == 0 || failed; n++) {
        struct pj_program program = {.root = ""};
        struct pj_finding_list list = {0};
        struct pj_driver_facts facts = {.library = NULL};
        struct pj_toolkit_facts toolkit = {.nvrtc = NULL};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        failing_memory_start(n);
        int r = check_all(&folder, &program, &list, &facts, &toolkit, &err);
        failed = failing_memory_stop() && n > 0;
        assert_true(r == 0 || (failed && r == PJ_ERROR_NO_MEMORY));
        if (n == 0)
            whole = list.count;
        if (r == 0 && !failed)
            assert_int_equal(list.count, whole);
        pj_program_free(&program);
        pj_finding_list_free(&list);
        pj_arena_free(&facts.arena);
        pj_arena_free(&toolkit.arena);
    }
    assert_true(whole >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
