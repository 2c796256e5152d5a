/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes and durations as people write and read them; suggestions. */
#include "unit.h"

#include <math.h>

#include "base/memory.h"
#include "base/text.h"

static void test_numbers(void **state)
{
    static const char *const refused[] = {
        "", "-1", "+1", " 1", "1 ", "1x", "0x10", "1.0", "18446744073709551616", "99999999999999999999"};
    (void)state;
    uint64_t value = 7;
    for (size_t i = 0; i < PJ_COUNT(refused); i++)
        assert_false(pj_text_to_u64(refused[i], UINT64_MAX, &value));
    assert_false(pj_text_to_u64("101", 100, &value));
    assert_int_equal(value, 7);
    assert_true(pj_text_to_u64("100", 100, &value));
    assert_int_equal(value, 100);
    assert_true(pj_text_to_u64("18446744073709551615", UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_true(pj_text_to_u64("007", 7, &value));
    assert_int_equal(value, 7);
}

static void test_sizes_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"512", 512},
        {"512B", 512},
        {"1 kB", 1000},
        {"1KB", 1000},
        {"20MB", 20000000},
        {"2GiB", UINT64_C(2147483648)},
        {"1.5 GiB", UINT64_C(1610612736)},
        {"0.000001MB", 1},
        {"1.000000", 1},
        {"16777215TiB", UINT64_C(16777215) << 40},
        {"9999999999999999999", UINT64_C(9999999999999999999)},
    };
    static const char *const refused[] = {
        "",
        "-1",
        "B",
        "1.5",
        "1.5B",
        "1e3",
        "1 ",
        " 1",
        "1  kB",
        "1.kB",
        ".5kB",
        "1.kB",
        "1.0000001 MB",
        "1mib",
        "1 K",
        "1,5 MB",
        "1GiBx",
        "16777216TiB",
        "99999999999999999999",
    };
    (void)state;
    uint64_t bytes = 0;
    for (size_t i = 0; i < PJ_COUNT(good); i++) {
        if (!pj_text_to_size(good[i].text, &bytes))
            fail_msg("refused: '%s'", good[i].text);
        assert_true(bytes == good[i].bytes);
    }
    bytes = 7;
    for (size_t i = 0; i < PJ_COUNT(refused); i++) {
        if (pj_text_to_size(refused[i], &bytes))
            fail_msg("taken: '%s'", refused[i]);
    }
    assert_int_equal(bytes, 7);
}

static void test_sizes_written(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {0, "0 B"},          {999, "999 B"},
        {1000, "1.0 kB"},    {1024, "1.0 kB"},
        {9949, "9.9 kB"},    {9950, "10 kB"},
        {999499, "999 kB"},  {999500, "1.0 MB"},
        {4194304, "4.2 MB"}, /* what was measured keeps its unit, also where it happens to be round */
        {20000000, "20 MB"}, {UINT64_MAX, "18446744 TB"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(sizes); i++) {
        char text[PJ_SIZE_TEXT];
        assert_ptr_equal(pj_text_from_size(sizes[i].bytes, text), text);
        assert_string_equal(text, sizes[i].text);
    }
}

static void test_limits(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } limits[] = {
        {0, "0 B"},
        {1024, "1.0 kB"},
        {1048576, "1.0 MiB"},
        {1048577, "1.0 MB"},
        {20000000, "20 MB"},
        {UINT64_C(1) << 30, "1.0 GiB"},
        {UINT64_C(3) << 30, "3.0 GiB"},
        {UINT64_C(5) << 40, "5.0 TiB"},
        {UINT64_MAX, "18446744 TB"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(limits); i++) {
        char text[PJ_SIZE_TEXT];
        assert_ptr_equal(pj_text_from_limit(limits[i].bytes, text), text);
        assert_string_equal(text, limits[i].text);
    }
}

static void test_durations(void **state)
{
    static const struct {
        double ms;
        const char *text;
    } durations[] = {
        {0, "0.0 ms"},
        {0.94, "0.9 ms"},
        {9.94, "9.9 ms"},
        {9.96, "10 ms"},
        {35, "35 ms"},
        {999.4, "999 ms"},
        {999.6, "1.0 s"},
        {2900, "2.9 s"},
        {59949, "59.9 s"},
        {59950, "1 min 0 s"},
        {200000, "3 min 20 s"},
        {3599499, "59 min 59 s"},
        {3599500, "1 h 0 min"},
        {3720000, "1 h 2 min"},
        {360000000, "100 h 0 min"},
        {1e300, "2.78e+293 h"},
        {(double)INFINITY, "inf h"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(durations); i++) {
        char text[PJ_DURATION_TEXT];
        assert_ptr_equal(pj_text_from_ms(durations[i].ms, text), text);
        assert_string_equal(text, durations[i].text);
    }
}

static void test_suggestions(void **state)
{
    static const char *const names[] = {"name", "ptx", "targets", "max_threads_per_block",
                                        "position_independent_code"};
    static const struct {
        const char *text, *suggestion;
    } cases[] = {
        {"nam", "name"},
        {"Name", "name"},
        {"mane", "name"},
        {"ptx", "ptx"},
        {"pt", "ptx"},
        {"p", NULL}, /* two away from a word of three */
        {"target", "targets"},
        {"tragets", "targets"},
        {"turgot", NULL},
        {"max-threads-per-block", "max_threads_per_block"},
        {"maxThreadsPerBlock", "max_threads_per_block"},
        {"MAX_THREADS_PER_BLOCK", "max_threads_per_block"},
        {"position-independent-cod", "position_independent_code"},
        {"", NULL},
        {"a very long word that is longer than anything that would be compared with", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        const char *found = pj_text_suggest(cases[i].text, names, PJ_COUNT(names));
        const char *wanted = cases[i].suggestion;
        if ((found == NULL) != (wanted == NULL) || (found && strcmp(found, wanted) != 0))
            fail_msg("'%s': %s", cases[i].text, found ? found : "none");
    }
    assert_null(pj_text_suggest("name", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),       cmocka_unit_test(test_sizes_read),
        cmocka_unit_test(test_sizes_written), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_durations),     cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
