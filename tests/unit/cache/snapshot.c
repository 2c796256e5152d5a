/* SPDX-License-Identifier: Apache-2.0 */
/* What a snapshot sees, and what it passes over. */
#include "cache/snapshot.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "fixture.h"

static void test_absent(void **state)
{
    struct pj_snapshot snapshot;
    (void)state;
    assert_int_equal(pj_snapshot_take("/tmp/prejit-no-such-cache/x", &snapshot, NULL), 0);
    assert_false(snapshot.exists);
    assert_int_equal(snapshot.index_state, PJ_INDEX_ABSENT);
    assert_null(pj_snapshot_find(&snapshot, 1));
    pj_snapshot_free(&snapshot);
}

static void touch(int fd, const char *name)
{
    int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    (void)close(file);
}

static void test_listing(void **state)
{
    char *cache = make_cache();
    uint64_t hashes[3] = {put_entry(cache, STAMP, "a", 100), put_entry(cache, STAMP, "b", 200),
                          put_entry(cache, STAMP, "c", 300)};
    struct pj_snapshot snapshot;
    PJ_CLEANUP_CLOSE int fd = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    put_index(cache, hashes + 1, 2);
    /* names that are none of the driver's */
    assert_int_equal(mkdirat(fd, ".prejit", 0700), 0);
    assert_int_equal(mkdirat(fd, "g", 0700), 0);
    assert_int_equal(mkdirat(fd, "A", 0700), 0);
    touch(fd, "README");
    assert_true(mkdirat(fd, "0", 0700) == 0 || faccessat(fd, "0", F_OK, 0) == 0);
    touch(fd, "0/1");
    assert_true(mkdirat(fd, "0/0", 0700) == 0 || faccessat(fd, "0/0", F_OK, 0) == 0);
    touch(fd, "0/0/0123456789abc");   /* 13 digits */
    touch(fd, "0/0/0123456789abcde"); /* 15 */
    touch(fd, "0/0/0123456789ABCD");  /* upper case */
    touch(fd, "0/0/0123456789abcd.x");
    assert_int_equal(symlinkat("../../README", fd, "0/0/00000000000001"), 0);
    assert_int_equal(mkdirat(fd, "0/0/00000000000002", 0700), 0);
    assert_int_equal(pj_snapshot_take(cache, &snapshot, NULL), 0);
    assert_true(snapshot.exists);
    assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
    assert_int_equal(snapshot.count, 3);
    uint64_t bytes = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct pj_snapshot_entry *entry = pj_snapshot_find(&snapshot, hashes[i]);
        assert_non_null(entry);
        assert_int_equal(entry->size, entry_bytes(cache, hashes[i]));
        assert_int_equal(entry->index_position, i == 0 ? PJ_NOT_LISTED : i - 1);
        bytes += entry->size;
        if (i > 0)
            assert_true(snapshot.entries[i - 1].hash < snapshot.entries[i].hash);
    }
    assert_int_equal(snapshot.bytes, bytes);
    assert_null(pj_snapshot_find(&snapshot, hashes[0] + 1));
    pj_snapshot_free(&snapshot);
    remove_cache(cache);
}

static void test_hash_directory_link(void **state)
{
    char *cache = make_cache(), *other = make_cache();
    uint64_t hash = put_entry(other, STAMP, "a", 100);
    struct pj_snapshot snapshot;
    char digit[2] = {"0123456789abcdef"[hash >> 60], '\0'};
    PJ_CLEANUP_FREE char *target = pj_path_join(other, digit);
    PJ_CLEANUP_FREE char *link = pj_path_join(cache, digit);
    (void)state;
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(pj_snapshot_take(cache, &snapshot, NULL), 0);
    assert_int_equal(snapshot.count, 0);
    pj_snapshot_free(&snapshot);
    remove_cache(cache);
    assert_true(entry_exists(other, hash));
    remove_cache(other);
}

static void test_not_a_directory(void **state)
{
    char *cache = make_cache();
    PJ_CLEANUP_FREE char *file = pj_path_join(cache, "index");
    struct pj_snapshot snapshot;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL, *fifo = NULL;
    char message[256];
    (void)state;
    put_index_bytes(cache, "", 0);
    assert_int_equal(pj_snapshot_take(file, &snapshot, &err), PJ_ERROR_IO);
    (void)snprintf(message, sizeof message, "cannot open the cache directory %s: Not a directory", file);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_int_equal(pj_snapshot_take(cache, &snapshot, &fifo), PJ_ERROR_IO);
    (void)snprintf(message, sizeof message, "cannot read the cache %s: index is a FIFO, not a regular file",
                   cache);
    assert_string_equal(pj_error_message(fifo), message);
    remove_cache(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_hash_directory_link),
        cmocka_unit_test(test_not_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
