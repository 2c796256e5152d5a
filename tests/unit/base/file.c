/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing of files: short ones, too large ones, and what is no regular file. */
#include "folder.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

static int folder_open(const struct folder *folder)
{
    int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_read(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write_bytes(&folder, "a", "x\0y", 3);
    folder_write(&folder, "empty", "");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    pj_buffer_puts(&bytes, "before:");
    expect_success(pj_file_read(at, "a", 3, &bytes, &err), &err);
    expect_success(pj_file_read(at, "empty", 0, &bytes, &err), &err);
    assert_int_equal(bytes.size, 10);
    assert_memory_equal(bytes.data, "before:x\0y", 11);
    assert_int_equal(symlinkat("a", at, "link"), 0); /* a link to a regular file is one */
    pj_buffer_reset(&bytes);
    expect_success(pj_file_read(at, "link", 3, &bytes, &err), &err);
    assert_int_equal(bytes.size, 3);
}

static void expect_not_read(int at, const char *name, uint64_t maximum, int errnum, const char *message)
{
    struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_file_read(at, name, maximum, &bytes, &err);
    assert_int_equal(err ? err->errnum : 0, errnum);
    expect_error(r, &err, PJ_ERROR_IO, message);
    assert_int_equal(bytes.size, 0);
    assert_int_equal(pj_file_read(at, name, maximum, &bytes, NULL), PJ_ERROR_IO);
}

static void test_not_read(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "123");
    folder_write(&folder, "folder/a", "");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    expect_not_read(at, "a", 2, EFBIG, "a has 3 bytes, more than the 2 allowed");
    expect_not_read(at, "b", 2, ENOENT, "cannot open b: No such file or directory");
    expect_not_read(at, "a/b", 2, ENOTDIR, "cannot open a/b: Not a directory");
    expect_not_read(at, "folder", 2, EINVAL, "folder is a directory, not a regular file");
    expect_not_read(at, "/dev/null", 2, EINVAL, "/dev/null is a device, not a regular file");
    assert_int_equal(symlinkat("loop", at, "loop"), 0);
    expect_not_read(at, "loop", 2, ELOOP, "cannot open loop: Too many levels of symbolic links");
    /* Nobody writes into it: an open that waits would wait for ever. */
    assert_int_equal(mkfifoat(at, "fifo", 0600), 0);
    expect_not_read(at, "fifo", 2, EINVAL, "fifo is a FIFO, not a regular file");
}

static void test_socket_not_read(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/s", folder.path);
    if (length >= (int)sizeof address.sun_path)
        skip(); /* TMPDIR is too long for a socket's name */
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    expect_not_read(at, "s", 2, ENXIO, "cannot open s: No such device or address");
}

static void test_read_descriptor(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "0123456789");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_CLOSE int fd = openat(at, "a", O_RDONLY | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    expect_success(pj_file_read_fd(fd, "the image", 10, &bytes, &err), &err);
    assert_string_equal(pj_buffer_text(&bytes), "0123456789");
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 4);
    expect_error(pj_file_read_fd(fd, "the image", 9, &bytes, &err), &err, PJ_ERROR_IO,
                 "the image has 10 bytes, more than the 9 allowed");
    expect_error(pj_file_read_fd(-1, "the image", 9, &bytes, &err), &err, PJ_ERROR_IO,
                 "cannot stat the image: Bad file descriptor");
    PJ_CLEANUP_CLOSE int write_only = openat(at, "a", O_WRONLY | O_CLOEXEC);
    expect_error(pj_file_read_fd(write_only, "the image", 10, &bytes, &err), &err, PJ_ERROR_IO,
                 "cannot read the image: Bad file descriptor");
    assert_string_equal(pj_buffer_text(&bytes), "0123456789"); /* what was there stays */
}

static void test_read_special(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    expect_success(pj_file_read_special(AT_FDCWD, "/proc/self/status", 1 << 20, &bytes, &err), &err);
    assert_memory_equal(pj_buffer_text(&bytes), "Name:\t", 6);
    expect_error(pj_file_read_special(AT_FDCWD, "/dev/zero", 10000, &bytes, &err), &err, PJ_ERROR_IO,
                 "/dev/zero has 12288 bytes, more than the 10000 allowed");
    expect_error(pj_file_read_special(AT_FDCWD, "/proc/self/none", 10, &bytes, &err), &err, PJ_ERROR_IO,
                 "cannot open /proc/self/none: No such file or directory");
    expect_error(pj_file_read_special(AT_FDCWD, "/proc/self", 10, &bytes, &err), &err, PJ_ERROR_IO,
                 "cannot read /proc/self: Is a directory");
}

static void test_pread_pwrite(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "0123456789");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_CLOSE int fd = openat(at, "a", O_RDWR | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char bytes[8] = "";
    expect_success(pj_file_pread(fd, "a", bytes, 3, 7, &err), &err);
    assert_memory_equal(bytes, "789", 3);
    expect_error(pj_file_pread(fd, "a", bytes, 4, 7, &err), &err, PJ_ERROR_IO,
                 "a ends at byte 10, 4 bytes were expected from 7");
    assert_int_equal(pj_file_pread(fd, "a", bytes, 1, 100, &err), PJ_ERROR_IO);
    assert_int_equal(err->errnum, 0);
    assert_string_equal(pj_error_message(err), "a ends at byte 100, 1 bytes were expected from 100");
    pj_error_clear(&err);
    expect_error(pj_file_pread(fd, "a", bytes, 1, UINT64_MAX, &err), &err, PJ_ERROR_IO,
                 "cannot read a: Invalid argument");
    expect_success(pj_file_pwrite(fd, "a", "ab", 2, 12, &err), &err);
    expect_success(pj_file_pread(fd, "a", bytes, 5, 9, &err), &err);
    assert_memory_equal(bytes, "9\0\0ab", 5);
    PJ_CLEANUP_CLOSE int read_only = openat(at, "a", O_RDONLY | O_CLOEXEC);
    expect_error(pj_file_pwrite(read_only, "a", "x", 1, 0, &err), &err, PJ_ERROR_IO,
                 "cannot write a: Bad file descriptor");
}

static void test_open_regular(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "12345");
    PJ_CLEANUP_CLOSE int at = folder_open(&folder);
    PJ_CLEANUP_CLOSE int fd = -1;
    struct stat status;
    assert_int_equal(pj_file_open_regular(at, ".", &fd, &status, NULL), PJ_ERROR_IO);
    assert_int_equal(fd, -1);
    assert_int_equal(pj_file_open_regular(at, "a", &fd, &status, NULL), 0);
    assert_int_equal(status.st_size, 5);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void test_close(void **state)
{
    (void)state;
    errno = EDOM;
    pj_close(-1);
    pj_close(1 << 20);
    assert_int_equal(errno, EDOM);
    int fd = 4711;
    assert_int_equal(PJ_STEAL_FD(fd), 4711);
    assert_int_equal(fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_not_read),
        cmocka_unit_test(test_socket_not_read),
        cmocka_unit_test(test_read_descriptor),
        cmocka_unit_test(test_read_special),
        cmocka_unit_test(test_pread_pwrite),
        cmocka_unit_test(test_open_regular),
        cmocka_unit_test(test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
