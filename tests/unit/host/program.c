/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked about: this process, another user, an environment file, a running process; other caches. */
#include "programs.h"

static void test_own(void **state)
{
    (void)state;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(setenv("PREJIT_UNIT", "a=b", 1), 0);
    expect_success(pj_program_own(&program, &err), &err);
    assert_string_equal(pj_program_variable(&program, "PREJIT_UNIT"), "a=b");
    assert_null(pj_program_variable(&program, "PREJIT_UNI"));
    assert_int_equal(program.uid, geteuid());
    assert_true(program.own && program.directory[0] == '/');
}

static void test_user(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    struct pj_error *err = NULL;
    folder_make(&folder);
    folder_write(&folder, "etc/passwd",
                 "broken\napp:x:700:701:An:App:/srv:/bin/sh\nweb:x:800:800::/web:/bin/sh\n");
    folder_write(&folder, "etc/group", "video:x:44:web,app\nother:x:45:application\n");
    const struct pj_host_root root = {folder.path};
    program_make(&program, (const char *const[]){"HOME=/root", NULL});
    expect_success(pj_program_set_user(&program, &root, "web", true, &list, &err), &err);
    assert_string_equal(program.who, "user web");
    assert_string_equal(pj_program_variable(&program, "HOME"), "/web");
    assert_int_equal(program.uid, 800);
    assert_int_equal(program.groups.count, 1);
    assert_int_equal(program.groups.items[0], 44);
    expect_success(pj_program_set_user(&program, &root, "800:9", false, &list, &err), &err);
    assert_int_equal(program.gid, 9);
    assert_string_equal(program.user_text, "web");
    expect_findings(&list, "");
    expect_success(pj_program_set_user(&program, &root, "4242", true, &list, &err), &err);
    assert_int_equal(program.gid, 4242);
    assert_int_equal(program.groups.count, 0);
    assert_string_equal(pj_program_variable(&program, "HOME"), "/");
    expect_findings(&list,
                    "user-without-entry 4242: there is no user 4242 in /etc/passwd; HOME is taken to be "
                    "/\n");
    expect_error(pj_program_set_user(&program, &root, "nobody-here", true, &list, &err), &err, PJ_ERROR_USAGE,
                 "--user nobody-here: there is no such user; give a name of /etc/passwd, UID or UID:GID");
}

static void test_environment_file(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    struct pj_error *err = NULL;
    char found[1400];
    folder_make(&folder);
    folder_write(&folder, "env",
                 "# comment\n; another\n\nCUDA_CACHE_PATH=\"/var/nv\"\r\nNAME='quoted'\nexport HOME=/srv\n"
                 "no value\nEMPTY=\nEQUALS=a=b\nHOME=/home");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "env");
    program_make(&program, (const char *const[]){"GONE=1", NULL});
    expect_success(pj_program_set_environment_file(&program, path, &list, &err), &err);
    assert_string_equal(pj_program_variable(&program, "CUDA_CACHE_PATH"), "/var/nv");
    assert_string_equal(pj_program_variable(&program, "NAME"), "quoted");
    assert_string_equal(pj_program_variable(&program, "HOME"), "/home");
    assert_string_equal(pj_program_variable(&program, "EMPTY"), "");
    assert_string_equal(pj_program_variable(&program, "EQUALS"), "a=b");
    assert_null(pj_program_variable(&program, "GONE"));
    assert_null(program.directory);
    (void)snprintf(found, sizeof found,
                   "env-file-line %s:4: the value of CUDA_CACHE_PATH is in quotes: docker keeps them in the "
                   "value, systemd does not; read without them here\n"
                   "env-file-line %s:6: begins with `export`, which is for shells; read without it here\n"
                   "env-file-line %s:7: `no value` is no NAME=VALUE and was passed over\n",
                   path, path, path);
    expect_findings(&list, found);
    (void)snprintf(found, sizeof found, "--env-file: cannot open %sx: No such file or directory", path);
    PJ_CLEANUP_BUFFER struct pj_buffer absent = {0};
    pj_buffer_printf(&absent, "%sx", path);
    expect_error(pj_program_set_environment_file(&program, absent.data, &list, &err), &err, PJ_ERROR_USAGE,
                 found);
}

static void test_process(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    struct pj_error *err = NULL;
    char link[700], found[1500];
    static const char environment[] = "HOME=/srv\0CUDA_CACHE_PATH=nv\0\0odd";
    folder_make(&folder);
    folder_write(&folder, "proc/77/status",
                 "Name:\tserver\nUid:\t1\t700\t700\t700\nGid:\t1\t701\t701\t701\nGroups:\t44 45 \n");
    folder_write_bytes(&folder, "proc/77/environ", environment, sizeof environment);
    (void)snprintf(link, sizeof link, "%s/proc/77/cwd", folder.path);
    assert_int_equal(symlink("/srv/run", link), 0);
    (void)snprintf(link, sizeof link, "%s/proc/77/root", folder.path);
    assert_int_equal(symlink("/", link), 0);
    const struct pj_host_root root = {folder.path};
    expect_success(pj_program_of_process(&root, 77, &list, &program, &err), &err);
    assert_string_equal(program.who, "process 77 (server)");
    assert_string_equal(pj_program_variable(&program, "CUDA_CACHE_PATH"), "nv");
    assert_string_equal(program.directory, "/srv/run");
    assert_string_equal(program.root, "");
    assert_int_equal(program.uid, 700);
    assert_int_equal(program.gid, 701);
    assert_int_equal(program.groups.count, 2);
    expect_findings(&list, "");
    pj_program_free(&program);

    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/jail", link), 0);
    (void)snprintf(link, sizeof link, "%s/proc/77/environ", folder.path);
    assert_int_equal(unlink(link), 0);
    expect_success(pj_program_of_process(&root, 77, &list, &program, &err), &err);
    assert_false(program.environment_known);
    (void)snprintf(found, sizeof found, "%s/proc/77/root", folder.path);
    assert_string_equal(program.root, found);
    expect_findings(&list,
                    "process-unreadable /proc/77: not to be read: environ (No such file or directory)\n"
                    "other-root process 77 (server): its root is /jail; its paths are looked up there\n");
    pj_program_free(&program);
    expect_error(pj_program_of_process(&root, 78, &list, &program, &err), &err, PJ_ERROR_USAGE,
                 "--pid 78: there is no such process");
    program = (struct pj_program){.root = ""};
}

static void test_other_caches(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    char home[600], temporary[600], cache[600], optix[600], found[3000];
    folder_make(&folder);
    folder_write(&folder, ".triton/cache/a", "");
    folder_write(&folder, "xdg/jax/a", "");
    folder_write(&folder, ".nv/ComputeCache/index", "");
    folder_write(&folder, "torchinductor_app/a", "");
    folder_write(&folder, "optix/optix7cache.db", "");
    (void)snprintf(home, sizeof home, "HOME=%s", folder.path);
    (void)snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder.path);
    (void)snprintf(optix, sizeof optix, "OPTIX_CACHE_PATH=%s/optix", folder.path);
    (void)snprintf(cache, sizeof cache, "XDG_CACHE_HOME=%s/xdg", folder.path);
    program_make(&program, (const char *const[]){home, temporary, cache, optix, NULL});
    assert_int_equal(pj_check_other_caches(&program, "/var/nv", &list, NULL), 0);
    (void)snprintf(
        found, sizeof found,
        "other-cache %s/torchinductor_app: it is PyTorch Inductor's own cache, which prejit does not "
        "fill\n"
        "other-cache %s/.triton/cache: it is Triton's own cache, which prejit does not fill\n"
        "other-cache %s/xdg/jax: it is JAX's own cache, which prejit does not fill\n"
        "other-cache %s/optix: it is OptiX's own cache, which prejit does not fill\n"
        "other-cache %s/.nv/ComputeCache: it is the driver's default cache; programs without "
        "CUDA_CACHE_PATH use it\n",
        folder.path, folder.path, folder.path, folder.path, folder.path);
    expect_findings(&list, found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_user),
        cmocka_unit_test(test_environment_file),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_other_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
