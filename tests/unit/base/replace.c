/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic replacement: the old file or the new one, never another, and no temporary file left. */
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Names in the folder, "." and ".." not counted. */
static size_t count_names(const struct folder *folder)
{
    PJ_CLEANUP_CLOSEDIR DIR *directory = opendir(folder->path);
    size_t count = 0;
    assert_non_null(directory);
    for (const struct dirent *item; (item = readdir(directory)) != NULL;)
        count += item->d_name[0] != '.';
    return count;
}

static void expect_content(const struct folder *folder, const char *name, const char *text)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &bytes, NULL), 0);
    assert_string_equal(pj_buffer_text(&bytes), text);
}

static int folder_open(const struct folder *folder)
{
    int fd = -1;
    assert_int_equal(pj_directory_open(AT_FDCWD, folder->path, true, &fd, NULL), 0);
    return fd;
}

static void test_new_and_old(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct stat status;
    mode_t old_mask = umask(022);
    expect_success(pj_file_replace(at, "a", "first", 5, 0666, &err), &err);
    (void)umask(old_mask);
    expect_content(&folder, "a", "first");
    assert_int_equal(fstatat(at, "a", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    ino_t first = status.st_ino;
    PJ_CLEANUP_CLOSE int reader = openat(at, "a", O_RDONLY | O_CLOEXEC);
    expect_success(pj_file_replace(at, "a", "", 0, 0600, &err), &err);
    expect_content(&folder, "a", "");
    assert_int_equal(fstatat(at, "a", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    char bytes[5]; /* whoever reads the old one goes on reading the old one */
    assert_int_equal(pj_file_pread(reader, "a", bytes, 5, 0, NULL), 0);
    assert_memory_equal(bytes, "first", 5);
    assert_int_equal(fstat(reader, &status), 0);
    assert_true(status.st_ino == first);
    assert_int_equal(count_names(&folder), 1);
}

static void test_link_is_replaced(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "target", "mine");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    struct stat status;
    assert_int_equal(symlinkat("target", at, "a"), 0);
    assert_int_equal(pj_file_replace(at, "a", "new", 3, 0644, NULL), 0);
    expect_content(&folder, "a", "new");
    expect_content(&folder, "target", "mine");
    assert_int_equal(fstatat(at, "a", &status, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISREG(status.st_mode));
}

/* The name that a message has in front of its random part, and what stands behind it. */
static void expect_temporary(int result, struct pj_error **err, const char *before, const char *behind)
{
    const char *message = pj_error_message(*err);
    assert_int_equal(result, PJ_ERROR_IO);
    assert_int_equal(strlen(message), strlen(before) + 16 + strlen(behind));
    assert_memory_equal(message, before, strlen(before));
    assert_int_equal(strspn(message + strlen(before), "0123456789abcdef"), 16);
    assert_string_equal(message + strlen(before) + 16, behind);
    pj_error_clear(err);
}

static void test_failures_leave_nothing(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "folder/a", "kept");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_temporary(pj_file_replace(at, "folder", "x", 1, 0644, &err), &err, "cannot rename folder.",
                     " to folder: Is a directory");
    expect_temporary(pj_file_replace(at, "none/a", "x", 1, 0644, &err), &err, "cannot create none/a.",
                     ": No such file or directory");
    assert_int_equal(count_names(&folder), 1);
    expect_content(&folder, "folder/a", "kept");
}

/* A child process that may not write more than 4 bytes: the disk is "full" in the middle. */
static int replace_on_a_full_disk(int at)
{
    struct rlimit limit = {4, 4};
    struct pj_error *err = NULL;
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 10;
    if (pj_file_replace(at, "a", "longer", 6, 0644, &err) != PJ_ERROR_IO || err->errnum != EFBIG)
        return 11;
    pj_error_clear(&err);
    return 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "old");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    pid_t child = fork();
    if (child == 0)
        _exit(replace_on_a_full_disk(at));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_content(&folder, "a", "old");
    assert_int_equal(count_names(&folder), 1);
}

/* What cannot be replaced is told beforehand; what can be stays as it is. */
static void test_check(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "folder/a", "kept");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char longest[NAME_MAX + 1], message[NAME_MAX + 64];
    expect_success(pj_file_check_replace(at, "new", &err), &err);
    expect_success(pj_file_check_replace(at, "folder/new", &err), &err);
    expect_success(pj_file_check_replace(at, "folder/a", &err), &err);
    assert_int_equal(symlinkat("folder", at, "link"), 0); /* a link goes, whatever it leads to */
    expect_success(pj_file_check_replace(at, "link", &err), &err);
    static const struct {
        const char *name, *message;
        int errnum;
    } cases[] = {
        {"folder", "cannot replace folder: Is a directory", EISDIR},
        {"none/a", "cannot write none/a: No such file or directory", ENOENT},
        {"folder/a/b", "cannot write folder/a/b: Not a directory", ENOTDIR},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        assert_int_equal(pj_file_check_replace(at, cases[i].name, &err), PJ_ERROR_IO);
        assert_string_equal(pj_error_message(err), cases[i].message);
        assert_int_equal(err->errnum, cases[i].errnum);
        pj_error_clear(&err);
    }
    memset(longest, 'x', NAME_MAX); /* its temporary file's name would be longer than a name may be */
    longest[NAME_MAX] = '\0';
    (void)snprintf(message, sizeof message, "cannot write %s: File name too long", longest);
    assert_int_equal(pj_file_check_replace(at, longest, &err), PJ_ERROR_IO);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(count_names(&folder), 2);
    expect_content(&folder, "folder/a", "kept");
    assert_int_equal(unlinkat(at, "folder/a", 0), 0);
    assert_int_equal(unlinkat(at, "folder", AT_REMOVEDIR), 0); /* nothing was left in it */
}

/* False where attributes cannot be set. */
static bool check_with_attribute(int attribute)
{
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    folder_make(&folder);
    folder_write(&folder, "a", "kept");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_CLOSE int fd = openat(at, "a", O_RDONLY | O_CLOEXEC);
    int before = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &before) != 0)
        return false;
    int with = before | attribute;
    if (ioctl(fd, FS_IOC_SETFLAGS, &with) != 0)
        return false;
    int r = pj_file_check_replace(at, "a", &err);
    assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &before), 0);
    assert_int_equal(r, PJ_ERROR_IO);
    assert_string_equal(pj_error_message(err), "cannot replace a: Operation not permitted");
    expect_content(&folder, "a", "kept");
    return true;
}

/* Needs the right to give a file such attributes, and a file system that has them. */
static void test_check_of_a_file_that_must_stay(void **state)
{
    (void)state;
    if (!check_with_attribute(FS_IMMUTABLE_FL) || !check_with_attribute(FS_APPEND_FL))
        skip();
}

static void test_temporary_length(void **state)
{
    (void)state;
    assert_int_equal(pj_file_temporary_length("a.0123456789abcdef"), 1);
    assert_int_equal(pj_file_temporary_length("k.sm_90.cubin.ffffffffffffffff"), strlen("k.sm_90.cubin"));
    assert_int_equal(pj_file_temporary_length("a.0123456789abcdef.0123456789abcdef"), 18);
    static const char *const others[] = {"",
                                         "a",
                                         ".0123456789abcdef",
                                         "0123456789abcdef",
                                         "a0123456789abcdef",
                                         "a-0123456789abcdef",
                                         "a.0123456789abcde",
                                         "a.0123456789abcdef0",
                                         "a.0123456789abcdeF",
                                         "a.0123456789abcdeg"};
    for (size_t i = 0; i < PJ_COUNT(others); i++)
        assert_int_equal(pj_file_temporary_length(others[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_and_old),
        cmocka_unit_test(test_link_is_replaced),
        cmocka_unit_test(test_failures_leave_nothing),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_of_a_file_that_must_stay),
        cmocka_unit_test(test_temporary_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
