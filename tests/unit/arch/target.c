/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as a manifest or -t writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/target.h"
#include "base/memory.h"

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum pj_target_form form;
        struct pj_arch first, last;
    } rows[] = {
        {"native", PJ_TARGET_NATIVE, {0, 0}, {0, 0}},
        {"all", PJ_TARGET_ALL, {0, 0}, {0, 0}},
        {"sm_80", PJ_TARGET_ONE, {80, 0}, {80, 0}},
        {"9.0a", PJ_TARGET_ONE, {90, 'a'}, {90, 'a'}},
        {"12.0", PJ_TARGET_ONE, {120, 0}, {120, 0}},
        {"sm_80..sm_90", PJ_TARGET_RANGE, {80, 0}, {90, 0}},
        {"80..9.0", PJ_TARGET_RANGE, {80, 0}, {90, 0}},
        {"sm_90..sm_90", PJ_TARGET_RANGE, {90, 0}, {90, 0}},
        {"turing", PJ_TARGET_RANGE, {75, 0}, {75, 0}},
        {"ampere", PJ_TARGET_RANGE, {80, 0}, {87, 0}},
        {"ada", PJ_TARGET_RANGE, {89, 0}, {89, 0}},
        {"hopper", PJ_TARGET_RANGE, {90, 0}, {90, 0}},
        {"blackwell", PJ_TARGET_RANGE, {100, 0}, {121, 0}},
        {"h100", PJ_TARGET_ONE, {90, 0}, {90, 0}},
        {"H200", PJ_TARGET_ONE, {90, 0}, {90, 0}},
        {"NVIDIA H100 80GB HBM3", PJ_TARGET_ONE, {90, 0}, {90, 0}},
        {"A100-SXM4-40GB", PJ_TARGET_ONE, {80, 0}, {80, 0}},
        {"a10", PJ_TARGET_ONE, {86, 0}, {86, 0}},
        {"l40s", PJ_TARGET_ONE, {89, 0}, {89, 0}},
        {"rtx 4090", PJ_TARGET_ONE, {89, 0}, {89, 0}},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", PJ_TARGET_ONE, {89, 0}, {89, 0}},
        {"rtx_3080_ti", PJ_TARGET_ONE, {86, 0}, {86, 0}},
        {"rtx 6000 ada", PJ_TARGET_ONE, {89, 0}, {89, 0}},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", PJ_TARGET_ONE, {120, 0}, {120, 0}},
        {"Tesla T4", PJ_TARGET_ONE, {75, 0}, {75, 0}},
        {"v100", PJ_TARGET_ONE, {70, 0}, {70, 0}},
        {"gb300", PJ_TARGET_ONE, {103, 0}, {103, 0}},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_target_spec spec = {.form = PJ_TARGET_ALL, .first = {1, 1}, .last = {1, 1}};
        struct pj_error *error = NULL;
        assert_int_equal(pj_target_parse(rows[i].text, &spec, &error), 0);
        assert_null(error);
        assert_int_equal(spec.form, rows[i].form);
        assert_int_equal(pj_arch_compare(spec.first, rows[i].first), 0);
        assert_int_equal(pj_arch_compare(spec.last, rows[i].last), 0);
    }
}

#define WRITE                                                                                                \
    "write native, all, an architecture (sm_90, 90, 9.0, 90a), a range (sm_80..sm_90), a family (turing, "   \
    "ampere, ada, hopper, blackwell) or a GPU (h100, rtx 4090)"

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"natve", "\"natve\" is no target: did you mean native?"},
        {"Ampere", "\"Ampere\" is no target: did you mean ampere?"},
        {"turbo", "\"turbo\" is no target: " WRITE},
        {"h1000", "\"h1000\" is no target: " WRITE},
        {"rtx 6000", "\"rtx 6000\" is no target: write quadro rtx 6000, rtx 6000 ada or rtx pro 6000"},
        {"volta", "\"volta\" is no target: write sm_70, or sm_72 for Jetson Xavier"},
        {"all-major", "\"all-major\" is no target: write all, or name them: sm_80, sm_90, sm_100, sm_120"},
        {"80;90", "\"80;90\" is a list of targets: write each by itself: 80, 90"},
        {"8.0 9.0+PTX", "\"8.0 9.0+PTX\" is a list of targets: write each by itself: 8.0, sm_90"},
        {"rtx 4090, h100", "\"rtx 4090, h100\" is a list of targets: write each by itself: rtx 4090, h100"},
        {"80;91",
         "\"80;91\" is no architecture: write sm_90, 90 or 9.0, and the letter a or f behind it where "
         "there is one, as in sm_90a"},
        {"9.0+PTX",
         "\"9.0+PTX\" is no architecture: did you mean sm_90? (every target is compiled from PTX, so a "
         "target has no suffix)"},
        {"90-real",
         "\"90-real\" is no architecture: did you mean sm_90? (every target is compiled from PTX, so a "
         "target has no suffix)"},
        {"compute_90", "\"compute_90\" is a virtual architecture: did you mean sm_90?"},
        {"8.0a", "\"8.0a\": there is no sm_80a; sm_80 takes no letter"},
        {"12.10", "\"12.10\" is no architecture: one digit follows the point, as in 9.0 or 12.1"},
        {"sm_90..sm_80",
         "target range: sm_90..sm_80 is empty: write the lower end first, as in sm_80..sm_90"},
        {"sm_90a..sm_100",
         "target range: a range takes no letters: write sm_90..sm_100, which has every device of "
         "these numbers with all its letters"},
        {"sm_80..", "target range: a range needs an architecture at both ends, as in sm_80..sm_90"},
        {"..sm_80", "target range: a range needs an architecture at both ends, as in sm_80..sm_90"},
        {"..", "target range: a range needs an architecture at both ends, as in sm_80..sm_90"},
        {"sm_80..compute_90", "target range: \"compute_90\" is a virtual architecture: did you mean sm_90?"},
        {"sm_80..sm_900000000000000",
         "target range: no architecture has a name that long: write a range as in sm_80..sm_90"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_target_spec spec = {.form = PJ_TARGET_ALL, .first = {7, 0}};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        assert_int_equal(pj_target_parse(rows[i].text, &spec, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(spec.first.number, 7);
    }
    struct pj_target_spec spec;
    assert_int_equal(pj_target_parse("sm_91", &spec, NULL), PJ_ERROR_FORMAT);
    assert_int_equal(pj_target_parse("x", &spec, NULL), PJ_ERROR_FORMAT);
    assert_int_equal(pj_target_parse("sm_80..x", &spec, NULL), PJ_ERROR_FORMAT);
}

static void test_contains(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint16_t number;
        bool inside;
    } rows[] = {
        {"all", 75, true},          {"all", 121, true},          {"sm_90a", 90, true},
        {"sm_90", 100, false},      {"sm_80..sm_90", 80, true},  {"sm_80..sm_90", 86, true},
        {"sm_80..sm_90", 90, true}, {"sm_80..sm_90", 75, false}, {"sm_80..sm_90", 100, false},
        {"blackwell", 110, true},   {"ampere", 89, false},       {"native", 90, false},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_target_spec spec;
        assert_int_equal(pj_target_parse(rows[i].text, &spec, NULL), 0);
        assert_int_equal(pj_target_contains(&spec, rows[i].number), rows[i].inside);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_contains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
