/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of PTX: what ptxas 13.0 and driver 580 accepted and refused, one row each. */
#include "read.h"

#define BODY  ".visible .entry k(){ret;}\n"
#define ORDER "the order is .version, .target, .address_size"

struct row {
    const char *text, *code;
    size_t line;
    const char *message;
};

/* Headers that are accepted, with what they say. */
static void test_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct pj_isa version;
        struct pj_arch target;
        size_t marker_line;
    } rows[] = {
        {".version 8.5\n.target sm_80\n.address_size 64\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 1.4\n.target sm_13\n.entry k(){ret;}\n", {1, 4}, {13, 0}, 0},
        {".version 8.5 .target sm_80 .address_size 64 " BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5/* */.target sm_80/**/.address_size 64 " BODY, {8, 5}, {80, 0}, 0},
        {"/* */.version 8.5\n.target sm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {"// .version 1.0\n/* .version 2.0 */\n\n.version 8.5\n.target sm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\r\n.target sm_80\r\n.address_size 64\r\n" BODY, {8, 5}, {80, 0}, 0},
        {".version\r8.5\r.target sm_80\r" BODY, {8, 5}, {80, 0}, 0},
        {".version\f\t 8.5\f\n.target\fsm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 08.05\n.target sm_080\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 9.9\n.target sm_130f, new\n" BODY, {9, 9}, {130, 'f'}, 0},
        {".version 8.5\n.target compute_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target compute_90a\n" BODY, {8, 5}, {90, 'a'}, 0},
        {".version 8.5\n.target sm_90\n.target sm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80, sm_90\n" BODY, {8, 5}, {90, 0}, 0},
        {".version 8.5\n.target\nsm_80\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target/* x */sm_80 // y\n,/* z */debug\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80,texmode_unified ,debug\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n.target texmode_independent\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n.address_size 0x40\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n.address_size 0100\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n.address_size/* */64U\n" BODY, {8, 5}, {80, 0}, 0},
        {"\n# 1 \"x\"\n.version 8.5\n.target sm_80\n" BODY, {8, 5}, {80, 0}, 2},
        {".version 8.5\n# 1 \"x\"\n.target sm_80\n# 2 \"x\"\n" BODY, {8, 5}, {80, 0}, 0},
        {".version 8.5\n.target sm_80\n.visible .entry k(){ret;}", {8, 5}, {80, 0}, 0},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct reading reading;
        read_bytes(rows[i].text, strlen(rows[i].text), &reading);
        check_finding(&reading, rows[i].text, "ok", 0, NULL);
        assert_int_equal(pj_isa_compare(reading.ptx.version, rows[i].version), 0);
        assert_int_equal(pj_arch_compare(reading.ptx.target, rows[i].target), 0);
        assert_int_equal(reading.ptx.address_size, 64);
        assert_int_equal(reading.ptx.marker_line, rows[i].marker_line);
        assert_int_equal(reading.ptx.text_size, strlen(rows[i].text));
        assert_int_equal(reading.ptx.kernel_count, 1);
        assert_string_equal(reading.ptx.kernels[0], "k");
        pj_arena_free(&reading.arena);
    }
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct reading reading;
        read_bytes(rows[i].text, strlen(rows[i].text), &reading);
        check_finding(&reading, rows[i].text, rows[i].code, rows[i].line, rows[i].message);
        pj_arena_free(&reading.arena);
    }
}

#define SAME_LINE                                                                                            \
    " follows .version: its number must stand on the same line with nothing but blanks before it, as in "    \
    "`.version 8.0`"
#define NO_ISA " is no PTX ISA version: write two numbers with a point between them, as in `.version 8.0`"

static void test_version(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"x\n.version 8.5\n", "bad-header", 1,
         "line 1: found \"x\" where .version should be: only blanks and comments may stand before it; remove "
         "what "
         "does"},
        {".target sm_80\n.version 8.5\n" BODY, "bad-header", 1,
         "line 1: .target stands before .version: " ORDER},
        {"\n.address_size 64\n", "bad-header", 2, "line 2: .address_size stands before .version: " ORDER},
        {".version8.5\n", "bad-header", 1,
         "line 1: found \".version8.5\" where .version should be: only blanks and comments may stand before "
         "it; "
         "remove what does"},
        {".version", "bad-header", 1, "line 1: nothing" SAME_LINE},
        {".version/* */8.5\n", "bad-header", 1, "line 1: a comment" SAME_LINE},
        {".version // x\n8.5\n", "bad-header", 1, "line 1: a comment" SAME_LINE},
        {".version\n8.5\n", "bad-header", 1, "line 1: a line end" SAME_LINE},
        {".version\r\n8.5\r\n", "bad-header", 1, "line 1: a line end" SAME_LINE},
        {".version 8\n", "bad-header", 1, "line 1: .version \"8\"" NO_ISA},
        {".version 8.\n", "bad-header", 1, "line 1: .version \"8.\"" NO_ISA},
        {".version 8.5.1\n", "bad-header", 1, "line 1: .version \"8.5.1\"" NO_ISA},
        {".version 8.5f\n", "bad-header", 1, "line 1: .version \"8.5f\"" NO_ISA},
        {".version 8 . 5\n", "bad-header", 1, "line 1: .version \"8\"" NO_ISA},
        {".version 0x8.5\n", "bad-header", 1, "line 1: .version \"0x8.5\"" NO_ISA},
        {".version -8.5\n", "bad-header", 1, "line 1: .version \"-8.5\"" NO_ISA},
        {".version \v8.5\n", "bad-header", 1, "line 1: .version \"\\x0b8.5\"" NO_ISA},
        {".version 99999999999999999999.0\n", "bad-header", 1,
         "line 1: .version \"99999999999999999999.0\"" NO_ISA},
        {".version 8.9\n.target sm_80\n", "bad-header", 1,
         "line 1: there is no PTX ISA 8.9: correct the number of .version, or compile the PTX again"},
        {".version 7.80\n.target sm_80\n", "bad-header", 1,
         "line 1: there is no PTX ISA 7.80: correct the number of .version, or compile the PTX again"},
        {".version 1.6\n.target sm_10\n", "bad-header", 1,
         "line 1: there is no PTX ISA 1.6: correct the number of .version, or compile the PTX again"},
    };
    check_rows(rows, PJ_COUNT(rows));
}

#define NO_TARGET(found) "found " found " where .target should be: " ORDER ", one directly behind the other"
#define UNKNOWN(word)                                                                                        \
    ".target " word " is not known: write an architecture in small letters, as in `.target sm_80`"
#define V ".version 8.5\n"

static void test_target(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {V, "bad-header", 2, "line 2: " NO_TARGET("nothing")},
        {V ".address_size 64\n" BODY, "bad-header", 2, "line 2: " NO_TARGET("\".address_size\"")},
        {V ".version 8.4\n" BODY, "bad-header", 2, "line 2: " NO_TARGET("\".version\"")},
        {V ".targetsm_80\n" BODY, "bad-header", 2, "line 2: " NO_TARGET("\".targetsm_80\"")},
        {".version 8.5;\n.target sm_80\n", "bad-header", 1, "line 1: " NO_TARGET("\";\"")},
        {V BODY, "bad-header", 2, "line 2: " NO_TARGET("\".visible\"")},
        {V ".target SM_80\n" BODY, "bad-header", 2, "line 2: " UNKNOWN("\"SM_80\"")},
        {V ".target sm_80, foo\n" BODY, "bad-header", 2, "line 2: " UNKNOWN("\"foo\"")},
        {V ".target sm_80,\n" BODY, "bad-header", 3, "line 3: " UNKNOWN("\".visible\"")},
        {V ".target", "bad-header", 2, "line 2: " UNKNOWN("nothing")},
        {V ".target sm_90b\n" BODY, "bad-header", 2, "line 2: " UNKNOWN("\"sm_90b\"")},
        {V ".target debug, sm_80\n" BODY, "bad-header", 2,
         "line 2: .target starts with \"debug\": the architecture must come first, as in `.target sm_80, "
         "debug`"},
        {".version 9.9\n.target new\n" BODY, "bad-header", 2,
         "line 2: .target names no architecture: write one, as in `.target sm_80`"},
        {V ".target sm_81\n" BODY, "bad-header", 2,
         "line 2: PTX ISA 8.5 has no target sm_81: correct .target, or compile the PTX again"},
        {V ".target sm_90f\n" BODY, "bad-header", 2,
         "line 2: PTX ISA 8.5 has no target sm_90f: correct .target, or compile the PTX again"},
        {".version 7.0\n\n.target sm_90\n" BODY, "header-contradicts", 3,
         "line 3: .target sm_90 needs PTX ISA 7.8 or newer, but .version says 7.0: no compiler takes that; "
         "correct "
         "one of them, or compile the PTX again"},
        {".version 7.8\n.target sm_90a\n" BODY, "header-contradicts", 2,
         "line 2: .target sm_90a needs PTX ISA 8.0 or newer, but .version says 7.8: no compiler takes that; "
         "correct "
         "one of them, or compile the PTX again"},
        {".version 7.0\n.target sm_90\n.target sm_80\n" BODY, "header-contradicts", 2,
         "line 2: .target sm_90 needs PTX ISA 7.8 or newer, but .version says 7.0: no compiler takes that; "
         "correct "
         "one of them, or compile the PTX again"},
        {V "/* \n.target sm_80\n", "bad-header", 2,
         "line 2: a comment starts here and never ends: close it with */"},
    };
    check_rows(rows, PJ_COUNT(rows));
}

#define VT          ".version 8.5\n.target sm_80\n"
#define SIZE(found) ".address_size is " found ": write `.address_size 64`"

static void test_address_size(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {VT ".address_size 32\n" BODY, "32-bit", 3,
         "line 3: 32-bit PTX runs on no present architecture: compile it for 64 bits (nvcc -m64)"},
        {VT ".address_size 16\n" BODY, "bad-header", 3, "line 3: " SIZE("\"16\"")},
        {VT ".address_size -64\n" BODY, "bad-header", 3, "line 3: " SIZE("\"-64\"")},
        {VT ".address_size 64x\n" BODY, "bad-header", 3, "line 3: " SIZE("\"64x\"")},
        {VT ".address_size U\n" BODY, "bad-header", 3, "line 3: " SIZE("\"U\"")},
        {VT ".address_size 18446744073709551680\n" BODY, "bad-header", 3,
         "line 3: " SIZE("\"18446744073709551680\"")},
        {VT ".address_size\n" BODY, "bad-header", 3, "line 3: " SIZE("\".visible\"")},
        {VT ".address_size", "bad-header", 3, "line 3: " SIZE("nothing")},
        {VT ".address_size 64\n.address_size 64\n" BODY, "bad-header", 4,
         "line 4: .address_size stands behind .address_size: " ORDER ", and there is one of each"},
        {VT ".address_size 64\n.target sm_90\n" BODY, "bad-header", 4,
         "line 4: .target stands behind .address_size: " ORDER},
        {VT ".version 8.4\n" BODY, "bad-header", 3,
         "line 3: .version stands behind .target: " ORDER ", and there is one of each"},
        {".version 2.2\n.target sm_20\n.address_size 64\n" BODY, "header-contradicts", 3,
         "line 3: .address_size needs PTX ISA 2.3 or newer, but .version says 2.2: remove it, or compile the "
         "PTX "
         "again"},
    };
    check_rows(rows, PJ_COUNT(rows));
}

/* Words are shown safe to print, and never whole where they are long. */
static void test_long_words(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH);
    assert_non_null(text);
    memset(text, '\x1b', LENGTH);
    memcpy(text, V, sizeof V - 1);
    struct reading reading;
    read_bytes(text, LENGTH, &reading);
    assert_int_equal(reading.finding.code, PJ_PTX_BAD_HEADER);
    assert_non_null(strstr(reading.finding.message, "line 2: found \"\\x1b\\x1b"));
    assert_non_null(strstr(reading.finding.message, "\\x1b...\" where .target should be"));
    assert_true(strlen(reading.finding.message) < 400);
    pj_arena_free(&reading.arena);
    free(text);
}

/* The lowest ISA of every target is accepted, the version before it contradicts. */
static void test_every_target(void **state)
{
    (void)state;
    static const char letters[] = {0, 'a', 'f'};
    struct pj_isa before = {1, 0};
    size_t tried = 0;
    for (uint16_t major = 1; major <= 9; major++) {
        for (uint16_t minor = 0; minor <= 8; minor++) {
            const struct pj_isa isa = {major, minor};
            if (!pj_isa_known(isa))
                continue;
            for (size_t i = 0; i < 3 * 130; i++) {
                const struct pj_arch arch = {.number = (uint16_t)(i / 3), .letter = letters[i % 3]};
                struct pj_isa lowest;
                if (!pj_isa_lowest_for(arch, &lowest) || pj_isa_compare(lowest, isa) != 0)
                    continue;
                char name[PJ_ARCH_TEXT], text[200];
                (void)snprintf(text, sizeof text, ".version %d.%d\n.target %s\n" BODY, isa.major, isa.minor,
                               pj_arch_text(arch, name));
                struct reading reading;
                read_bytes(text, strlen(text), &reading);
                check_finding(&reading, text, "ok", 0, NULL);
                pj_arena_free(&reading.arena);
                if (pj_isa_compare(isa, before) != 0) {
                    (void)snprintf(text, sizeof text, ".version %d.%d\n.target %s\n" BODY, before.major,
                                   before.minor, name);
                    read_bytes(text, strlen(text), &reading);
                    assert_int_equal(reading.finding.code, PJ_PTX_HEADER_CONTRADICTS);
                    pj_arena_free(&reading.arena);
                }
                tried++;
            }
            before = isa;
        }
    }
    assert_int_equal(tried, 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),   cmocka_unit_test(test_version),
        cmocka_unit_test(test_target),     cmocka_unit_test(test_address_size),
        cmocka_unit_test(test_long_words), cmocka_unit_test(test_every_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
