/* SPDX-License-Identifier: Apache-2.0 */
/* S0: every state of the index is made one that the driver accepts, and no sound file is lost. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "driver.h"
#include "fixture.h"

enum { FILES = 3 };

struct place {
    char *cache;
    uint64_t hashes[FILES];
    unsigned char index[16 + 16 * FILES + 16];
};

/* Three entries whose times of storing go against the order of their hashes, and their valid index. */
static int set_up(void **state)
{
    static const char *const images[FILES] = {"a", "b", "c"};
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->cache = make_cache();
    for (size_t i = 0; i < FILES; i++)
        place->hashes[i] = put_entry(place->cache, STAMP, images[i], 100 + i);
    for (size_t i = 0; i < FILES; i++) {
        char path[PJ_ENTRY_PATH_TEXT];
        PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(place->hashes[i], path));
        struct timespec times[2] = {{.tv_sec = 1000 + (time_t)i}, {.tv_sec = 1000 + (time_t)i}};
        assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    }
    put_index(place->cache, place->hashes, FILES);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(pj_file_read(AT_FDCWD, index, 4096, &bytes, NULL), 0);
    assert_int_equal(bytes.size, 16 + 16 * FILES);
    memcpy(place->index, bytes.data, bytes.size);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    remove_cache(place->cache);
    free(place);
    return 0;
}

static struct pj_store_preparation prepare(const char *cache)
{
    struct pj_store_preparation done;
    struct pj_store_options options = fixture_options(cache);
    pj_store_close(open_store(&options, &done), false);
    expect_no_rubbish(cache);
    return done;
}

/* Each as a driver would meet it right after: nothing may be lost at an open or at a store. */
static void expect_all_safe(const struct place *place)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    uint64_t added = make_entry_bytes(STAMP, 90, "stored later", 50, &bytes);
    assert_true(driver_read(place->cache, place->hashes[0]));
    assert_true(driver_store(place->cache, added, bytes.data, bytes.size, UINT64_C(1) << 30));
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(entry_state(place->cache, place->hashes[i]), PJ_ENTRY_SOUND);
    uint64_t all[FILES + 1] = {place->hashes[0], place->hashes[1], place->hashes[2], added};
    expect_index(place->cache, all, FILES + 1);
}

static void test_valid_is_left_alone(void **state)
{
    struct place *place = *state;
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_VALID);
    assert_false(done.index_repaired);
    assert_true(done.can_commit);
    assert_int_equal(done.entries_adopted, 0);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(pj_file_read(AT_FDCWD, index, 4096, &bytes, NULL), 0);
    assert_int_equal(bytes.size, 16 + 16 * FILES);
    assert_memory_equal(bytes.data, place->index, bytes.size);
    expect_all_safe(place);
}

static void expect_repair(struct place *place, const void *bytes, size_t size, enum pj_index_state found)
{
    put_index_bytes(place->cache, bytes, size);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, found);
    assert_true(done.index_repaired);
    assert_true(done.can_commit);
    assert_int_equal(done.in_place_danger, 0);
    expect_index(place->cache, place->hashes, FILES);
    expect_all_safe(place);
}

static void test_absent(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(unlink(index), 0);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_ABSENT);
    assert_true(done.index_repaired);
    assert_int_equal(done.entries_adopted, FILES);
    expect_index(place->cache, place->hashes, FILES); /* in the order of their times */
    expect_all_safe(place);
}

static void test_empty(void **state)
{
    expect_repair(*state, "", 0, PJ_INDEX_EMPTY);
}

static void test_under_a_header(void **state)
{
    struct place *place = *state;
    expect_repair(place, place->index, 15, PJ_INDEX_SHORT);
}

static void test_short(void **state)
{
    struct place *place = *state;
    expect_repair(place, place->index, 16 + 16 * FILES - 1, PJ_INDEX_SHORT);
}

static void test_under_a_record(void **state)
{
    struct place *place = *state;
    expect_repair(place, place->index, 31, PJ_INDEX_SHORT);
}

static void test_total_too_high(void **state)
{
    struct place *place = *state;
    place->index[13] = 1;
    expect_repair(place, place->index, 16 + 16 * FILES, PJ_INDEX_TOTAL_WRONG);
}

static void test_total_too_low(void **state)
{
    struct place *place = *state;
    memset(place->index + 8, 0, 8);
    expect_repair(place, place->index, 16 + 16 * FILES, PJ_INDEX_TOTAL_WRONG);
}

/* The order of storing is that of the records, not of the files' times. */
static void test_repair_keeps_order(void **state)
{
    struct place *place = *state;
    unsigned char turned[64];
    memcpy(turned, place->index, 64);
    memcpy(turned + 16, place->index + 48, 16);
    memcpy(turned + 48, place->index + 16, 16);
    turned[8]++;
    put_index_bytes(place->cache, turned, sizeof turned);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_TOTAL_WRONG);
    assert_int_equal(done.entries_adopted, 0);
    uint64_t order[FILES] = {place->hashes[2], place->hashes[1], place->hashes[0]};
    expect_index(place->cache, order, FILES);
}

static void test_unknown_format(void **state)
{
    struct place *place = *state;
    unsigned char before[64];
    place->index[0] = 66;
    memcpy(before, place->index, sizeof before);
    put_index_bytes(place->cache, before, sizeof before);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_UNKNOWN_FORMAT);
    assert_false(done.can_commit);
    assert_int_equal(done.in_place_danger, FILES);
    assert_false(done.index_repaired);
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(pj_file_read(AT_FDCWD, index, 4096, &bytes, NULL), 0);
    assert_int_equal(bytes.size, sizeof before);
    assert_memory_equal(bytes.data, before, sizeof before);
}

static void test_empty_directory(void **state)
{
    char *cache = make_cache();
    (void)state;
    struct pj_store_preparation done = prepare(cache);
    assert_int_equal(done.index_found, PJ_INDEX_ABSENT);
    assert_false(done.index_repaired);
    assert_true(done.can_commit);
    expect_index(cache, NULL, 0);
    remove_cache(cache);
}

static void test_unlisted_is_adopted(void **state)
{
    struct place *place = *state;
    uint64_t order[FILES] = {place->hashes[1], place->hashes[0], place->hashes[2]};
    put_index(place->cache, &place->hashes[1], 1);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_VALID);
    assert_false(done.index_repaired);
    assert_int_equal(done.entries_adopted, 2);
    expect_index(place->cache, order, FILES);
}

static void test_wrong_size_is_put_right(void **state)
{
    struct place *place = *state;
    place->index[24]++; /* the first record's size, and the total with it */
    place->index[8]++;
    put_index_bytes(place->cache, place->index, 64);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_VALID);
    assert_int_equal(done.entries_adopted, 0);
    expect_index(place->cache, place->hashes, FILES);
}

static void test_record_without_file(void **state)
{
    struct place *place = *state;
    char path[PJ_ENTRY_PATH_TEXT];
    PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(place->hashes[1], path));
    assert_int_equal(unlink(file), 0);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.records_dropped, 1);
    uint64_t left[] = {place->hashes[0], place->hashes[2]};
    expect_index(place->cache, left, 2);
}

static void test_rubbish_and_unsound(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_BUFFER struct pj_buffer damaged = {.data = NULL}, wrong = {.data = NULL};
    uint64_t empty = UINT64_C(0x1111111111111111);
    write_entry(place->cache, empty, "", 0);
    uint64_t hash = make_entry_bytes(STAMP, 90, "damaged", 50, &damaged);
    damaged.data[damaged.size - 1] ^= 1;
    write_entry(place->cache, hash, damaged.data, damaged.size);
    /* right checksum, wrong architecture: made for 80 under a key for 90 */
    uint64_t believed = make_entry_bytes(STAMP, 90, "wrong", 50, &wrong);
    struct pj_entry_header header;
    pj_entry_header_read((unsigned char *)wrong.data, &header);
    char *payload = wrong.data + 28 + header.key_bytes;
    payload[3] = '8';
    header.payload_checksum = pj_fnv1a(PJ_FNV_START, payload, header.payload_bytes);
    pj_entry_header_write(&header, (unsigned char *)wrong.data);
    write_entry(place->cache, believed, wrong.data, wrong.size);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.rubbish_removed, 1);
    assert_false(entry_exists(place->cache, empty));
    assert_int_equal(done.entries_unsound, 1);
    assert_int_equal(done.entries_dangerous, 1);
    assert_int_equal(done.dangerous_hash, believed);
    assert_int_equal(done.entries_adopted, 0);
    assert_true(entry_exists(place->cache, hash));
    assert_true(entry_exists(place->cache, believed));
    expect_index(place->cache, place->hashes, FILES);
}

/* An empty file that is listed, as a power cut leaves it. */
static void test_listed_rubbish(void **state)
{
    struct place *place = *state;
    write_entry(place->cache, place->hashes[2], "", 0);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.rubbish_removed, 1);
    expect_index(place->cache, place->hashes, 2);
}

static void test_adoption_keeps_to_the_limit(void **state)
{
    struct place *place = *state;
    struct pj_store_options options = fixture_options(place->cache);
    struct pj_store_preparation done;
    put_index(place->cache, NULL, 0);
    options.limit_bytes =
        entry_bytes(place->cache, place->hashes[1]) + entry_bytes(place->cache, place->hashes[2]) - 2 * 28;
    pj_store_close(open_store(&options, &done), false);
    assert_int_equal(done.entries_adopted, 2);
    expect_index(place->cache, place->hashes + 1, 2); /* the newest */
    assert_true(entry_exists(place->cache, place->hashes[0]));
}

static void test_index_mode_follows_entries(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    struct stat status;
    for (size_t i = 0; i < FILES; i++) {
        char path[PJ_ENTRY_PATH_TEXT];
        PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(place->hashes[i], path));
        assert_int_equal(chmod(file, 0664), 0);
    }
    assert_int_equal(unlink(index), 0);
    (void)prepare(place->cache);
    assert_int_equal(stat(index, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0664);
}

static void test_index_link(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    PJ_CLEANUP_FREE char *target = pj_path_join(place->cache, "elsewhere");
    struct stat status;
    assert_int_equal(rename(index, target), 0);
    assert_int_equal(symlink(target, index), 0);
    put_index_bytes(place->cache, place->index, 40);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(done.index_found, PJ_INDEX_SHORT);
    assert_int_equal(lstat(index, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_index(place->cache, place->hashes, FILES);
}

static void expect_refusal(const char *cache, const char *wanted)
{
    struct pj_store_options options = fixture_options(cache);
    struct pj_store *store = NULL;
    struct pj_store_preparation done;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char message[512];
    assert_int_equal(pj_store_open(&options, &store, NULL), 0);
    assert_int_equal(pj_store_prepare(store, &done, &err), PJ_ERROR_ENVIRONMENT);
    (void)snprintf(message, sizeof message,
                   "cannot prepare the cache %s: cannot use the index of the cache %s: %s/index %s", cache,
                   cache, cache, wanted);
    assert_string_equal(pj_error_message(err), message);
    pj_store_close(store, false);
    expect_no_rubbish(cache);
}

static void test_bad_index_names(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(unlink(index), 0);
    assert_int_equal(symlink("nowhere", index), 0);
    expect_refusal(place->cache, "is a symbolic link to a file that does not exist: make that file or remove "
                                 "the link");
    assert_int_equal(unlink(index), 0);
    assert_int_equal(mkfifo(index, 0600), 0);
    expect_refusal(place->cache, "is no regular file: remove it, the driver makes another");
}

/* A run that was killed between its compilations and its commit. */
static void test_harvest(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_FREE char *run = pj_path_join(place->cache, ".prejit/run-999999999-5/w0");
    PJ_CLEANUP_FREE char *second = pj_path_join(place->cache, ".prejit/run-999999999-5/w1");
    PJ_CLEANUP_FREE char *canary = pj_path_join(place->cache, ".prejit/run-999999999-5/canary");
    PJ_CLEANUP_FREE char *alive = NULL;
    uint64_t fresh = put_entry(run, STAMP, "fresh", 500);
    uint64_t old = put_entry(run, OTHER_STAMP, "old", 500);
    uint64_t twice = put_entry(second, STAMP, "fresh", 500);
    uint64_t unwanted = put_entry(canary, STAMP, "canary", 10);
    PJ_CLEANUP_BUFFER struct pj_buffer damaged = {.data = NULL};
    uint64_t bad = make_entry_bytes(STAMP, 90, "bad", 50, &damaged);
    write_entry(run, bad, damaged.data, damaged.size - 1);
    /* process 1 lives, whatever its start time: only the time tells that this run died */
    assert_true(asprintf(&alive, "%s/.prejit/run-1-18446744073709551615/w0", place->cache) > 0);
    uint64_t reused = put_entry(alive, STAMP, "reused pid", 30);
    struct pj_store_preparation done = prepare(place->cache);
    assert_int_equal(fresh, twice);
    assert_int_equal(done.entries_harvested, 3);
    assert_int_equal(done.rubbish_removed, 2);
    assert_int_equal(entry_state(place->cache, fresh), PJ_ENTRY_SOUND);
    assert_int_equal(entry_state(place->cache, old), PJ_ENTRY_SOUND);
    assert_int_equal(entry_state(place->cache, reused), PJ_ENTRY_SOUND);
    assert_false(entry_exists(place->cache, unwanted));
    assert_false(entry_exists(place->cache, bad));
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(place->cache, &snapshot, NULL), 0);
    assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
    assert_int_equal(snapshot.index.count, FILES + 3);
    pj_snapshot_free(&snapshot);
}

/* The folder of a process that lives is not touched. */
static void test_no_harvest_of_the_living(void **state)
{
    struct place *place = *state;
    struct pj_store_options options = fixture_options(place->cache);
    struct pj_store *store = open_store(&options, NULL);
    struct pj_store_preparation done;
    (void)put_item(store, 0, STAMP, "in progress", 30);
    assert_int_equal(pj_store_prepare(store, &done, NULL), 0);
    assert_int_equal(done.entries_harvested, 0);
    assert_int_equal(done.rubbish_removed, 0);
    pj_store_close(store, true);
    /* the same process opens it again: now the folder is of an earlier run */
    store = open_store(&options, &done);
    assert_int_equal(done.entries_harvested, 1);
    assert_int_equal(done.rubbish_removed, 1);
    pj_store_close(store, false);
    expect_no_rubbish(place->cache);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_valid_is_left_alone),
        TEST(test_absent),
        TEST(test_empty),
        TEST(test_under_a_header),
        TEST(test_short),
        TEST(test_under_a_record),
        TEST(test_total_too_high),
        TEST(test_total_too_low),
        TEST(test_repair_keeps_order),
        TEST(test_unknown_format),
        TEST(test_empty_directory),
        TEST(test_unlisted_is_adopted),
        TEST(test_wrong_size_is_put_right),
        TEST(test_record_without_file),
        TEST(test_rubbish_and_unsound),
        TEST(test_listed_rubbish),
        TEST(test_adoption_keeps_to_the_limit),
        TEST(test_index_mode_follows_entries),
        TEST(test_index_link),
        TEST(test_bad_index_names),
        TEST(test_harvest),
        TEST(test_no_harvest_of_the_living),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
