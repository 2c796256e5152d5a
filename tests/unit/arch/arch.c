/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures: spelling, errors, and which code runs where, against what ptxas 13.0 was seen to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "base/memory.h"

/* Every architecture that ptxas 13.0 makes code for. */
static const char *const outputs[] = {"75",   "80",   "86",   "87",   "88",   "89",   "90",  "90a",
                                      "100",  "100a", "100f", "103",  "103a", "103f", "110", "110a",
                                      "110f", "120",  "120a", "120f", "121",  "121a", "121f"};

/* For every .target what `ptxas -arch=sm_…` accepted; a plain target is taken by all outputs from one on. */
static const struct {
    const char *target;
    const char *from;  /* first output of the list, or NULL */
    const char *exact; /* space-separated outputs where that is no tail of the list */
} accepted[] = {
    {"10", "75", NULL},   {"11", "75", NULL},       {"12", "75", NULL},
    {"13", "75", NULL},   {"20", "75", NULL},       {"21", "75", NULL},
    {"30", "75", NULL},   {"32", "75", NULL},       {"35", "75", NULL},
    {"37", "75", NULL},   {"50", "75", NULL},       {"52", "75", NULL},
    {"53", "75", NULL},   {"60", "75", NULL},       {"61", "75", NULL},
    {"62", "75", NULL},   {"70", "75", NULL},       {"72", "75", NULL},
    {"75", "75", NULL},   {"80", "80", NULL},       {"82", "86", NULL},
    {"86", "86", NULL},   {"87", "87", NULL},       {"88", "88", NULL},
    {"89", "89", NULL},   {"90", "90", NULL},       {"90a", NULL, " 90a "},
    {"100", "100", NULL}, {"100a", NULL, " 100a "}, {"100f", NULL, " 100 100a 100f 103 103a 103f "},
    {"101", "103", NULL}, {"101a", NULL, " 110a "}, {"101f", NULL, " 110 110a 110f "},
    {"103", "103", NULL}, {"103a", NULL, " 103a "}, {"103f", NULL, " 103 103a 103f "},
    {"110", "110", NULL}, {"110a", NULL, " 110a "}, {"110f", NULL, " 110 110a 110f "},
    {"120", "120", NULL}, {"120a", NULL, " 120a "}, {"120f", NULL, " 120 120a 120f 121 121a 121f "},
    {"121", "121", NULL}, {"121a", NULL, " 121a "}, {"121f", NULL, " 121 121a 121f "},
};

static struct pj_arch arch_of(const char *text)
{
    struct pj_arch arch = {0};
    assert_int_equal(pj_arch_parse(text, &arch, NULL), 0);
    return arch;
}

static bool is_listed(size_t row, size_t output)
{
    if (!accepted[row].from) {
        char word[16];
        (void)snprintf(word, sizeof word, " %s ", outputs[output]);
        return strstr(accepted[row].exact, word) != NULL;
    }
    for (size_t i = 0; i <= output; i++) {
        if (strcmp(outputs[i], accepted[row].from) == 0)
            return true;
    }
    return false;
}

static void test_compiles_for(void **state)
{
    (void)state;
    for (size_t row = 0; row < PJ_COUNT(accepted); row++) {
        for (size_t output = 0; output < PJ_COUNT(outputs); output++) {
            bool got = pj_arch_ptx_compiles_for(arch_of(accepted[row].target), arch_of(outputs[output]));
            if (got != is_listed(row, output))
                fail_msg(".target sm_%s for sm_%s: %d", accepted[row].target, outputs[output], got);
        }
    }
}

/* A device has all its letters: it runs what some output of its number takes. */
static void test_runs_on(void **state)
{
    (void)state;
    for (size_t row = 0; row < PJ_COUNT(accepted); row++) {
        struct pj_arch target = arch_of(accepted[row].target);
        for (size_t first = 0, next; first < PJ_COUNT(outputs); first = next) {
            uint16_t device = arch_of(outputs[first]).number;
            bool expected = false;
            for (next = first; next < PJ_COUNT(outputs) && arch_of(outputs[next]).number == device; next++)
                expected = expected || is_listed(row, next);
            bool got = pj_arch_ptx_runs_on(target, device);
            if (got != expected)
                fail_msg(".target sm_%s on %u: %d", accepted[row].target, device, got);
        }
    }
}

static void test_runs_where(void **state)
{
    (void)state;
    assert_string_equal(pj_arch_runs_where(arch_of("90a")), "on compute capability 9.0 alone");
    assert_string_equal(pj_arch_runs_where(arch_of("90")), "on compute capability 9.0 and above");
    assert_string_equal(pj_arch_runs_where(arch_of("100f")), "on compute capability 10.0 and 10.3 alone");
    assert_string_equal(pj_arch_runs_where(arch_of("101a")),
                        "on compute capability 11.0 (10.1 before CUDA 13) alone");
    assert_string_equal(pj_arch_runs_where(arch_of("120f")), "on compute capability 12.0 and 12.1 alone");
    assert_string_equal(pj_arch_runs_where(arch_of("75")), "on compute capability 7.5 and above");
    const struct pj_arch unknown = {.number = 990, .letter = 'a'};
    assert_string_equal(pj_arch_runs_where(unknown), "on that compute capability alone");
}

static void test_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint16_t number;
        char letter;
        const char *name;
    } rows[] = {
        {"sm_90", 90, 0, "sm_90"},     {"90", 90, 0, "sm_90"},         {"9.0", 90, 0, "sm_90"},
        {"sm_90a", 90, 'a', "sm_90a"}, {"90a", 90, 'a', "sm_90a"},     {"9.0a", 90, 'a', "sm_90a"},
        {"12.0", 120, 0, "sm_120"},    {"12.1f", 121, 'f', "sm_121f"}, {"sm_100f", 100, 'f', "sm_100f"},
        {"8.0", 80, 0, "sm_80"},       {"sm_10", 10, 0, "sm_10"},      {"sm_88", 88, 0, "sm_88"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_arch arch = {0};
        struct pj_error *error = NULL;
        char name[PJ_ARCH_TEXT];
        assert_int_equal(pj_arch_parse(rows[i].text, &arch, &error), 0);
        assert_null(error);
        assert_int_equal(arch.number, rows[i].number);
        assert_int_equal(arch.letter, rows[i].letter);
        assert_string_equal(pj_arch_text(arch, name), rows[i].name);
    }
}

#define HOW                                                                                                  \
    " is no architecture: write sm_90, 90 or 9.0, and the letter a or f behind it where there is one, "      \
    "as in sm_90a"
#define POINT " is no architecture: one digit follows the point, as in 9.0 or 12.1"
#define KNOWN "; the architectures of CUDA 13 are 75, 80, 86, 87, 89, 90, 100, 103, 110, 120 and 121"

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "\"\"" HOW},
        {"turbo", "\"turbo\"" HOW},
        {"sm_", "\"sm_\"" HOW},
        {"sm_9.0", "\"sm_9.0\" is no architecture: did you mean sm_90?"},
        {"sm_090", "\"sm_090\"" HOW},
        {"sm_9000", "\"sm_9000\"" HOW},
        {"-90", "\"-90\"" HOW},
        {" 90", "\" 90\"" HOW},
        {"90 ", "\"90 \"" HOW},
        {"9.", "\"9.\"" HOW},
        {"9.0aa", "\"9.0aa\"" HOW},
        {"9\n0", "\"9\\x0a0\"" HOW},
        {"12.10", "\"12.10\"" POINT},
        {"compute_90", "\"compute_90\" is a virtual architecture: did you mean sm_90?"},
        {"compute_90a", "\"compute_90a\" is a virtual architecture: did you mean sm_90a?"},
        {"SM_90", "\"SM_90\" is no architecture: did you mean sm_90?"},
        {"9.0A", "\"9.0A\" is no architecture: did you mean sm_90a?"},
        {"sm90", "\"sm90\" is no architecture: did you mean sm_90?"},
        {"lto_80", "\"lto_80\" is no architecture: did you mean sm_80?"},
        {"8.0a", "\"8.0a\": there is no sm_80a; sm_80 takes no letter"},
        {"sm_90f", "\"sm_90f\": there is no sm_90f; sm_90 takes the letter a alone"},
        {"sm_100b", "\"sm_100b\": there is no sm_100b; sm_100 takes the letters a and f"},
        {"sm_91", "\"sm_91\": there is no sm_91" KNOWN},
        {"9.1", "\"9.1\": there is no sm_91" KNOWN},
        {"9", "\"9\": there is no sm_9" KNOWN},
        {"12.2a", "\"12.2a\": there is no sm_122a" KNOWN},
        {"0123456789012345678901234567890123456789012345678901234567890123456789",
         "\"012345678901234567890123456789012345678901234567890123456789...\"" HOW},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_arch arch = {.number = 7, .letter = 'x'};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        assert_int_equal(pj_arch_parse(rows[i].text, &arch, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(error->code, PJ_ERROR_FORMAT);
        assert_int_equal(arch.number, 7);
        assert_int_equal(arch.letter, 'x');
    }
}

static void test_parse_ptx(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint16_t number;
        char letter;
    } rows[] = {
        {"sm_80", true, 80, 0},    {"compute_80", true, 80, 0}, {"compute_90a", true, 90, 'a'},
        {"sm_080", true, 80, 0},   {"sm_130f", true, 130, 'f'}, {"SM_80", false, 0, 0},
        {"80", false, 0, 0},       {"sm_", false, 0, 0},        {"sm_80b", false, 0, 0},
        {"sm_80aa", false, 0, 0},  {"sm_1000", false, 0, 0},    {"sm_0", false, 0, 0},
        {"compute_", false, 0, 0}, {"debug", false, 0, 0},      {"", false, 0, 0},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_arch arch = {0};
        bool ok = pj_arch_parse_ptx(rows[i].text, strlen(rows[i].text), &arch);
        if (ok != rows[i].ok)
            fail_msg("%s: %d", rows[i].text, ok);
        assert_int_equal(arch.number, rows[i].number);
        assert_int_equal(arch.letter, rows[i].letter);
    }
    struct pj_arch arch = {0};
    assert_true(pj_arch_parse_ptx("sm_90abc", 6, &arch));
    assert_int_equal(arch.letter, 'a');
}

static void test_order(void **state)
{
    (void)state;
    const char *const ascending[] = {"80", "90", "90a", "100", "100a", "100f", "103"};
    for (size_t i = 0; i < PJ_COUNT(ascending); i++) {
        for (size_t k = 0; k < PJ_COUNT(ascending); k++)
            assert_int_equal(pj_arch_compare(arch_of(ascending[i]), arch_of(ascending[k])),
                             (i > k) - (i < k));
    }
}

static void test_all(void **state)
{
    (void)state;
    static const uint16_t expected[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    size_t count = 0;
    const uint16_t *all = pj_arch_all(&count);
    assert_int_equal(count, PJ_COUNT(expected));
    assert_memory_equal(all, expected, sizeof expected);
    for (size_t i = 0; i < count; i++)
        assert_true(pj_arch_exists((struct pj_arch){.number = all[i]}));
    assert_false(pj_arch_exists((struct pj_arch){.number = 80, .letter = 'a'}));
    assert_false(pj_arch_exists((struct pj_arch){.number = 90, .letter = 'f'}));
    assert_false(pj_arch_exists((struct pj_arch){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiles_for), cmocka_unit_test(test_runs_on),
        cmocka_unit_test(test_runs_where),   cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_parse_ptx),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
