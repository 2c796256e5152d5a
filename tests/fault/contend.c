/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that read and store in the driver's way while a run commits in rounds: nothing is lost on either
 * side, and nobody is kept out for as long as makes the driver give up. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "driver.h"
#include "fixture.h"

enum { OURS = 200, ROUND = 20, STORES = 40, READERS = 3 };

/* Exit status: 0, or 1 where a read gave up or found nothing. Reads until a file says stop. */
static pid_t start_reader(const char *cache, uint64_t hash)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (int i = 0; i < 5000; i++) {
        if (path_exists(cache, "stop"))
            _exit(0);
        if (!driver_read(cache, hash))
            _exit(1);
        (void)usleep(2000);
    }
    _exit(2);
}

static void foreign_image(int i, char ret_image[32])
{
    (void)snprintf(ret_image, 32, "program's %d", i);
}

/* Exit status: how many stores gave up. */
static pid_t start_writer(const char *cache)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int lost = 0;
    for (int i = 0; i < STORES; i++) {
        char image[32];
        struct pj_buffer bytes = {.data = NULL};
        foreign_image(i, image);
        uint64_t hash = make_entry_bytes(STAMP, 90, image, 200, &bytes);
        lost += !driver_store(cache, hash, bytes.data, bytes.size, UINT64_C(1) << 30);
        pj_buffer_free(&bytes);
        (void)usleep(5000);
    }
    _exit(lost);
}

static int wait_for(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void commit_in_rounds(const char *cache, uint64_t *ret_hashes, double *ret_longest_hold_ms)
{
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = open_store(&options, NULL);
    for (size_t done = 0; done < OURS; done += ROUND) {
        struct pj_commit_item items[ROUND];
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        for (size_t i = 0; i < ROUND; i++) {
            char image[32];
            (void)snprintf(image, sizeof image, "ours %zu", done + i);
            items[i] = put_item(store, 0, STAMP, image, 300);
            ret_hashes[done + i] = items[i].hash;
        }
        if (pj_store_commit(store, STAMP, items, ROUND, &err) < 0)
            fail_msg("%s", pj_error_message(err));
        for (size_t i = 0; i < ROUND; i++)
            assert_int_equal(items[i].result, PJ_COMMIT_STORED);
    }
    struct pj_store_statistics statistics;
    pj_store_statistics(store, &statistics);
    assert_true(statistics.lock_holds >= OURS / ROUND);
    *ret_longest_hold_ms = statistics.longest_hold_ms;
    pj_store_close(store, false);
}

static void test_nobody_loses(void **state)
{
    static uint64_t hashes[OURS];
    char *cache = make_cache();
    uint64_t first = put_entry(cache, STAMP, "first", 200);
    pid_t readers[READERS];
    double longest_hold_ms = 0;
    (void)state;
    put_index(cache, &first, 1);
    for (size_t i = 0; i < READERS; i++)
        readers[i] = start_reader(cache, first);
    pid_t writer = start_writer(cache);
    commit_in_rounds(cache, hashes, &longest_hold_ms);
    assert_int_equal(wait_for(writer), 0);
    PJ_CLEANUP_FREE char *stop = NULL;
    assert_true(asprintf(&stop, "%s/stop", cache) > 0);
    FILE *file = fopen(stop, "w");
    assert_non_null(file);
    (void)fclose(file);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(wait_for(readers[i]), 0);
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(cache, &snapshot, NULL), 0);
    assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
    assert_int_equal(snapshot.index.count, 1 + OURS + STORES);
    assert_int_equal(snapshot.count, 1 + OURS + STORES);
    for (size_t i = 0; i < snapshot.count; i++) {
        assert_int_not_equal(snapshot.entries[i].index_position, PJ_NOT_LISTED);
        assert_int_equal(entry_state(cache, snapshot.entries[i].hash), PJ_ENTRY_SOUND);
    }
    for (size_t i = 0; i < OURS; i++)
        assert_non_null(pj_snapshot_find(&snapshot, hashes[i]));
    for (int i = 0; i < STORES; i++) {
        char image[32];
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
        foreign_image(i, image);
        assert_non_null(pj_snapshot_find(&snapshot, make_entry_bytes(STAMP, 90, image, 200, &bytes)));
    }
    pj_snapshot_free(&snapshot);
    /* how long is judged on a GPU machine, not by a clock that other work disturbs */
    assert_true(longest_hold_ms > 0);
    expect_no_rubbish(cache);
    remove_cache(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_loses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
