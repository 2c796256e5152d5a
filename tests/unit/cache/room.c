/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes when the cache is full, and what is said to what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "fixture.h"

/* Keys long enough to be told apart by their two ends. */
#define LONG " 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"

enum { OURS, STALE, TOOL, STALE_TOO, ENTRIES };

struct place {
    char *cache;
    uint64_t hashes[ENTRIES];
    uint64_t total;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->cache = make_cache();
    place->hashes[OURS] = put_entry(place->cache, STAMP, "ours" LONG, 1000);
    place->hashes[STALE] = put_entry(place->cache, OTHER_STAMP, "stale" LONG, 1000);
    place->hashes[TOOL] = put_entry(place->cache, OTHER_STAMP, "BC\xc0\xde" LONG, 1000);
    place->hashes[STALE_TOO] = put_entry(place->cache, OTHER_STAMP, "stale too" LONG, 1000);
    put_index(place->cache, place->hashes, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++)
        place->total += entry_bytes(place->cache, place->hashes[i]) - 28;
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

static uint64_t listed_size(size_t payload)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    (void)make_entry_bytes(STAMP, 90, "x", payload, &bytes);
    return bytes.size - 28;
}

/* `ret_why`: why some are too large; NULL = none is asked about. */
static struct pj_store_statistics commit(const struct place *place, uint64_t limit, bool evict,
                                         const size_t *payloads, struct pj_commit_item *items, size_t count,
                                         char **ret_why)
{
    struct pj_store_options options = fixture_options(place->cache);
    struct pj_store_statistics statistics;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    options.limit_bytes = limit;
    options.evict = evict;
    struct pj_store *store = open_store(&options, NULL);
    for (size_t i = 0; i < count; i++) {
        char image[2] = {(char)('p' + i), '\0'};
        items[i] = put_item(store, 0, STAMP, image, payloads[i]);
    }
    if (pj_store_commit(store, STAMP, items, count, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    pj_store_statistics(store, &statistics);
    if (ret_why)
        assert_int_equal(pj_store_why_too_large(store, ret_why, NULL), 0);
    pj_store_close(store, false);
    expect_no_rubbish(place->cache);
    return statistics;
}

static void test_exact_fit(void **state)
{
    struct place *place = *state;
    size_t payload = 500;
    struct pj_commit_item item;
    uint64_t limit = place->total + listed_size(500);
    struct pj_store_statistics statistics = commit(place, limit, false, &payload, &item, 1, NULL);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    assert_int_equal(statistics.stale_evicted, 0);
    assert_int_equal(statistics.total_bytes, limit);
}

static void test_oldest_stale_goes(void **state)
{
    struct place *place = *state;
    size_t payload = 500;
    struct pj_commit_item item;
    uint64_t limit = place->total + listed_size(500) - 1;
    struct pj_store_statistics statistics = commit(place, limit, true, &payload, &item, 1, NULL);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    assert_int_equal(statistics.stale_evicted, 1);
    assert_int_equal(statistics.evicted, 0);
    uint64_t left[] = {place->hashes[OURS], place->hashes[TOOL], place->hashes[STALE_TOO], item.hash};
    expect_index(place->cache, left, 4);
    assert_false(entry_exists(place->cache, place->hashes[STALE]));
}

static void test_own_only_when_asked(void **state)
{
    struct place *place = *state;
    size_t payload = 3000;
    struct pj_commit_item item;
    char message[512], *why = NULL;
    uint64_t limit = place->total;
    struct pj_store_statistics statistics = commit(place, limit, false, &payload, &item, 1, &why);
    assert_int_equal(item.result, PJ_COMMIT_TOO_LARGE);
    (void)snprintf(message, sizeof message,
                   "the entry of 3.1 kB does not fit: the cache holds 4.5 kB of at most 4.5 kB; "
                   "CUDA_CACHE_MAXSIZE=%llu is enough, here and for the program, or let --evict remove older "
                   "entries",
                   (unsigned long long)(place->total + listed_size(3000)));
    assert_null(item.message);
    assert_string_equal(why, message);
    free(why);
    struct pj_store_options options = fixture_options(place->cache);
    options.limit_bytes = limit;
    options.limit_manifest = "m.yaml";
    struct pj_store *store = open_store(&options, NULL);
    item = put_item(store, 0, STAMP, "p", payload);
    assert_int_equal(pj_store_commit(store, STAMP, &item, 1, NULL), 0);
    assert_int_equal(pj_store_why_too_large(store, &why, NULL), 0);
    pj_store_close(store, false);
    (void)snprintf(
        message, sizeof message,
        "the entry of 3.1 kB does not fit: the cache holds 4.5 kB of at most 4.5 kB; set "
        "cache.max_size: %llu in m.yaml, and CUDA_CACHE_MAXSIZE=%llu for the program, or let --evict "
        "remove older entries",
        (unsigned long long)(place->total + listed_size(3000)),
        (unsigned long long)(place->total + listed_size(3000)));
    assert_string_equal(why, message);
    free(why);
    /* even all stale ones would not have been enough, so none of them went */
    assert_int_equal(statistics.stale_evicted, 0);
    expect_index(place->cache, place->hashes, ENTRIES);
    statistics = commit(place, limit, true, &payload, &item, 1, NULL);
    assert_int_equal(item.result, PJ_COMMIT_STORED);
    assert_int_equal(statistics.stale_evicted, 2);
    assert_int_equal(statistics.evicted, 1);
    uint64_t left[] = {place->hashes[TOOL], item.hash};
    expect_index(place->cache, left, 2);
}

static void test_order_of_items(void **state)
{
    struct place *place = *state;
    size_t payloads[3] = {2000, 2000, 100};
    struct pj_commit_item items[3];
    uint64_t limit = place->total;
    struct pj_store_statistics statistics = commit(place, limit, false, payloads, items, 3, NULL);
    assert_int_equal(items[0].result, PJ_COMMIT_STORED);
    assert_int_equal(items[1].result, PJ_COMMIT_TOO_LARGE);
    assert_int_equal(items[2].result, PJ_COMMIT_STORED); /* fits in what is left */
    assert_int_equal(statistics.stale_evicted, 2);
    uint64_t left[] = {place->hashes[OURS], place->hashes[TOOL], items[0].hash, items[2].hash};
    expect_index(place->cache, left, 4);
}

static void test_larger_than_the_limit(void **state)
{
    struct place *place = *state;
    size_t payload = 9000;
    struct pj_commit_item item;
    char *why = NULL;
    struct pj_store_statistics statistics = commit(place, place->total, false, &payload, &item, 1, &why);
    assert_int_equal(item.result, PJ_COMMIT_TOO_LARGE);
    assert_null(strstr(why, "--evict"));
    free(why);
    statistics = commit(place, place->total, true, &payload, &item, 1, NULL);
    assert_int_equal(item.result, PJ_COMMIT_TOO_LARGE);
    assert_int_equal(statistics.evicted + statistics.stale_evicted, 0);
    expect_index(place->cache, place->hashes, ENTRIES);
}

/* One sentence for all that this run could not place, whatever call it was in; one of them twice counts once.
 */
static void test_several_have_one_reason(void **state)
{
    struct place *place = *state;
    struct pj_store_options options = fixture_options(place->cache);
    options.limit_bytes = place->total;
    struct pj_store *store = open_store(&options, NULL);
    char message[512], *why = NULL;
    for (size_t i = 0; i < 3; i++) {
        char image[2] = {(char)('p' + i % 2), '\0'};
        struct pj_commit_item item = put_item(store, 0, STAMP, image, 3000);
        assert_int_equal(pj_store_commit(store, STAMP, &item, 1, NULL), 0);
        assert_int_equal(item.result, PJ_COMMIT_TOO_LARGE);
    }
    assert_int_equal(pj_store_why_too_large(store, &why, NULL), 0);
    (void)snprintf(message, sizeof message,
                   "2 entries of 6.1 kB together do not fit: the cache holds 4.5 kB of at most 4.5 kB; "
                   "CUDA_CACHE_MAXSIZE=%llu is enough, here and for the program",
                   (unsigned long long)(place->total + 2 * listed_size(3000)));
    assert_string_equal(why, message);
    free(why);
    pj_store_close(store, false);
}

/* --evict is named where all that is not of this run makes room enough, to the byte. */
static void test_evict_is_named_where_it_would_do(void **state)
{
    struct place *place = *state;
    struct pj_store_options options = fixture_options(place->cache);
    const size_t payload = 3000;
    uint64_t own = entry_bytes(place->cache, place->hashes[OURS]) - 28, limit = own + listed_size(payload);
    for (size_t i = 0; i < 2; i++) {
        options.limit_bytes = limit - i;
        struct pj_store *store = open_store(&options, NULL);
        struct pj_commit_item item = put_item(store, 0, STAMP, "p", payload);
        char *why = NULL;
        assert_int_equal(pj_store_keep(store, place->hashes[OURS], NULL), 0);
        assert_int_equal(pj_store_commit(store, STAMP, &item, 1, NULL), 0);
        assert_int_equal(item.result, PJ_COMMIT_TOO_LARGE);
        assert_int_equal(pj_store_why_too_large(store, &why, NULL), 0);
        assert_int_equal(strstr(why, ", or let --evict remove older entries") != NULL, i == 0);
        free(why);
        pj_store_close(store, false);
    }
}

/* With --evict an entry that this run committed, or found, never makes room for another of it. */
static void test_own_run_is_kept(void **state)
{
    struct place *place = *state;
    size_t payloads[3] = {2000, 2000, 2000};
    struct pj_commit_item items[3];
    uint64_t limit = 2 * listed_size(2000) + 10;
    struct pj_store_statistics statistics = commit(place, limit, true, payloads, items, 3, NULL);
    assert_int_equal(items[0].result, PJ_COMMIT_STORED);
    assert_int_equal(items[1].result, PJ_COMMIT_STORED);
    assert_int_equal(items[2].result, PJ_COMMIT_TOO_LARGE);
    assert_int_equal(statistics.evicted, 2);
    uint64_t left[] = {items[0].hash, items[1].hash};
    expect_index(place->cache, left, 2);
}

/* The same over several calls: rounds of one run do not undo each other. */
static void test_earlier_rounds_are_kept(void **state)
{
    struct place *place = *state;
    struct pj_store_options options = fixture_options(place->cache);
    options.limit_bytes = 2 * listed_size(2000) + 10;
    options.evict = true;
    struct pj_store *store = open_store(&options, NULL);
    struct pj_commit_item items[3];
    for (size_t i = 0; i < 3; i++) {
        char image[2] = {(char)('p' + i), '\0'};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        items[i] = put_item(store, 0, STAMP, image, 2000);
        if (pj_store_commit(store, STAMP, &items[i], 1, &err) < 0)
            fail_msg("%s", pj_error_message(err));
    }
    pj_store_close(store, false);
    assert_int_equal(items[0].result, PJ_COMMIT_STORED);
    assert_int_equal(items[1].result, PJ_COMMIT_STORED);
    assert_int_equal(items[2].result, PJ_COMMIT_TOO_LARGE);
    uint64_t left[] = {items[0].hash, items[1].hash};
    expect_index(place->cache, left, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_exact_fit),
        TEST(test_oldest_stale_goes),
        TEST(test_own_only_when_asked),
        TEST(test_order_of_items),
        TEST(test_larger_than_the_limit),
        TEST(test_several_have_one_reason),
        TEST(test_evict_is_named_where_it_would_do),
        TEST(test_own_run_is_kept),
        TEST(test_earlier_rounds_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
