/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that take shared locks on `index`, as the driver does, beside a writer: neither keeps the other
 * out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/memory.h"
#include "driver.h"
#include "fixture.h"
#include "index_bytes.h"

enum { READERS = 4, ITEMS = 12, HOLD_US = 4000 };

/* As the driver: opens `index` anew for each load, tries for the shared lock every 10 ms, at most 20 times.
 */
static bool hold_shared(const char *index, useconds_t hold_us)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    PJ_CLEANUP_CLOSE int fd = open(index, O_RDWR | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < 20; i++) {
        if (fcntl(fd, F_SETLK, &lock) == 0) {
            (void)usleep(hold_us);
            return true;
        }
        (void)usleep(10000);
    }
    return false;
}

/* Exit status: 0 where it was never kept out. */
static pid_t start_reader(const char *cache, useconds_t hold_us)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char *index = NULL;
    if (asprintf(&index, "%s/index", cache) < 0)
        _exit(3);
    for (int i = 0; i < 1000000; i++) {
        if (path_exists(cache, "stop"))
            _exit(0);
        if (!hold_shared(index, hold_us))
            _exit(1);
    }
    _exit(2);
}

static void stop(const char *cache, const pid_t *readers, size_t count)
{
    PJ_CLEANUP_FREE char *name = NULL;
    assert_true(asprintf(&name, "%s/stop", cache) > 0);
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    for (size_t i = 0; i < count; i++) {
        int status;
        assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void test_readers_without_pause(void **state)
{
    char *cache = make_cache();
    uint64_t hashes[1 + ITEMS] = {put_entry(cache, STAMP, "first", 200)};
    pid_t readers[READERS];
    struct stat status;
    PJ_CLEANUP_FREE char *index = NULL;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    (void)state;
    put_index(cache, hashes, 1);
    assert_true(asprintf(&index, "%s/index", cache) > 0);
    assert_int_equal(chmod(index, 0640), 0);
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = start_reader(cache, HOLD_US);
        (void)usleep(HOLD_US / READERS); /* out of step with each other */
    }
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = open_store(&options, NULL);
    struct pj_commit_item items[ITEMS];
    for (size_t i = 0; i < ITEMS; i++) {
        char image[32];
        (void)snprintf(image, sizeof image, "ours %zu", i);
        items[i] = put_item(store, 0, STAMP, image, 300);
        hashes[1 + i] = items[i].hash;
    }
    if (pj_store_commit(store, STAMP, items, ITEMS, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    struct pj_store_statistics statistics;
    pj_store_statistics(store, &statistics);
    pj_store_close(store, false);
    stop(cache, readers, READERS);
    assert_true(statistics.longest_wait_ms < 20000);
    expect_index(cache, hashes, 1 + ITEMS);
    assert_int_equal(stat(index, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    expect_no_rubbish(cache);
    remove_cache(cache);
}

static void put_dead_records(const char *cache, uint64_t alive, size_t dead)
{
    PJ_CLEANUP_FREE struct pj_index_record *records = calloc(1 + dead, sizeof *records);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    assert_non_null(records);
    records[0] = (struct pj_index_record){.hash = alive, .size = entry_bytes(cache, alive) - 28};
    for (size_t i = 1; i <= dead; i++) /* each of them twice */
        records[i] = (struct pj_index_record){.hash = i / 2 * UINT64_C(0x9e3779b97f4a7c15), .size = 1};
    const struct pj_index index = {.records = records, .count = 1 + dead};
    index_bytes(&index, &bytes);
    assert_int_equal(pj_buffer_check(&bytes, NULL), 0);
    put_index_bytes(cache, bytes.data, bytes.size);
}

/* Cleaning takes many holds; between them a program gets in that tries as often as the driver. */
static void test_many_dead_records(void **state)
{
    enum { DEAD = 100000, READ_US = 300 };
    char *cache = make_cache();
    uint64_t hash = put_entry(cache, STAMP, "first", 200);
    struct pj_store_preparation done;
    (void)state;
    put_dead_records(cache, hash, DEAD);
    pid_t reader = start_reader(cache, READ_US);
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = open_store(&options, &done);
    pj_store_close(store, false);
    stop(cache, &reader, 1);
    assert_int_equal(done.records_dropped, DEAD);
    expect_index(cache, &hash, 1);
    remove_cache(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers_without_pause),
                                       cmocka_unit_test(test_many_dead_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
