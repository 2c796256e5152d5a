/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: made, opened and removed, links never followed; paths joined and made absolute. */
#include "folder.h"

#include <errno.h>

static char *in(const struct folder *folder, const char *name)
{
    char *path = pj_path_join(folder->path, name);
    assert_non_null(path);
    return path;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void test_create(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *deep = in(&folder, "a//b/./c/");
    PJ_CLEANUP_FREE char *made = in(&folder, "a/b/c");
    struct stat status;
    mode_t old_mask = umask(027);
    expect_success(pj_directory_create(deep, 0777, &err), &err);
    (void)umask(old_mask);
    assert_int_equal(stat(made, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    expect_success(pj_directory_create(deep, 0777, &err), &err);
    expect_success(pj_directory_create("/", 0777, &err), &err);
    PJ_CLEANUP_FREE char *link = in(&folder, "link");
    PJ_CLEANUP_FREE char *behind = in(&folder, "link/d");
    assert_int_equal(symlink("a", link), 0);
    expect_success(pj_directory_create(behind, 0777, &err), &err);
}

static void test_not_created(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "file", "");
    struct pj_error *err = NULL;
    char message[1024];
    PJ_CLEANUP_FREE char *file = in(&folder, "file");
    PJ_CLEANUP_FREE char *below = in(&folder, "file/a/b");
    PJ_CLEANUP_FREE char *dangling = in(&folder, "dangling");
    assert_int_equal(symlink("none", dangling), 0);
    (void)snprintf(message, sizeof message, "cannot create the directory %s: Not a directory", file);
    expect_error(pj_directory_create(file, 0777, &err), &err, PJ_ERROR_IO, message);
    (void)snprintf(message, sizeof message, "cannot create the directory %s/a: Not a directory", file);
    expect_error(pj_directory_create(below, 0777, &err), &err, PJ_ERROR_IO, message);
    (void)snprintf(message, sizeof message, "cannot stat %s: No such file or directory", dangling);
    expect_error(pj_directory_create(dangling, 0777, &err), &err, PJ_ERROR_IO, message);
    expect_error(pj_directory_create("/proc/none/a", 0777, &err), &err, PJ_ERROR_IO,
                 "cannot create the directory /proc/none: No such file or directory");
}

static void test_open(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a/file", "");
    struct pj_error *err = NULL;
    PJ_CLEANUP_CLOSE int at = -1;
    PJ_CLEANUP_CLOSE int followed = -1;
    int fd = -1;
    expect_success(pj_directory_open(AT_FDCWD, folder.path, false, &at, &err), &err);
    assert_int_equal(fcntl(at, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(symlinkat("a", at, "link"), 0);
    expect_success(pj_directory_open(at, "link", true, &followed, &err), &err);
    expect_error(pj_directory_open(at, "link", false, &fd, &err), &err, PJ_ERROR_IO,
                 "cannot open the directory link: Not a directory");
    expect_error(pj_directory_open(at, "a/file", true, &fd, &err), &err, PJ_ERROR_IO,
                 "cannot open the directory a/file: Not a directory");
    expect_error(pj_directory_open(at, "none", true, &fd, &err), &err, PJ_ERROR_IO,
                 "cannot open the directory none: No such file or directory");
    assert_int_equal(fd, -1);
}

static void test_remove_follows_no_link(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "outside/kept", "");
    folder_write(&folder, "tree/a/b/file", "");
    folder_write(&folder, "tree/.hidden", "");
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_CLOSE int at = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(symlinkat("../outside", at, "tree/link"), 0);
    assert_int_equal(symlinkat("none", at, "tree/dangling"), 0);
    assert_int_equal(mkfifoat(at, "tree/fifo", 0600), 0);
    expect_success(pj_tree_remove(at, "tree", &err), &err);
    PJ_CLEANUP_FREE char *tree = in(&folder, "tree");
    PJ_CLEANUP_FREE char *kept = in(&folder, "outside/kept");
    PJ_CLEANUP_FREE char *link = in(&folder, "link");
    assert_false(exists(tree));
    assert_true(exists(kept));
    assert_int_equal(symlinkat("outside", at, "link"), 0); /* the name itself is a link */
    expect_success(pj_tree_remove(at, "link", &err), &err);
    assert_false(exists(link));
    assert_true(exists(kept));
    expect_success(pj_tree_remove(at, "absent", &err), &err);
    expect_success(pj_tree_remove(at, "outside/kept", &err), &err);
    assert_false(exists(kept));
}

static void test_temporary(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *first = NULL;
    PJ_CLEANUP_FREE char *second = NULL;
    PJ_CLEANUP_FREE char *third = NULL;
    PJ_CLEANUP_FREE char *start = in(&folder, "try-");
    struct stat status;
    expect_success(pj_directory_temporary(folder.path, "try", &first, &err), &err);
    expect_success(pj_directory_temporary(folder.path, "try", &second, &err), &err);
    assert_int_equal(strncmp(first, start, strlen(start)), 0);
    assert_string_not_equal(first, second);
    assert_int_equal(stat(first, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    expect_success(pj_directory_temporary("", "try", &third, &err), &err);
    assert_int_equal(strncmp(third, "/tmp/try-", 9), 0);
    PJ_CLEANUP_FREE char *fourth = NULL;
    PJ_CLEANUP_FREE char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(folder.path), 0);
    int r = pj_directory_temporary(".", "try", &fourth, &err);
    assert_int_equal(chdir(before), 0);
    expect_success(r, &err);
    assert_int_equal(strncmp(fourth, start, strlen(start)), 0);
    assert_int_equal(rmdir(fourth), 0);
    assert_int_equal(rmdir(third), 0);
    assert_int_equal(rmdir(first), 0);
    assert_int_equal(rmdir(second), 0);
    PJ_CLEANUP_FREE char *none = NULL;
    expect_error(pj_directory_temporary("/proc/none", "try", &none, &err), &err, PJ_ERROR_ENVIRONMENT,
                 "cannot make a temporary folder in /proc/none (TMPDIR): No such file or directory");
    assert_null(none);
}

/* 80 folders in each other. */
static void make_deep(int at)
{
    int fd = fcntl(at, F_DUPFD_CLOEXEC, 0);
    for (int i = 0; i < 80; i++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        int next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        pj_close(fd);
        fd = next;
    }
    pj_close(fd);
}

static void test_remove_too_deep(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    struct pj_error *err = NULL;
    PJ_CLEANUP_CLOSE int at = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_deep(at);
    expect_error(pj_tree_remove(at, "d", &err), &err, PJ_ERROR_IO,
                 "cannot remove d: folders are nested too deep");
    /* Cut into two that are not: the folder can be removed. */
    PJ_CLEANUP_BUFFER struct pj_buffer path = {0};
    for (int i = 0; i < 40; i++)
        pj_buffer_puts(&path, i ? "/d" : "d");
    assert_int_equal(renameat(at, pj_buffer_text(&path), at, "e"), 0);
    expect_success(pj_tree_remove(at, "d", &err), &err);
    expect_success(pj_tree_remove(at, "e", &err), &err);
}

static void test_remove_failure(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    expect_error(pj_tree_remove(AT_FDCWD, "/proc/self/status", &err), &err, PJ_ERROR_IO,
                 "cannot open the directory /proc/self/status: Not a directory");
}

static void test_join(void **state)
{
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"a", "/b", "/b"},
        {"", "b", "b"},    {"a", "", "a/"},    {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_FREE char *joined = pj_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
    }
}

static void test_absolute(void **state)
{
    static const char *const cases[][2] = {
        {"/", "/"},  {"/a", "/a"},           {"//a///b/", "/a/b"},           {"/a/./b/.", "/a/b"},
        {"/.", "/"}, {"/a/../b", "/a/../b"}, {"/.a/..b/...", "/.a/..b/..."},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_FREE char *path = NULL;
        assert_int_equal(pj_path_absolute(cases[i][0], &path, NULL), 0);
        assert_string_equal(path, cases[i][1]);
    }
}

static void test_absolute_from_working_directory(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_CLOSE int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *here = NULL;
    PJ_CLEANUP_FREE char *path = NULL;
    PJ_CLEANUP_FREE char *dot = NULL;
    PJ_CLEANUP_FREE char *nowhere = NULL;
    assert_int_equal(chdir(folder.path), 0);
    here = getcwd(NULL, 0);
    expect_success(pj_path_absolute("x//y", &path, &err), &err);
    expect_success(pj_path_absolute(".", &dot, &err), &err);
    assert_int_equal(rmdir(folder.path), 0);
    int gone = pj_path_absolute("x", &nowhere, &err);
    assert_int_equal(fchdir(back), 0);
    PJ_CLEANUP_FREE char *wanted = pj_path_join(here, "x/y");
    assert_string_equal(path, wanted);
    assert_string_equal(dot, here);
    expect_error(gone, &err, PJ_ERROR_IO, "cannot tell the working directory: No such file or directory");
    assert_null(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_not_created),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_temporary),
        cmocka_unit_test(test_remove_follows_no_link),
        cmocka_unit_test(test_remove_too_deep),
        cmocka_unit_test(test_remove_failure),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_absolute),
        cmocka_unit_test(test_absolute_from_working_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
