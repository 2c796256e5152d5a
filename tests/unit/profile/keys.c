/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a profile as a whole and of its keys: unknown, missing, twice, of the wrong kind. */
#include "support.h"
#include "version.h"

#define OTHER_VERSION                                                                                        \
    "; this prejit (" PREJIT_VERSION                                                                         \
    ") reads profiles of version 1: get a prejit that reads the other version, or "                          \
    "make the profile again with this one (prejit profile)"
#define EMPTY "the profile is empty; make one with prejit profile, on a machine with the driver"
#define ROOT_KEYS                                                                                            \
    "`version`, `driver`, `cache_format`, `ptx_isa`, `architectures`, `proven`, `not_proven`, `compilers` "  \
    "and `made`"
#define NO_DRIVER                                                                                            \
    "`driver` is missing: the profile needs it, for example `driver: {version: 580.159.04, cuda: 13.0, "     \
    "stamp: "                                                                                                \
    "\"Apr 29 202617:12:06\"}`"
#define NO_FORMAT "`cache_format` is missing: the profile needs it, for example `cache_format: 65`"
#define NO_ISA    "`ptx_isa` is missing: the profile needs it, for example `ptx_isa: 9.0`"
#define NO_ARCHS                                                                                             \
    "`architectures` is missing: the profile needs it, for example `architectures: [sm_80, sm_90]`"
#define NO_PROVEN     "`proven` is missing: the profile needs it, for example `proven: [plain, link]`"
#define NO_NOT_PROVEN "`not_proven` is missing: the profile needs it, for example `not_proven: [foreign]`"
#define NO_COMPILERS                                                                                         \
    "`compilers` is missing: the profile needs it, for example `compilers: [{tool: ptxas, version: "         \
    "13.0.88, cases: "                                                                                       \
    "12, same_code_cases: 12}]`"
#define NO_MADE                                                                                              \
    "`made` is missing: the profile needs it, for example `made: {on: 2026-11-30, with: \"prejit 0.1.0\", "  \
    "gpu: "                                                                                                  \
    "\"NVIDIA H200\"}`"

static const struct {
    const char *text;
    const char *message;
} whole[] = {
    {"", "f:1:1: " EMPTY},
    {"# nothing\n", "f:1:1: " EMPTY},
    {"- a\n", "f:1:1: read a list; the profile is a mapping: write keys such as `version: 1`"},
    {"580.159.04\n", "f:1:1: read `580.159.04`; the profile is a mapping: write keys such as `version: 1`"},
    {"a: [\n", "f:2:1: not YAML: did not find expected node content while parsing a flow node; a value is "
               "missing here, "
               "or text needs quotes"},
    {"version: 2\nwhatever: 1\n", "f:1:10: `version`: read `2`" OTHER_VERSION},
    {"driver: 1\nversion: 1.0\n", "f:2:10: `version`: read `1.0`" OTHER_VERSION},
    {"version: [1]\n", "f:1:10: `version`: read a list" OTHER_VERSION},
    {"version:\n", "f:1:9: `version`: read an empty value" OTHER_VERSION},
    {V "version: 1\n" DRIVER FROM_FORMAT,
     "f:2:1: the key `version` is given twice, first at line 1, column 1: remove one "
     "of them"},
    {V, "f:1:1: " NO_DRIVER "\nf:1:1: " NO_FORMAT "\nf:1:1: " NO_ISA "\nf:1:1: " NO_ARCHS
        "\nf:1:1: " NO_PROVEN "\nf:1:1: " NO_NOT_PROVEN "\nf:1:1: " NO_COMPILERS "\nf:1:1: " NO_MADE},
    {DRIVER FROM_FORMAT, "f:1:1: `version` is missing: the profile needs it, for example `version: 1`"},
    {WHOLE "modules: []\n", "f:10:1: `modules` is no key of the profile; its keys are " ROOT_KEYS},
    {WHOLE "architecture: []\n",
     "f:10:1: `architecture` is no key of the profile; did you mean `architectures`?"},
    {WHOLE "? \"a\\nb\"\n: 1\n", "f:10:3: `a\\x0ab` is no key of the profile; its keys are " ROOT_KEYS},
};

static const struct {
    const char *text;
    const char *message;
} kinds[] = {
    {V "driver: 580.159.04\n" FROM_FORMAT,
     "f:2:9: `driver`: read `580.159.04`; allowed is a mapping, for example "
     "`{version: 580.159.04, cuda: 13.0, stamp: \"Apr 29 202617:12:06\"}`"},
    {V "driver: {}\n" FROM_FORMAT,
     "f:2:9: `driver`: read an empty mapping; allowed is a mapping, for example `{version: "
     "580.159.04, cuda: 13.0, stamp: \"Apr 29 202617:12:06\"}`"},
    {V "driver: {stampp: x}\n" FROM_FORMAT,
     "f:2:9: `version` is missing: `driver` needs it, for example `version: 580.159.04`\n"
     "f:2:9: `cuda` is missing: `driver` needs it, for example `cuda: 13.0`\n"
     "f:2:9: `stamp` is missing: `driver` needs it, for example `stamp: \"Apr 29 202617:12:06\"`\n"
     "f:2:10: `stampp` is no key of `driver`; did you mean `stamp`?"},
    {V "driver: {version: 580.159.04, cuda: 13.0, stamp: [x]}\n" FROM_FORMAT,
     "f:2:50: `stamp`: read a list; allowed is a text of 1 to 63 ASCII characters, for example `\"Apr 29 "
     "202617:12:06\"`"},
    {TO_FORMAT "cache_format: [65]\n" FROM_ISA,
     "f:3:15: `cache_format`: read a list; allowed is a number from 1 to "
     "4294967295, for example `65`"},
    {TO_FORMAT "cache_format:\n" FROM_ISA,
     "f:3:14: `cache_format`: read an empty value; allowed is a number from 1 to "
     "4294967295, for example `65`"},
    {TO_ARCHS "architectures: sm_90\n" FROM_PROVEN,
     "f:5:16: `architectures`: read `sm_90`; allowed is a list of at least "
     "one architecture, for example `[sm_80, sm_90]`"},
    {TO_ARCHS "architectures: []\n" FROM_PROVEN,
     "f:5:16: `architectures`: read an empty list; allowed is a list of at "
     "least one architecture, for example `[sm_80, sm_90]`"},
    {TO_PROVEN "proven: plain\n" NOT_PROVEN FROM_COMPILERS,
     "f:6:9: `proven`: read `plain`; allowed is a list of `plain`, `one-option`, `options`, `link`, "
     "`fatbin`, `foreign` and "
     "`beside`, which may be empty, for example `[plain, link]`"},
    {TO_COMPILERS "compilers: ptxas\n" FROM_MADE, "f:8:12: `compilers`: read `ptxas`; allowed is a list of "
                                                  "compilers, for example `[{tool: ptxas, version: 13.0.88, "
                                                  "cases: 12, same_code_cases: 12}]`"},
    {TO_COMPILERS "compilers: [ptxas]\n" FROM_MADE,
     "f:8:13: read `ptxas`; a compiler is a mapping: write keys such as `tool: ptxas`"},
    {TO_COMPILERS "compilers: [{}]\n" FROM_MADE,
     "f:8:13: `tool` is missing: a compiler needs it, for example `tool: ptxas`\n"
     "f:8:13: `version` is missing: a compiler needs it, for example `version: 13.0.88`\n"
     "f:8:13: `cases` is missing: a compiler needs it, for example `cases: 12`\n"
     "f:8:13: `same_code_cases` is missing: a compiler needs it, for example `same_code_cases: 12`"},
    {TO_COMPILERS
     "compilers: [{tool: ptxas, version: 13.0.88, cases: 1, same_code_cases: 1, sha256: 1}]\n" FROM_MADE,
     "f:8:75: `sha256` is no key of a compiler; its keys are `tool`, `version`, `build`, `cases` and "
     "`same_code_cases`"},
    {TO_COMPILERS
     "compilers: [{tool: ptxas, version: 13.0.88, build: \"a b\", cases: 1, same_code_cases: 1}]\n" FROM_MADE,
     "f:8:52: `build`: read `a b`; allowed is what `ptxas --version` has behind `Build`, for example "
     "`cuda_13.0.r13.0/compiler.36424714_0`"},
    {TO_MADE "made: [x]\n",
     "f:9:7: `made`: read a list; allowed is a mapping, for example `{on: 2026-11-30, with: "
     "\"prejit 0.1.0\", gpu: \"NVIDIA H200\"}`"},
    {TO_MADE "made: {on: 2026-11-30, with: x, gpu: x, by: me}\n",
     "f:9:41: `by` is no key of `made`; its keys are `on`, `with` and `gpu`"},
};

static void faults_of_the_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(whole); i++)
        expect_refused(whole[i].text, whole[i].message);
}

static void faults_of_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(kinds); i++)
        expect_refused(kinds[i].text, kinds[i].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_the_whole),
                                       cmocka_unit_test(faults_of_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
