/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a profile's values, each with its exact message. */
#include "support.h"

#include "cache/format.h"

#define WITH_DRIVER(version, cuda, stamp)                                                                    \
    V "driver: {version: " version ", cuda: " cuda ", stamp: " stamp "}\n" FROM_FORMAT
#define VERSION "allowed is two to four numbers joined by points, for example "
#define CUDA    "; allowed is CUDA's version, two numbers joined by a point, for example `13.0`"
#define STAMP   "; allowed is a text of 1 to 63 ASCII characters, for example `\"Apr 29 202617:12:06\"`"
#define NUMBER  "; allowed is a number from 1 to 4294967295, for example `65`"
#define PTX_ISA "; allowed is a PTX ISA version, two numbers joined by a point, for example `9.0`"
#define KINDS                                                                                                \
    "; allowed is a list of `plain`, `one-option`, `options`, `link`, `fatbin`, `foreign` and `beside`, "    \
    "which may be "                                                                                          \
    "empty, "                                                                                                \
    "for example "
#define WITH_COMPILER(text) TO_COMPILERS "compilers: [{" text "}]\n" FROM_MADE
#define TEXT                "; allowed is a text of at most 200 bytes without control characters, for example "
#define HUNDRED                                                                                              \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

static const struct {
    const char *text;
    const char *message;
} cases[] = {
    {WITH_DRIVER("580", "13.0", "x"), "f:2:19: `version`: read `580`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("v580.1", "13.0", "x"), "f:2:19: `version`: read `v580.1`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("580.1.", "13.0", "x"), "f:2:19: `version`: read `580.1.`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("1.2.3.4.5", "13.0", "x"), "f:2:19: `version`: read `1.2.3.4.5`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("580.100000", "13.0", "x"), "f:2:19: `version`: read `580.100000`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("../580.1", "13.0", "x"), "f:2:19: `version`: read `../580.1`; " VERSION "`580.159.04`"},
    {WITH_DRIVER("580.1", "13", "x"), "f:2:32: `cuda`: read `13`" CUDA},
    {WITH_DRIVER("580.1", "13000", "x"), "f:2:32: `cuda`: read `13000`" CUDA},
    {WITH_DRIVER("580.1", "13.0.1", "x"), "f:2:32: `cuda`: read `13.0.1`" CUDA},
    {WITH_DRIVER("580.1", "0.5", "x"), "f:2:32: `cuda`: read `0.5`" CUDA},
    {WITH_DRIVER("580.1", "013.0", "x"), "f:2:32: `cuda`: read `013.0`" CUDA},
    {WITH_DRIVER("580.1", "13.-1", "x"), "f:2:32: `cuda`: read `13.-1`" CUDA},
    {WITH_DRIVER("580.1", "13.0", "\"\""), "f:2:45: `stamp`: read an empty value" STAMP},
    {WITH_DRIVER("580.1", "13.0", "1234567890123456789012345678901234567890123456789012345678901234"),
     "f:2:45: `stamp`: read `123456789012345678901234567890123456789012345678901234567890…`" STAMP
     "; these are 64 characters"},
    {WITH_DRIVER("580.1", "13.0", "\"a\\tb\""), "f:2:45: `stamp`: read `a\\x09b`" STAMP},
    {WITH_DRIVER("580.1", "13.0", "Größe"), "f:2:45: `stamp`: read `Größe`" STAMP},
    {WITH_DRIVER("580.1", "13.0", "1 2HOST64sm_80"),
     "f:2:45: `stamp`: read `1 2HOST64sm_80`" STAMP "; `HOST64sm_` is what follows it in a key"},
    {TO_FORMAT "cache_format: 0\n" FROM_ISA, "f:3:15: `cache_format`: read `0`" NUMBER},
    {TO_FORMAT "cache_format: -1\n" FROM_ISA, "f:3:15: `cache_format`: read `-1`" NUMBER},
    {TO_FORMAT "cache_format: 0x41\n" FROM_ISA, "f:3:15: `cache_format`: read `0x41`" NUMBER},
    {TO_FORMAT "cache_format: 4294967296\n" FROM_ISA, "f:3:15: `cache_format`: read `4294967296`" NUMBER},
    {TO_ISA "ptx_isa: 9\n" FROM_ARCHS, "f:4:10: `ptx_isa`: read `9`" PTX_ISA},
    {TO_ISA "ptx_isa: 9.0.1\n" FROM_ARCHS, "f:4:10: `ptx_isa`: read `9.0.1`" PTX_ISA},
    {TO_ISA "ptx_isa: 100.0\n" FROM_ARCHS, "f:4:10: `ptx_isa`: read `100.0`" PTX_ISA},
    {TO_ISA "ptx_isa: 8.9\n" FROM_ARCHS,
     "f:4:10: `ptx_isa`: read `8.9`" PTX_ISA "; there is no such version"},
    {TO_ISA "ptx_isa: 0.1\n" FROM_ARCHS,
     "f:4:10: `ptx_isa`: read `0.1`" PTX_ISA "; there is no such version"},
    {TO_ARCHS "architectures: [sm_91, sm_90a, turbo, sm_90, 9.0, [sm_80]]\n" FROM_PROVEN,
     "f:5:17: `architectures`: \"sm_91\": there is no sm_91; the architectures of CUDA 13 are 75, 80, 86, "
     "87, "
     "89, 90, 100, "
     "103, 110, 120 and 121\n"
     "f:5:24: `architectures`: read `sm_90a`; the driver compiles for a device with all its letters: write "
     "`sm_90`\n"
     "f:5:32: `architectures`: \"turbo\" is no architecture: write sm_90, 90 or 9.0, and the letter a or f "
     "behind it where "
     "there is one, as in sm_90a\n"
     "f:5:46: `architectures`: `sm_90` is given twice: remove one of them\n"
     "f:5:51: `architectures`: read a list; allowed is a list of at least one architecture, for example "
     "`[sm_80, "
     "sm_90]`"},
    {TO_PROVEN "proven: [plain, one-option, options, link, fast]\n" NOT_PROVEN FROM_COMPILERS,
     "f:6:44: `proven`: read `fast`" KINDS "`[plain, link]`"},
    {TO_PROVEN "proven: [plain, one-option, option, link]\n" NOT_PROVEN FROM_COMPILERS,
     "f:6:9: `options` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:29: `proven`: read `option`" KINDS "`[plain, link]`; did you mean `options`?"},
    {TO_PROVEN PROVEN "not_proven: [foreign, beside, fatbin, [plain]]\n" FROM_COMPILERS,
     "f:7:39: `not_proven`: read a list" KINDS "`[foreign]`"},
    {TO_PROVEN PROVEN "not_proven: [foreign, beside, fatbin, plain]\n" FROM_COMPILERS,
     "f:7:39: `not_proven`: `plain` is given twice, first at line 6, column 10: remove one of them"},
    {TO_PROVEN "proven: []\nnot_proven: []\n" FROM_COMPILERS,
     "f:6:9: `plain` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `one-option` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `options` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `link` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `fatbin` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `foreign` is neither under `proven` nor under `not_proven`: name it under one of them\n"
     "f:6:9: `beside` is neither under `proven` nor under `not_proven`: name it under one of them"},
    {WITH_COMPILER("tool: nvcc, version: 13.0.88, cases: 1, same_code_cases: 1"),
     "f:8:20: `tool`: read `nvcc`; allowed is `ptxas` or `nvjitlink`, for example `ptxas`"},
    {WITH_COMPILER("tool: nvJitLink, version: 13.0.88, cases: 1, same_code_cases: 1"),
     "f:8:20: `tool`: read `nvJitLink`; allowed is `ptxas` or `nvjitlink`, for example `ptxas`; did you mean "
     "`nvjitlink`?"},
    {WITH_COMPILER("tool: ptxas, version: V13.0.88, cases: 1, same_code_cases: 1"),
     "f:8:36: `version`: read `V13.0.88`; " VERSION "`13.0.88`"},
    {WITH_COMPILER("tool: ptxas, version: 13.0.88, cases: 0, same_code_cases: 0"),
     "f:8:52: `cases`: read `0`; allowed is a number from 1 to 1000000, for example `12`"},
    {WITH_COMPILER("tool: ptxas, version: 13.0.88, cases: 1000001, same_code_cases: 1000001"),
     "f:8:52: `cases`: read `1000001`; allowed is a number from 1 to 1000000, for example `12`\n"
     "f:8:78: `same_code_cases`: read `1000001`; allowed is a number from 0 to 1000000, for example `12`"},
    {WITH_COMPILER("tool: ptxas, version: 13.0.88, cases: 12, same_code_cases: 13"),
     "f:8:73: `same_code_cases`: read `13`; `cases` says 12"},
    {WITH_COMPILER(
         "tool: ptxas, version: 13.0.88, cases: 12, same_code_cases: 12}, {tool: ptxas, version: 13.0.88, "
         "cases: 1, same_code_cases: 0"),
     "f:8:78: `compilers`: ptxas 13.0.88 is given twice: remove one of them"},
    {TO_MADE "made: {on: 30.11.2026, with: x, gpu: x}\n",
     "f:9:12: `on`: read `30.11.2026`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-02-29, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2026-02-29`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2100-02-29, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2100-02-29`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-04-31, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2026-04-31`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-13-01, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2026-13-01`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-00-01, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2026-00-01`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-01-00, with: x, gpu: x}\n",
     "f:9:12: `on`: read `2026-01-00`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 1999-12-31, with: x, gpu: x}\n",
     "f:9:12: `on`: read `1999-12-31`; allowed is a day, for example `2026-11-30`"},
    {TO_MADE "made: {on: 2026-11-30, with: \"a\\nb\", gpu: \"\\x1b\"}\n",
     "f:9:30: `with`: read `a\\x0ab`" TEXT "`\"prejit 0.1.0\"`\n"
     "f:9:43: `gpu`: read `\\x1b`" TEXT "`\"NVIDIA H200\"`"},
    {TO_MADE "made: {on: 2026-11-30, with: x, gpu: " HUNDRED HUNDRED "0}\n",
     "f:9:38: `gpu`: read `012345678901234567890123456789012345678901234567890123456789…`" TEXT
     "`\"NVIDIA H200\"`"},
    /* All at once, in the order of the text. */
    {V "driver: {version: x, cuda: x, stamp: ''}\ncache_format: x\nptx_isa: x\narchitectures: [x]\nproven: "
       "[x]\n"
       "compilers: [{tool: x, version: x, cases: x, same_code_cases: x}]\nmade: {on: x, with: x, gpu: x}\nx: "
       "x\n",
     "f:1:1: `not_proven` is missing: the profile needs it, for example `not_proven: [foreign]`\n"
     "f:2:19: `version`: read `x`; " VERSION "`580.159.04`\n"
     "f:2:28: `cuda`: read `x`" CUDA "\n"
     "f:2:38: `stamp`: read an empty value" STAMP "\n"
     "f:3:15: `cache_format`: read `x`" NUMBER "\n"
     "f:4:10: `ptx_isa`: read `x`" PTX_ISA "\n"
     "f:5:17: `architectures`: \"x\" is no architecture: write sm_90, 90 or 9.0, and the letter a or f "
     "behind "
     "it where "
     "there is one, as in sm_90a\n"
     "f:6:10: `proven`: read `x`" KINDS "`[plain, link]`\n"
     "f:7:20: `tool`: read `x`; allowed is `ptxas` or `nvjitlink`, for example `ptxas`\n"
     "f:7:32: `version`: read `x`; " VERSION "`13.0.88`\n"
     "f:7:42: `cases`: read `x`; allowed is a number from 1 to 1000000, for example `12`\n"
     "f:7:62: `same_code_cases`: read `x`; allowed is a number from 0 to 1000000, for example `12`\n"
     "f:8:12: `on`: read `x`; allowed is a day, for example `2026-11-30`\n"
     "f:9:1: `x` is no key of the profile; its keys are `version`, `driver`, `cache_format`, `ptx_isa`, "
     "`architectures`, "
     "`proven`, `not_proven`, `compilers` and `made`"},
};

static void wrong_values_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++)
        expect_refused(cases[i].text, cases[i].message);
}

/* The profile module may not include the cache's header. */
static void stamps_fit_the_cache(void **state)
{
    (void)state;
    assert_int_equal((int)PJ_PROFILE_STAMP_MAX, (int)PJ_STAMP_MAX);
}

static void compilers_have_a_limit(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (int count = PJ_PROFILE_MAX_COMPILERS; count <= PJ_PROFILE_MAX_COMPILERS + 1; count++) {
        pj_buffer_reset(&text);
        pj_buffer_puts(&text, TO_COMPILERS "compilers:\n");
        for (int i = 0; i < count; i++)
            pj_buffer_printf(&text, "- {tool: ptxas, version: 13.%d, cases: 1, same_code_cases: 1}\n", i);
        pj_buffer_puts(&text, FROM_MADE);
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        if (count > PJ_PROFILE_MAX_COMPILERS)
            expect_refused(pj_buffer_text(&text), "f:9:1: `compilers`: read 65 items; allowed are 64");
        else
            assert_int_equal(parse(pj_buffer_text(&text), &arena).compiler_count, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(stamps_fit_the_cache),
        cmocka_unit_test(compilers_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
