/* SPDX-License-Identifier: Apache-2.0 */
/* S2 to S5: what is stored, what is kept, what is refused, and what the index says afterwards. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "driver.h"
#include "fixture.h"

struct place {
    char *cache;
    uint64_t foreign[2];
    struct pj_store *store;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->cache = make_cache();
    place->foreign[0] = put_entry(place->cache, STAMP, "foreign 0", 100);
    place->foreign[1] = put_entry(place->cache, OTHER_STAMP, "foreign 1", 100);
    put_index(place->cache, place->foreign, 2);
    struct pj_store_options options = fixture_options(place->cache);
    place->store = open_store(&options, NULL);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    pj_store_close(place->store, false);
    expect_no_rubbish(place->cache);
    remove_cache(place->cache);
    free(place);
    return 0;
}

static void commit(struct place *place, struct pj_commit_item *items, size_t count)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    if (pj_store_commit(place->store, STAMP, items, count, &err) < 0)
        fail_msg("%s", pj_error_message(err));
}

static void test_stored(void **state)
{
    struct place *place = *state;
    struct pj_commit_item items[2] = {put_item(place->store, 0, STAMP, "one", 1000),
                                      put_item(place->store, 1, STAMP, "two", 2000)};
    commit(place, items, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(items[i].result, PJ_COMMIT_STORED);
        assert_null(items[i].message);
        assert_int_equal(items[i].file_bytes, entry_bytes(place->cache, items[i].hash));
        assert_true(items[i].mtime_seconds > 1000000000);
        assert_int_equal(entry_state(place->cache, items[i].hash), PJ_ENTRY_SOUND);
    }
    uint64_t all[4] = {place->foreign[0], place->foreign[1], items[0].hash, items[1].hash};
    expect_index(place->cache, all, 4);
    struct pj_store_statistics statistics;
    pj_store_statistics(place->store, &statistics);
    assert_int_equal(statistics.entries, 4);
    assert_true(statistics.lock_holds >= 2);
    bool listed[3] = {false, false, true};
    uint64_t asked[3] = {items[0].hash, place->foreign[1], 12345};
    assert_int_equal(pj_store_listed(place->store, asked, 3, listed, NULL), 0);
    assert_true(listed[0] && listed[1]);
    assert_false(listed[2]);
}

static void test_private_copy_stays(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "one", 1000);
    char path[PJ_ENTRY_PATH_TEXT];
    commit(place, &item, 1);
    PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(item.hash, path));
    assert_int_equal(unlink(file), 0);
    item.result = PJ_COMMIT_PENDING;
    commit(place, &item, 1);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    uint64_t all[3] = {place->foreign[0], place->foreign[1], item.hash};
    expect_index(place->cache, all, 3);
}

static void test_present(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "foreign 0", 300);
    commit(place, &item, 1);
    assert_int_equal(item.hash, place->foreign[0]);
    assert_int_equal(item.result, PJ_COMMIT_PRESENT);
    assert_int_equal(item.file_bytes, entry_bytes(place->cache, place->foreign[0]));
    assert_int_not_equal(item.file_bytes, 0);
    expect_index(place->cache, place->foreign, 2);
}

static void test_present_but_not_listed(void **state)
{
    struct place *place = *state;
    uint64_t hash = put_entry(place->cache, STAMP, "unlisted", 150);
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "unlisted", 300);
    commit(place, &item, 1);
    assert_int_equal(item.result, PJ_COMMIT_PRESENT);
    uint64_t all[3] = {place->foreign[0], place->foreign[1], hash};
    expect_index(place->cache, all, 3);
}

static void test_unsound_is_replaced(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    (void)make_entry_bytes(STAMP, 90, "foreign 0", 100, &bytes);
    bytes.data[bytes.size - 1] ^= 1;
    write_entry(place->cache, place->foreign[0], bytes.data, bytes.size);
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "foreign 0", 300);
    commit(place, &item, 1);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    assert_int_equal(entry_state(place->cache, place->foreign[0]), PJ_ENTRY_SOUND);
    expect_index(place->cache, place->foreign, 2); /* in its old place, with its new size */
}

static void expect_rejected(struct place *place, struct pj_commit_item *item, const char *format)
{
    char message[256], path[PJ_ENTRY_PATH_TEXT];
    commit(place, item, 1);
    assert_int_equal(item->result, PJ_COMMIT_REJECTED);
    (void)snprintf(message, sizeof message, "the compiled entry %s %s", pj_entry_path(item->hash, path),
                   format);
    assert_string_equal(item->message, message);
    free(PJ_STEAL(item->message));
    expect_index(place->cache, place->foreign, 2);
    assert_false(entry_exists(place->cache, item->hash));
}

static void test_rejected(void **state)
{
    struct place *place = *state;
    const char *folder = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    struct pj_commit_item absent = {.hash = 0x1234};
    struct pj_commit_item other = put_item(place->store, 0, OTHER_STAMP, "x", 100);
    assert_int_equal(pj_store_private_folder(place->store, 0, &folder, NULL), 0);
    expect_rejected(place, &absent, "is not in its private folder: the driver stored nothing");
    expect_rejected(place, &other,
                    "was stored by a driver of another build: its stamp is Jan 01 202500:00:00");
    struct pj_commit_item cut = {.hash = make_entry_bytes(STAMP, 90, "cut", 100, &bytes)};
    write_entry(folder, cut.hash, bytes.data, bytes.size - 3);
    expect_rejected(
        place, &cut,
        "cannot be used: it has 160 bytes, its header says 28 and a key of 35 and a payload of 100");
    bytes.data[28 + 35] = 'X';
    struct pj_entry_header header;
    pj_entry_header_read((unsigned char *)bytes.data, &header);
    header.payload_checksum = pj_fnv1a(PJ_FNV_START, bytes.data + 28 + 35, 100);
    pj_entry_header_write(&header, (unsigned char *)bytes.data);
    write_entry(folder, cut.hash, bytes.data, bytes.size);
    cut.result = PJ_COMMIT_PENDING;
    expect_rejected(
        place, &cut,
        "cannot be used: the payload is no cubin for sm_90; the driver believes it and never compiles "
        "it again");
}

static void test_twice_in_one_call(void **state)
{
    struct place *place = *state;
    struct pj_commit_item items[2] = {put_item(place->store, 0, STAMP, "same", 100),
                                      put_item(place->store, 1, STAMP, "same", 100)};
    commit(place, items, 2);
    assert_int_equal(items[0].result, PJ_COMMIT_STORED);
    assert_int_equal(items[1].result, PJ_COMMIT_PENDING);
    commit(place, items, 2);
    assert_int_equal(items[1].result, PJ_COMMIT_PRESENT);
    uint64_t all[3] = {place->foreign[0], place->foreign[1], items[0].hash};
    expect_index(place->cache, all, 3);
}

static void test_directory_in_the_way(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "blocked", 100);
    char path[PJ_ENTRY_PATH_TEXT], message[256];
    PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, pj_entry_path(item.hash, path));
    assert_int_equal(pj_directory_create(file, 0700, NULL), 0);
    commit(place, &item, 1);
    assert_int_equal(item.result, PJ_COMMIT_REJECTED);
    (void)snprintf(message, sizeof message, "%s is no regular file", file);
    assert_string_equal(item.message, message);
    free(item.message);
    expect_index(place->cache, place->foreign, 2);
}

static void test_index_lost_in_between(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "one", 100);
    put_index_bytes(place->cache, "", 0);
    commit(place, &item, 1);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    struct pj_snapshot snapshot;
    assert_int_equal(pj_snapshot_take(place->cache, &snapshot, NULL), 0);
    assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
    assert_int_equal(snapshot.index.count, 3);
    assert_int_equal(snapshot.index.records[0].hash, item.hash);
    pj_snapshot_free(&snapshot);
    assert_true(driver_read(place->cache, place->foreign[0]));
}

static void test_index_replaced_in_between(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "one", 100);
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(unlink(index), 0);
    put_index(place->cache, place->foreign, 2);
    commit(place, &item, 1);
    uint64_t all[3] = {place->foreign[0], place->foreign[1], item.hash};
    expect_index(place->cache, all, 3);
}

/* What somebody does at a named point of the commit. */
struct intruder {
    const struct place *place;
    const char *point;
    void (*act)(const struct place *place);
};

static void at_point(void *context, const char *point)
{
    struct intruder *intruder = context;
    if (intruder->point && strcmp(point, intruder->point) == 0) {
        intruder->point = NULL;
        intruder->act(intruder->place);
    }
}

static struct pj_commit_item commit_beside(struct place *place, const char *image, const char *point,
                                           void (*act)(const struct place *place))
{
    struct intruder intruder = {.place = place, .point = point, .act = act};
    struct pj_store_options options = fixture_options(place->cache);
    options.at_point = at_point;
    options.context = &intruder;
    pj_store_close(place->store, false);
    place->store = open_store(&options, NULL);
    struct pj_commit_item item = put_item(place->store, 0, STAMP, image, 300);
    commit(place, &item, 1);
    assert_null(intruder.point);
    struct pj_store_options plain = fixture_options(place->cache);
    pj_store_close(place->store, false);
    place->store = open_store(&plain, NULL);
    return item;
}

static void damage_present(const struct place *place)
{
    write_entry(place->cache, place->foreign[0], "damaged while nobody looked, 28 bytes and more", 46);
}

/* Sound when it was read, another file under the lock: ours takes its place. */
static void test_present_changes_in_between(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = commit_beside(place, "foreign 0", "S2.staged", damage_present);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    assert_int_equal(entry_state(place->cache, place->foreign[0]), PJ_ENTRY_SOUND);
    expect_index(place->cache, place->foreign, 2);
}

static void replace_index(const struct place *place)
{
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(unlink(index), 0);
    put_index(place->cache, place->foreign, 2);
}

/* The records went into a file that has no name any more. */
static void test_index_replaced_under_the_lock(void **state)
{
    static const char *const points[] = {"S3.locked", "S3.renamed", "S3.header-written"};
    struct place *place = *state;
    for (size_t i = 0; i < PJ_COUNT(points); i++) {
        char image[16];
        (void)snprintf(image, sizeof image, "r%zu", i);
        struct pj_store_options options = fixture_options(place->cache);
        struct intruder intruder = {.place = place, .point = points[i], .act = replace_index};
        options.at_point = at_point;
        options.context = &intruder;
        pj_store_close(place->store, false);
        place->store = open_store(&options, NULL);
        struct pj_commit_item item = put_item(place->store, 0, STAMP, image, 300);
        intruder.point = points[i];
        commit(place, &item, 1);
        assert_null(intruder.point);
        assert_int_equal(item.result, PJ_COMMIT_STORED);
        bool listed = false;
        assert_int_equal(pj_store_listed(place->store, &item.hash, 1, &listed, NULL), 0);
        assert_true(listed);
        struct pj_store_options plain = fixture_options(place->cache);
        pj_store_close(place->store, false);
        place->store = open_store(&plain, NULL);
    }
}

static void test_unknown_format(void **state)
{
    struct place *place = *state;
    struct pj_commit_item item = put_item(place->store, 0, STAMP, "one", 100);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    char message[256];
    put_index_bytes(place->cache, "\102\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(pj_store_commit(place->store, STAMP, &item, 1, &err), PJ_ERROR_ENVIRONMENT);
    (void)snprintf(
        message, sizeof message,
        "cannot commit to the cache %s: %s/index has the format number 66 by now, and this version "
        "of prejit writes 65 alone; run again, which begins with the new one",
        place->cache, place->cache);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(item.result, PJ_COMMIT_PENDING);
    assert_false(entry_exists(place->cache, item.hash));
}

static void test_remove(void **state)
{
    struct place *place = *state;
    assert_int_equal(pj_store_remove(place->store, place->foreign[0], NULL), 0);
    assert_false(entry_exists(place->cache, place->foreign[0]));
    expect_index(place->cache, place->foreign + 1, 1);
    assert_int_equal(pj_store_remove(place->store, place->foreign[0], NULL), 0); /* gone already */
    expect_index(place->cache, place->foreign + 1, 1);
}

static void test_listed_needs_the_size(void **state)
{
    struct place *place = *state;
    bool listed[2] = {true, false};
    write_entry(place->cache, place->foreign[0], "not the size that the record says, but 28 and more", 50);
    assert_int_equal(pj_store_listed(place->store, place->foreign, 2, listed, NULL), 0);
    assert_false(listed[0]);
    assert_true(listed[1]);
}

/* Hash directories are made like the ones that are there. */
static void test_modes(void **state)
{
    struct place *place = *state;
    struct stat status;
    char path[PJ_ENTRY_PATH_TEXT];
    for (const char *digit = "0123456789abcdef"; *digit; digit++) {
        char name[2] = {*digit, '\0'};
        PJ_CLEANUP_FREE char *folder = pj_path_join(place->cache, name);
        if (access(folder, F_OK) == 0)
            assert_int_equal(chmod(folder, 02775), 0);
    }
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(chmod(index, 0666), 0);
    mode_t old = umask(077);
    struct pj_commit_item item = {.hash = 0};
    for (int i = 0; i < 64; i++) {
        char image[16];
        (void)snprintf(image, sizeof image, "m%d", i);
        item = put_item(place->store, 0, STAMP, image, 100);
        (void)pj_entry_path(item.hash, path);
        path[1] = '\0';
        if (!path_exists(place->cache, path))
            break;
    }
    commit(place, &item, 1);
    (void)umask(old);
    PJ_CLEANUP_FREE char *first = pj_path_join(place->cache, path);
    assert_int_equal(stat(first, &status), 0);
    assert_int_equal(status.st_mode & 07777, 02775);
    (void)pj_entry_path(item.hash, path);
    PJ_CLEANUP_FREE char *file = pj_path_join(place->cache, path);
    assert_int_equal(stat(file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    *strrchr(file, '/') = '\0';
    assert_int_equal(stat(file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 02775);
}

/* Holds are short however much there is to do. */
static void test_many(void **state)
{
    enum { MANY = 300 };
    struct place *place = *state;
    struct pj_store_statistics before, after;
    PJ_CLEANUP_FREE struct pj_commit_item *items = calloc(MANY, sizeof *items);
    PJ_CLEANUP_FREE uint64_t *all = calloc(MANY + 2, sizeof *all);
    assert_non_null(items);
    assert_non_null(all);
    memcpy(all, place->foreign, sizeof place->foreign);
    for (size_t i = 0; i < MANY; i++) {
        char image[16];
        (void)snprintf(image, sizeof image, "n%zu", i);
        items[i] = put_item(place->store, i % 4, STAMP, image, 200);
        all[i + 2] = items[i].hash;
    }
    pj_store_statistics(place->store, &before);
    commit(place, items, MANY);
    pj_store_statistics(place->store, &after);
    expect_index(place->cache, all, MANY + 2);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(items[i].result, PJ_COMMIT_STORED);
    assert_true(after.lock_holds - before.lock_holds >= 5);
    /* 5 ms of work; the rest is what a loaded machine may add */
    assert_true(after.longest_hold_ms > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stored),
        TEST(test_private_copy_stays),
        TEST(test_present),
        TEST(test_present_but_not_listed),
        TEST(test_unsound_is_replaced),
        TEST(test_rejected),
        TEST(test_twice_in_one_call),
        TEST(test_directory_in_the_way),
        TEST(test_index_lost_in_between),
        TEST(test_index_replaced_in_between),
        TEST(test_present_changes_in_between),
        TEST(test_index_replaced_under_the_lock),
        TEST(test_unknown_format),
        TEST(test_remove),
        TEST(test_listed_needs_the_size),
        TEST(test_modes),
        TEST(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
