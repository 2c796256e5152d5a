/* SPDX-License-Identifier: Apache-2.0 */
/* Every state an index can be in, and its writer. */
#include "cache/index.h"
#include "index_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

/* Two records of 0x10 and 0x20 bytes; a third behind them that the count leaves out. */
static const unsigned char two[64] = {
    65, 0, 0, 0, 2, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, /* header */
    1,  2, 3, 4, 5, 6, 7, 8, 0x10, 0, 0, 0, 0, 0, 0, 0, /* first */
    9,  0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, /* second */
    7,  7, 7, 7, 7, 7, 7, 7, 0x70, 0, 0, 0, 0, 0, 0, 0, /* not counted */
};

static void expect(const void *bytes, size_t size, enum pj_index_state wanted, size_t count)
{
    struct pj_index index;
    enum pj_index_state state;
    assert_int_equal(pj_index_read(bytes, size, &index, &state, NULL), 0);
    assert_int_equal(state, wanted);
    assert_int_equal(index.count, count);
    if (count > 0)
        assert_int_equal(index.records[0].hash, UINT64_C(0x0807060504030201));
    if (count > 1)
        assert_int_equal(index.records[1].size, 0x20);
    pj_index_free(&index);
    assert_null(index.records);
}

static void test_states(void **state)
{
    unsigned char bytes[64];
    (void)state;
    expect(NULL, 0, PJ_INDEX_ABSENT, 0);
    expect("", 0, PJ_INDEX_EMPTY, 0);
    expect(two, 64, PJ_INDEX_VALID, 2);
    expect(two, 48, PJ_INDEX_VALID, 2);
    expect(two, 47, PJ_INDEX_SHORT, 1);
    expect(two, 32, PJ_INDEX_SHORT, 1);
    expect(two, 17, PJ_INDEX_SHORT, 0);
    expect(two, 16, PJ_INDEX_SHORT, 0);
    expect(two, 15, PJ_INDEX_SHORT, 0);
    expect(two, 1, PJ_INDEX_SHORT, 0);
    memcpy(bytes, two, sizeof bytes);
    bytes[8]++;
    expect(bytes, 64, PJ_INDEX_TOTAL_WRONG, 2);
    bytes[8] -= 2;
    expect(bytes, 64, PJ_INDEX_TOTAL_WRONG, 2);
    bytes[0] = 66;
    expect(bytes, 64, PJ_INDEX_UNKNOWN_FORMAT, 0);
    expect(bytes, 4, PJ_INDEX_UNKNOWN_FORMAT, 0);
    memset(bytes, 0xff, sizeof bytes);
    memcpy(bytes, two, 4);
    expect(bytes, 16, PJ_INDEX_SHORT, 0);
}

static void test_count_zero(void **state)
{
    static const unsigned char empty[16] = {65};
    (void)state;
    expect(empty, 16, PJ_INDEX_VALID, 0);
}

/* A sum that wraps round to the total is no valid one. */
static void test_sum_overflow(void **state)
{
    unsigned char bytes[48];
    (void)state;
    memcpy(bytes, two, sizeof bytes);
    memset(bytes + 24, 0xff, 8);
    memset(bytes + 40, 0, 8);
    bytes[40] = 1;
    memset(bytes + 8, 0, 8);
    struct pj_index index;
    enum pj_index_state found;
    assert_int_equal(pj_index_read(bytes, sizeof bytes, &index, &found, NULL), 0);
    assert_int_equal(found, PJ_INDEX_TOTAL_WRONG);
    assert_int_equal(index.records[0].size, UINT64_MAX);
    assert_int_equal(index.records[1].size, 1);
    pj_index_free(&index);
}

static void test_write(void **state)
{
    struct pj_index_record records[2] = {{UINT64_C(0x0807060504030201), 0x10}, {9, 0x20}};
    struct pj_index index = {.total_bytes = 5, .records = records, .count = 2};
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {.data = NULL}, none = {.data = NULL};
    (void)state;
    index_bytes(&index, &bytes);
    assert_int_equal(bytes.size, 48);
    assert_memory_equal(bytes.data, two, 48);
    records[1].size = UINT64_MAX;
    index_bytes(&index, &none);
    assert_int_equal(pj_buffer_check(&none, NULL), PJ_ERROR_NO_MEMORY);
}

static void test_reread(void **state)
{
    struct pj_index index = {.format = 0};
    enum pj_index_state found;
    (void)state;
    assert_int_equal(pj_index_reread(two, 64, &index, &found, NULL), 0);
    struct pj_index_record *memory = index.records;
    assert_int_equal(pj_index_reread(two, 32, &index, &found, NULL), 0);
    assert_int_equal(found, PJ_INDEX_SHORT);
    assert_int_equal(index.count, 1);
    assert_ptr_equal(index.records, memory);
    pj_index_free(&index);
}

static void test_texts(void **state)
{
    (void)state;
    assert_string_equal(pj_index_state_text(PJ_INDEX_VALID), "is valid");
    assert_string_equal(pj_index_state_text(PJ_INDEX_ABSENT),
                        "is missing, so the driver deletes every entry when it next stores one");
    assert_string_equal(pj_index_state_text(PJ_INDEX_EMPTY),
                        "is empty, so the driver deletes every entry when it next stores one");
    assert_string_equal(
        pj_index_state_text(PJ_INDEX_SHORT),
        "is shorter than its count says, so the driver deletes every entry when it next opens it");
    assert_string_equal(pj_index_state_text(PJ_INDEX_UNKNOWN_FORMAT),
                        "has a format number other than 65, so a driver of another format deletes every "
                        "entry when it next stores one");
    assert_string_equal(pj_index_state_text(PJ_INDEX_TOTAL_WRONG),
                        "gives a total that is not the sum of its records, so the driver keeps nothing more "
                        "or counts its limit wrongly");
    assert_string_equal(pj_index_state_text((enum pj_index_state)99), "is in an unknown state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_count_zero), cmocka_unit_test(test_sum_overflow),
        cmocka_unit_test(test_write),  cmocka_unit_test(test_reread),     cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
