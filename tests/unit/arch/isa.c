/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA versions: which exist, the lowest for a target, the highest for a CUDA version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/isa.h"
#include "base/memory.h"

/* Every version that there is; up to 9.0 all that ptxas 13.0 accepts. */
static const char accepted[] =
    " 1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 5.1 6.0 "
    "6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 "
    "8.6 8.7 8.8 9.0 9.1 9.2 9.3 9.4 ";

/* Compilers know a version by ten times major plus minor: 8.10 as 9.0 [77]. */
static void test_known(void **state)
{
    (void)state;
    for (uint16_t major = 0; major < 12; major++) {
        for (uint16_t minor = 0; minor < 30; minor++) {
            char word[24];
            (void)snprintf(word, sizeof word, " %d.%d ", major + minor / 10, minor % 10);
            const struct pj_isa isa = {major, minor};
            if (pj_isa_known(isa) != (major > 0 && strstr(accepted, word) != NULL))
                fail_msg("%d.%d", major, minor);
        }
    }
    assert_int_equal(pj_isa_compare(pj_isa_newest(), (struct pj_isa){9, 4}), 0);
    assert_int_equal(pj_isa_number((struct pj_isa){8, 10}), pj_isa_number((struct pj_isa){9, 0}));
}

static void test_compare(void **state)
{
    (void)state;
    static const struct pj_isa ascending[] = {{0, 0}, {7, 8},  {8, 0}, {8, 1},
                                              {8, 9}, {8, 10}, {9, 0}, {10, 0}};
    for (size_t i = 0; i < PJ_COUNT(ascending); i++) {
        for (size_t k = 0; k < PJ_COUNT(ascending); k++)
            assert_int_equal(pj_isa_compare(ascending[i], ascending[k]), (i > k) - (i < k));
    }
}

static void test_lowest(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        unsigned plain, a, f; /* ten times major plus minor; 0: no such target */
    } rows[] = {
        {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},
        {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 31, 0, 0},    {37, 41, 0, 0},
        {50, 40, 0, 0},    {52, 41, 0, 0},    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},
        {62, 50, 0, 0},    {70, 51, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
        {82, 70, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 73, 0, 0},    {89, 78, 0, 0},
        {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {107, 94, 94, 94},
        {110, 90, 90, 90}, {120, 87, 87, 88}, {121, 88, 88, 88},
    };
    size_t row = 0;
    for (uint16_t number = 0; number < 200; number++) {
        bool listed = row < PJ_COUNT(rows) && rows[row].number == number;
        for (size_t i = 0; i < 3; i++) {
            unsigned expected = !listed ? 0 : i == 0 ? rows[row].plain : i == 1 ? rows[row].a : rows[row].f;
            struct pj_isa isa = {0};
            const struct pj_arch target = {.number = number, .letter = "\0af"[i]};
            assert_int_equal(pj_isa_lowest_for(target, &isa), expected != 0);
            assert_int_equal(isa.major * 10u + isa.minor, expected);
        }
        row += listed;
    }
    assert_int_equal(row, PJ_COUNT(rows));
    struct pj_isa isa;
    assert_false(pj_isa_lowest_for((struct pj_arch){.number = 90, .letter = 'b'}, &isa));
}

static void test_cuda(void **state)
{
    (void)state;
    static const struct {
        int cuda;
        struct pj_isa isa;
        int last;
    } rows[] = {
        {10000, {6, 3}, 10000}, {10010, {6, 4}, 10010}, {10020, {6, 5}, 10020}, {11000, {7, 0}, 11000},
        {11010, {7, 1}, 11010}, {11020, {7, 2}, 11020}, {11030, {7, 3}, 11030}, {11040, {7, 4}, 11040},
        {11050, {7, 5}, 11050}, {11060, {7, 6}, 11060}, {11070, {7, 7}, 11070}, {11080, {7, 8}, 11080},
        {12000, {8, 0}, 12000}, {12010, {8, 1}, 12010}, {12020, {8, 2}, 12020}, {12030, {8, 3}, 12030},
        {12040, {8, 4}, 12040}, {12050, {8, 5}, 12060}, {12060, {8, 5}, 12060}, {12070, {8, 6}, 12070},
        {12080, {8, 7}, 12080}, {12090, {8, 8}, 12090}, {13000, {9, 0}, 13000}, {13010, {9, 1}, 13010},
        {13020, {9, 2}, 13020}, {13030, {9, 3}, 13030}, {13040, {9, 4}, 13040}, {4020, {3, 0}, 4020},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_isa isa = {0};
        assert_true(pj_isa_highest_for_cuda(rows[i].cuda, &isa));
        assert_int_equal(pj_isa_compare(isa, rows[i].isa), 0);
        assert_int_equal(pj_isa_last_cuda_version(isa), rows[i].last);
    }
    struct pj_isa isa = {1, 2};
    assert_false(pj_isa_highest_for_cuda(13050, &isa));
    assert_false(pj_isa_highest_for_cuda(14000, &isa));
    assert_false(pj_isa_highest_for_cuda(0, &isa));
    assert_false(pj_isa_highest_for_cuda(-1, &isa));
    assert_int_equal(isa.major, 1);
    assert_true(pj_isa_highest_for_cuda(13005, &isa));
    assert_int_equal(isa.major, 9);
    assert_int_equal(pj_isa_last_cuda_version((struct pj_isa){5, 1}), 8000);
    assert_int_equal(pj_isa_last_cuda_version((struct pj_isa){9, 9}), 13040);
    assert_int_equal(pj_isa_last_cuda_version((struct pj_isa){0, 9}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_lowest),
        cmocka_unit_test(test_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
