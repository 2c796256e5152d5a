/* SPDX-License-Identifier: Apache-2.0 */
/* The column table: alignment, units, unknown values, JSON types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "report/column.h"

struct row {
    const char *name;
    uint64_t size;
    double ms;
    bool known;
};

static bool get_name(const void *row, struct pj_cell *cell)
{
    pj_buffer_puts(&cell->text, ((const struct row *)row)->name);
    return true;
}

static bool get_size(const void *row, struct pj_cell *cell)
{
    cell->count = ((const struct row *)row)->size;
    return ((const struct row *)row)->known;
}

static bool get_ms(const void *row, struct pj_cell *cell)
{
    cell->number = ((const struct row *)row)->ms;
    return ((const struct row *)row)->known;
}

static bool get_known(const void *row, struct pj_cell *cell)
{
    cell->flag = ((const struct row *)row)->known;
    return true;
}

static const struct pj_column columns[] = {
    {"NAME", "name", PJ_COLUMN_TEXT, false, get_name},   {"SIZE", "bytes", PJ_COLUMN_BYTES, false, get_size},
    {"COUNT", "count", PJ_COLUMN_COUNT, true, get_size}, {"TIME", "time_ms", PJ_COLUMN_MS, false, get_ms},
    {"RATIO", NULL, PJ_COLUMN_RATIO, true, get_ms},      {NULL, "known", PJ_COLUMN_FLAG, false, get_known},
    {"KNOWN", NULL, PJ_COLUMN_FLAG, true, get_known},
};

static const struct row first = {"a", 20000000, 0.94, true};
static const struct row second = {"long\x1b\xc3\xa9", 7, 2900, true};
static const struct row third = {"", 1, 1, false};
static const struct row fourth = {"n", 5, NAN, true};

static void render(const void *const *rows, size_t count, bool verbose, bool json, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    const struct pj_column_table table = {
        .columns = columns, .column_count = PJ_COUNT(columns), .rows = rows, .row_count = count};
    if (json)
        assert_int_equal(pj_column_json(&table, &buffer, NULL), 0);
    else
        assert_int_equal(pj_column_text(&table, verbose, &buffer, NULL), 0);
    assert_string_equal(pj_buffer_text(&buffer), expected);
}

static void a_table_is_aligned_by_type(void **state)
{
    (void)state;
    const void *const rows[] = {&first, &second, &third};
    render(rows, 3, false, false,
           "NAME        SIZE    TIME\n"
           "a          20 MB  0.9 ms\n"
           "long\\x1b\xc3\xa9    7 B   2.9 s\n"
           "-              -       -\n");
}

static void verbose_columns_are_added(void **state)
{
    (void)state;
    const void *const rows[] = {&first, &fourth};
    render(rows, 2, true, false,
           "NAME   SIZE     COUNT    TIME  RATIO  KNOWN\n"
           "a     20 MB  20000000  0.9 ms   0.9x  yes\n"
           "n       5 B         5       -      -  yes\n");
}

/* One of which something is known in one row stays, with all its cells. */
static void a_column_of_which_nothing_is_known_is_left_out(void **state)
{
    (void)state;
    const void *const rows[] = {&fourth, &fourth}, *const others[] = {&fourth, &third, &first};
    render(rows, 2, true, false,
           "NAME  SIZE  COUNT  KNOWN\n"
           "n      5 B      5  yes\n"
           "n      5 B      5  yes\n");
    render(rows, 2, false, false,
           "NAME  SIZE\n"
           "n      5 B\n"
           "n      5 B\n");
    render(others, 3, true, false,
           "NAME   SIZE     COUNT    TIME  RATIO  KNOWN\n"
           "n       5 B         5       -      -  yes\n"
           "-         -         -       -      -  no\n"
           "a     20 MB  20000000  0.9 ms   0.9x  yes\n");
}

static void no_rows_are_no_table(void **state)
{
    (void)state;
    render(NULL, 0, true, false, "");
}

static void a_very_long_cell_sticks_out(void **state)
{
    (void)state;
    static const struct row wide = {"123456789012345678901234567890123456789012345678901234567890", 7, 1,
                                    true};
    const void *const rows[] = {&first, &wide};
    render(rows, 2, false, false,
           "NAME                                               SIZE    TIME\n"
           "a                                                 20 MB  0.9 ms\n"
           "123456789012345678901234567890123456789012345678901234567890    7 B  1.0 ms\n");
}

static void json_keeps_types(void **state)
{
    (void)state;
    const void *const rows[] = {&first, &second, &third, &fourth};
    render(rows, 4, false, true,
           "[\n"
           "    {\"name\": \"a\", \"bytes\": 20000000, \"count\": 20000000, \"time_ms\": 0.94, \"known\": "
           "true},\n"
           "    {\"name\": \"long\\u001B\xc3\xa9\", \"bytes\": 7, \"count\": 7, \"time_ms\": 2900.0, "
           "\"known\": true},\n"
           "    {\"name\": \"\", \"bytes\": null, \"count\": null, \"time_ms\": null, \"known\": false},\n"
           "    {\"name\": \"n\", \"bytes\": 5, \"count\": 5, \"time_ms\": null, \"known\": true}\n"
           "  ]");
    render(NULL, 0, false, true, "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_aligned_by_type),
        cmocka_unit_test(verbose_columns_are_added),
        cmocka_unit_test(a_column_of_which_nothing_is_known_is_left_out),
        cmocka_unit_test(no_rows_are_no_table),
        cmocka_unit_test(a_very_long_cell_sticks_out),
        cmocka_unit_test(json_keeps_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
