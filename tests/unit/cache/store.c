/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, the run lock, the folders of a run. */
#include "cache/store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cache/store_private.h"
#include "fixture.h"

static void test_makes_the_directory(void **state)
{
    char *parent = make_cache();
    PJ_CLEANUP_FREE char *cache = pj_path_join(parent, "a/b");
    struct pj_store_options options = fixture_options(cache);
    struct stat status;
    (void)state;
    pj_store_close(open_store(&options, NULL), false);
    assert_int_equal(stat(cache, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    remove_cache(parent);
}

static void refuse(const char *path, int code, const char *format)
{
    struct pj_store_options options = fixture_options(path);
    struct pj_store *store = NULL;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_store_open(&options, &store, &err), code);
    assert_null(store);
    char *message = NULL;
    assert_true(asprintf(&message, "cannot use the cache directory %s: %s", path, format) > 0);
    assert_string_equal(pj_error_message(err), message);
    free(message);
}

static void test_refusals(void **state)
{
    char *cache = make_cache(), *other = make_cache();
    PJ_CLEANUP_FREE char *file = pj_path_join(cache, "file");
    PJ_CLEANUP_FREE char *digit = pj_path_join(cache, "7");
    PJ_CLEANUP_FREE char *prejit = pj_path_join(cache, ".prejit");
    char message[256];
    (void)state;
    (void)close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    (void)snprintf(message, sizeof message, "cannot create the directory %s: Not a directory", file);
    refuse(file, PJ_ERROR_ENVIRONMENT, message);
    assert_int_equal(symlink(other, digit), 0);
    refuse(cache, PJ_ERROR_ENVIRONMENT, "7 in it is a symbolic link, not a directory; remove it");
    assert_int_equal(unlink(digit), 0);
    (void)close(open(digit, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    refuse(cache, PJ_ERROR_ENVIRONMENT, "7 in it is a file, not a directory; remove it");
    assert_int_equal(unlink(digit), 0);
    assert_int_equal(symlink(other, prejit), 0);
    refuse(cache, PJ_ERROR_ENVIRONMENT, "its .prejit cannot be opened as a folder: Not a directory");
    assert_int_equal(rmdir(other), 0);
    free(other);
    remove_cache(cache);
}

/* The cache path itself may be a link. */
static void test_link_to_the_cache(void **state)
{
    char *parent = make_cache(), *cache = make_cache();
    PJ_CLEANUP_FREE char *link = pj_path_join(parent, "link");
    struct pj_store_options options = fixture_options(link);
    (void)state;
    assert_int_equal(symlink(cache, link), 0);
    pj_store_close(open_store(&options, NULL), false);
    expect_index(cache, NULL, 0);
    remove_cache(parent);
    remove_cache(cache);
}

static void test_folders(void **state)
{
    char *cache = make_cache();
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = open_store(&options, NULL);
    const char *first = NULL, *again = NULL, *named = NULL;
    static const char *const bad[] = {"", "t", "w0", "w", "..", ".x", "a/b", "index"};
    (void)state;
    assert_int_equal(pj_store_private_folder(store, 3, &first, NULL), 0);
    assert_int_equal(pj_store_private_folder(store, 3, &again, NULL), 0);
    assert_ptr_equal(first, again);
    assert_memory_equal(first, cache, strlen(cache));
    assert_string_equal(strrchr(first, '/'), "/w3");
    assert_int_equal(access(first, W_OK), 0);
    assert_int_equal(pj_store_named_folder(store, "canary", &named, NULL), 0);
    assert_string_equal(strrchr(named, '/'), "/canary");
    for (size_t i = 0; i < PJ_COUNT(bad); i++)
        assert_int_equal(pj_store_named_folder(store, bad[i], &named, NULL), PJ_ERROR_INTERNAL);
    struct stat a, b;
    assert_int_equal(fstat(pj_store_directory(store), &a), 0);
    assert_int_equal(stat(cache, &b), 0);
    assert_int_equal(a.st_ino, b.st_ino);
    pj_store_close(store, false);
    expect_no_rubbish(cache);
    remove_cache(cache);
}

struct waiting {
    int calls;
    long pid;
};

static void note_wait(void *context, long pid)
{
    struct waiting *waiting = context;
    waiting->calls++;
    waiting->pid = pid;
}

static pid_t hold_store(const char *cache, int ms)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct pj_store_options options = fixture_options(cache);
        struct pj_store *store = NULL;
        if (pj_store_open(&options, &store, NULL) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        (void)usleep((useconds_t)ms * 1000);
        pj_store_close(store, false);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

static void test_run_lock(void **state)
{
    char *cache = make_cache();
    struct waiting waiting = {.calls = 0};
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = NULL;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char message[256];
    (void)state;
    options.on_wait = note_wait;
    options.context = &waiting;
    pid_t pid = hold_store(cache, 300);
    assert_int_equal(pj_store_open(&options, &store, &err), PJ_ERROR_BUSY);
    (void)snprintf(message, sizeof message,
                   "cannot lock the cache %s: process %ld works on it now; wait for "
                   "it, or wait longer with --wait",
                   cache, (long)pid);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(waiting.calls, 0);
    options.lock_wait_ms = 10000;
    assert_int_equal(pj_store_open(&options, &store, NULL), 0);
    assert_int_equal(waiting.calls, 1);
    assert_int_equal(waiting.pid, pid);
    pj_store_close(store, false);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect_no_rubbish(cache);
    remove_cache(cache);
}

static void test_run_names(void **state)
{
    static const char *const bad[] = {"run-",      "run-1",    "run-1-",   "run-x-1",
                                      "run-1-x",   "run-1-2x", "run--1-2", "run-1-2.",
                                      "run-1-2.x", "run- 1-2", "walk-1-2", "run-1-2.3.4"};
    long pid = 0;
    uint64_t ticks = 0;
    bool superseded = true;
    (void)state;
    assert_true(pj_run_name_parse("run-12-345", &pid, &ticks, &superseded));
    assert_int_equal(pid, 12);
    assert_int_equal(ticks, 345);
    assert_false(superseded);
    assert_true(pj_run_name_parse("run-12-345.6", &pid, &ticks, &superseded));
    assert_true(superseded);
    for (size_t i = 0; i < PJ_COUNT(bad); i++) {
        if (pj_run_name_parse(bad[i], &pid, &ticks, &superseded))
            fail_msg("%s was taken", bad[i]);
    }
    char name[64];
    assert_true(pj_run_start_time(getpid(), &ticks));
    (void)snprintf(name, sizeof name, "run-%ld-%llu", (long)getpid(), (unsigned long long)ticks);
    assert_true(pj_run_is_alive(name));
    (void)snprintf(name, sizeof name, "run-%ld-%llu", (long)getpid(), (unsigned long long)ticks + 1);
    assert_false(pj_run_is_alive(name));
    (void)snprintf(name, sizeof name, "run-%ld-%llu.0", (long)getpid(), (unsigned long long)ticks);
    assert_false(pj_run_is_alive(name));
    assert_false(pj_run_is_alive("run-999999999-1"));
}

/* A run that was killed and that nobody has waited for yet is in /proc all the same. */
static void test_a_zombie_is_dead(void **state)
{
    siginfo_t info;
    uint64_t ticks = 0;
    char name[64];
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(pj_run_start_time(pid, &ticks));
    (void)snprintf(name, sizeof name, "run-%ld-%llu", (long)pid, (unsigned long long)ticks);
    assert_false(pj_run_is_alive(name));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_close_accepts_null(void **state)
{
    (void)state;
    pj_store_close(NULL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_makes_the_directory),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_link_to_the_cache),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_run_lock),
        cmocka_unit_test(test_run_names),
        cmocka_unit_test(test_a_zombie_is_dead),
        cmocka_unit_test(test_close_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
