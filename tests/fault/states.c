/* SPDX-License-Identifier: Apache-2.0 */
/* The states of an index in which the driver deletes or forgets: shown with the driver's model alone, then
 * with a run in between, after which nothing is lost. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "driver.h"
#include "fixture.h"

enum { FILES = 4, GIB = 1 << 30 };

enum damage { NONE, MISSING, EMPTY, CUT, UNDER_A_HEADER, TOTAL_HIGH, TOTAL_LOW };

struct place {
    char *cache;
    uint64_t hashes[FILES];
};

static void make_place(struct place *place, enum damage damage)
{
    static const char *const images[FILES] = {"a", "b", "c", "d"};
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    place->cache = make_cache();
    for (size_t i = 0; i < FILES; i++)
        place->hashes[i] = put_entry(place->cache, STAMP, images[i], 100);
    put_index(place->cache, place->hashes, FILES);
    PJ_CLEANUP_FREE char *index = pj_path_join(place->cache, "index");
    assert_int_equal(pj_file_read(AT_FDCWD, index, 4096, &bytes, NULL), 0);
    if (damage == TOTAL_HIGH)
        memset(bytes.data + 8, 0x7f, 7);
    if (damage == TOTAL_LOW)
        memset(bytes.data + 8, 0, 8);
    size_t size = damage == EMPTY            ? 0
                  : damage == CUT            ? bytes.size - 5
                  : damage == UNDER_A_HEADER ? 12
                                             : bytes.size;
    put_index_bytes(place->cache, bytes.data, size);
    if (damage == MISSING)
        assert_int_equal(unlink(index), 0);
}

static size_t count_entries(const struct place *place)
{
    size_t count = 0;
    for (size_t i = 0; i < FILES; i++)
        count += entry_exists(place->cache, place->hashes[i]);
    return count;
}

/* A program opens the cache and stores one more; how many of the four are left? */
static size_t use(const struct place *place, bool *ret_kept)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL};
    uint64_t hash = make_entry_bytes(STAMP, 90, "one more", 100, &bytes);
    (void)driver_read(place->cache, place->hashes[0]);
    assert_true(driver_store(place->cache, hash, bytes.data, bytes.size, GIB));
    *ret_kept = entry_exists(place->cache, hash);
    return count_entries(place);
}

static void expect(enum damage damage, size_t left_without, bool kept_without)
{
    struct place place;
    bool kept = false;
    make_place(&place, damage);
    assert_int_equal(use(&place, &kept), left_without);
    assert_int_equal(kept, kept_without);
    remove_cache(place.cache);

    make_place(&place, damage);
    struct pj_store_options options = fixture_options(place.cache);
    pj_store_close(open_store(&options, NULL), false);
    assert_int_equal(use(&place, &kept), FILES);
    assert_true(kept);
    for (size_t i = 0; i < FILES; i++)
        assert_int_equal(entry_state(place.cache, place.hashes[i]), PJ_ENTRY_SOUND);
    remove_cache(place.cache);
}

static void test_sound(void **state)
{
    (void)state;
    expect(NONE, FILES, true);
}

static void test_missing(void **state)
{
    (void)state;
    expect(MISSING, 0, true);
}

static void test_empty(void **state)
{
    (void)state;
    expect(EMPTY, 0, true);
}

static void test_cut(void **state)
{
    (void)state;
    expect(CUT, 0, true);
}

static void test_under_a_header(void **state)
{
    (void)state;
    expect(UNDER_A_HEADER, 0, true);
}

static void test_total_high(void **state)
{
    (void)state;
    expect(TOTAL_HIGH, 0, false);
}

static void test_total_low(void **state)
{
    (void)state;
    expect(TOTAL_LOW, FILES, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),          cmocka_unit_test(test_missing),
        cmocka_unit_test(test_empty),          cmocka_unit_test(test_cut),
        cmocka_unit_test(test_under_a_header), cmocka_unit_test(test_total_high),
        cmocka_unit_test(test_total_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
