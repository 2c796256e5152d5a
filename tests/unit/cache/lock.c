/* SPDX-License-Identifier: Apache-2.0 */
/* The lock excludes the driver's, waits its turn, and gives up in time. */
#include "cache/lock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"

static char path[] = "/tmp/prejit-lock-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* A child that takes the driver's kind of lock, says so, and holds it for `ms`. */
static pid_t hold(short type, int ms)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
        struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
        if (fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        (void)nanosleep(&pause, NULL);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static bool driver_gets(short type)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
        _exit(fcntl(fd, F_SETLK, &lock) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_excludes(void **state)
{
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    (void)state;
    assert_int_equal(pj_lock_take(fd, true, 1000, NULL), 0);
    assert_false(driver_gets(F_RDLCK));
    pj_lock_drop(fd);
    assert_true(driver_gets(F_WRLCK));
    assert_int_equal(pj_lock_take(fd, false, 1000, NULL), 0);
    assert_true(driver_gets(F_RDLCK));
    assert_false(driver_gets(F_WRLCK));
    /* closing another descriptor of the file would drop a POSIX lock */
    (void)close(open(path, O_RDWR | O_CLOEXEC));
    assert_false(driver_gets(F_WRLCK));
}

static void test_waits(void **state)
{
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    pid_t pid = hold(F_RDLCK, 150);
    double start = pj_clock_ms();
    (void)state;
    assert_int_equal(pj_lock_take(fd, true, 5000, NULL), 0);
    double waited = pj_clock_ms() - start;
    assert_true(waited > 50 && waited < 2500);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(driver_gets(F_RDLCK));
}

static void test_gives_up(void **state)
{
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    pid_t pid = hold(F_WRLCK, 60000);
    char message[160];
    double start = pj_clock_ms();
    (void)state;
    assert_int_equal(pj_lock_take(fd, true, 100, &err), PJ_ERROR_BUSY);
    assert_true(pj_clock_ms() - start < 2500);
    (void)snprintf(message, sizeof message,
                   "cannot lock index: process %ld held it for the 100 ms that were waited; end that process "
                   "or try again",
                   (long)pid);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* nothing is left of the wait: the lock is free */
    assert_true(driver_gets(F_WRLCK));
    assert_int_equal(pj_lock_take(fd, true, 0, NULL), 0);
}

static void test_gives_up_on_others(void **state)
{
    PJ_CLEANUP_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    PJ_CLEANUP_CLOSE int other = open(path, O_RDWR | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    (void)state;
    assert_int_equal(pj_lock_take(other, true, 0, NULL), 0);
    assert_int_equal(pj_lock_take(fd, false, 20, &err), PJ_ERROR_BUSY);
    assert_string_equal(pj_error_message(err),
                        "cannot lock index: other processes held it for the 20 ms that were waited; try "
                        "again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excludes),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_gives_up_on_others),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
