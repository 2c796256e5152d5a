/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the machine below a stand-in root. */
#include "folder.h"

#include "host/root.h"

static void test_environment(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("PREJIT_ROOT"), 0);
    assert_string_equal(pj_host_root_from_environment().prefix, "");
    assert_int_equal(setenv("PREJIT_ROOT", "/stand/in", 1), 0);
    struct pj_host_root root = pj_host_root_from_environment();
    PJ_CLEANUP_FREE char *path = pj_host_path(&root, "/proc/meminfo");
    assert_string_equal(path, "/stand/in/proc/meminfo");
    assert_int_equal(unsetenv("PREJIT_ROOT"), 0);
}

static void test_read(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "etc/ld.so.cache", "cache");
    const struct pj_host_root root = {folder.path};
    struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    char message[1024];
    expect_success(pj_host_read(&root, "/etc/ld.so.cache", &text, &err), &err);
    assert_string_equal(pj_buffer_text(&text), "cache");
    (void)snprintf(message, sizeof message, "cannot open %s/etc/none: No such file or directory",
                   folder.path);
    expect_error(pj_host_read(&root, "/etc/none", &text, &err), &err, PJ_ERROR_IO, message);
}

static void test_read_limit(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_FREE char *megabyte = calloc(1, (1 << 20) + 1);
    const struct pj_host_root root = {folder.path};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    folder_write_bytes(&folder, "a", megabyte, 1 << 20);
    folder_write_bytes(&folder, "b", megabyte, (1 << 20) + 1);
    assert_int_equal(pj_host_read(&root, "/a", &text, NULL), 0);
    assert_int_equal(text.size, 1 << 20);
    assert_int_equal(pj_host_read(&root, "/b", &text, NULL), PJ_ERROR_IO);
}

static void test_mtime(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "");
    const struct pj_host_root root = {folder.path};
    const struct timespec times[2] = {{1700000000, 0}, {1700000001, 999999999}};
    PJ_CLEANUP_FREE char *path = pj_host_path(&root, "/a");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(pj_host_mtime(&root, "/a"), 1700000001);
    assert_int_equal(pj_host_mtime(&root, "/none"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_limit),
        cmocka_unit_test(test_mtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
