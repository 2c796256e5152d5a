/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of LTO-IR from nvcc and NVRTC 13.0, cut and changed. */
#include "data.h"

#include "image/ltoir.h"

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        struct pj_ltoir ltoir;
    } rows[] = {
        {"link/sm_90.ltoir", {{1, 65}, {2, 98}, {3, 2}, {7, 0}, 90}},
        {"link/nvrtc_sm_90.ltoir", {{1, 65}, {2, 98}, {3, 2}, {7, 0}, 90}},
        {"link/sm_100a.ltoir", {{1, 65}, {2, 98}, {3, 2}, {20, 0}, 100}}, /* the letter is not recorded */
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_ltoir ltoir = {0};
        data_read(rows[i].file, &bytes);
        char *memory = data_odd_copy(bytes.data, bytes.size);
        assert_int_equal(pj_ltoir_read(memory + 1, bytes.size, &ltoir, NULL), 0);
        assert_memory_equal(&ltoir, &rows[i].ltoir, sizeof ltoir);
        free(memory);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        size_t size, at;
        unsigned value;
        const char *message;
    } rows[] = {
        {3, 0, 0xed, "no LTO-IR: it does not start with ed 43 4e 7f"},
        {2020, 0, 'x', "no LTO-IR: it does not start with ed 43 4e 7f"},
        {23, 0, 0xed, "cut LTO-IR: 23 bytes do not hold its header of 24"},
        {39, 0, 0xed, "cut LTO-IR: its header goes up to byte 40 of 39"},
        {2020, 12, 23,
         "LTO-IR layout not known: a header of 23 bytes and fields up to byte 40, not at least 24 and no "
         "less "
         "than the header"},
        {2020, 16, 23,
         "LTO-IR layout not known: a header of 24 bytes and fields up to byte 23, not at least 24 and no "
         "less "
         "than the header"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_ltoir ltoir = {.arch_number = 7};
        data_read("link/sm_90.ltoir", &bytes);
        data_set(&bytes, rows[i].at, 1, rows[i].value);
        char *memory = data_odd_copy(bytes.data, rows[i].size);
        assert_int_equal(pj_ltoir_read(memory + 1, rows[i].size, &ltoir, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(ltoir.arch_number, 7);
        free(memory);
    }
}

/* No field for the architecture, or none that could be one: not recorded. */
static void test_no_arch(void **state)
{
    (void)state;
    static const struct {
        size_t at, size;
        uint64_t value;
    } rows[] = {{24, 2, 2}, {26, 2, 901}, {16, 4, 24}};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_ltoir ltoir = {.arch_number = 7};
        data_read("link/sm_90.ltoir", &bytes);
        data_set(&bytes, rows[i].at, rows[i].size, rows[i].value);
        assert_int_equal(pj_ltoir_read(bytes.data, bytes.size, &ltoir, NULL), 0);
        assert_int_equal(ltoir.arch_number, 0);
        assert_int_equal(ltoir.ir.minor, 98);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_arch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
