/* SPDX-License-Identifier: Apache-2.0 */
/* What right profiles say. */
#include "support.h"

static void values_arrive(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile = parse(WHOLE, &arena);
    assert_string_equal(profile.name, "f");
    assert_string_equal(profile.driver_version, "580.159.04");
    assert_int_equal(profile.cuda_version, 13000);
    assert_string_equal(profile.stamp, "Apr 29 202617:12:06");
    assert_int_equal(profile.cache_format, 65);
    assert_int_equal(profile.ptx_isa.major, 9);
    assert_int_equal(profile.ptx_isa.minor, 0);
    assert_int_equal(profile.arch_count, 2);
    assert_int_equal(profile.archs[0], 80);
    assert_int_equal(profile.archs[1], 90);
    static const bool proven[] = {true, true, true, true, false, false, false};
    assert_memory_equal(profile.proven, proven, sizeof proven);
    assert_int_equal(profile.compiler_count, 1);
    assert_string_equal(profile.compilers[0].tool, "ptxas");
    assert_string_equal(profile.compilers[0].version, "13.0.88");
    assert_true(profile.compilers[0].same_code);
    assert_int_equal(profile.compilers[0].cases, 12);
    assert_int_equal(profile.compilers[0].same, 12);
    assert_string_equal(profile.made_on, "2026-11-30");
    assert_string_equal(profile.made_with, "prejit 0.1.0");
    assert_string_equal(profile.gpu, "NVIDIA H200");
}

/* Each text is a whole profile with something at its edge. */
static void edges_are_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        V "driver: {version: 470.82, cuda: 12.9, stamp: x}\n" FROM_FORMAT,
        V "driver: {version: 99999.1.2.3, cuda: 99.99, stamp: ' ~'}\n" FROM_FORMAT,
        V "driver: {version: 580.159.04, cuda: 13.0, stamp: "
          "123456789012345678901234567890123456789012345678901234567890123}\n" FROM_FORMAT,
        TO_FORMAT "cache_format: 4294967295\n" FROM_ISA,
        TO_FORMAT "cache_format: 1\n" FROM_ISA,
        TO_ISA "ptx_isa: 9.1\n" FROM_ARCHS,
        TO_ISA "ptx_isa: 10.0\n" FROM_ARCHS,
        TO_ISA "ptx_isa: 8.8\n" FROM_ARCHS,
        TO_ARCHS "architectures: [75]\n" FROM_PROVEN,
        TO_PROVEN "proven: []\nnot_proven: [beside, foreign, fatbin, link, options, one-option, "
                  "plain]\n" FROM_COMPILERS,
        TO_PROVEN "not_proven: []\nproven: [beside, foreign, fatbin, link, options, one-option, "
                  "plain]\n" FROM_COMPILERS,
        TO_COMPILERS "compilers: []\n" FROM_MADE,
        TO_COMPILERS "compilers: [{tool: ptxas, version: 13.0.88, cases: 1000000, same_code_cases: 0},\n"
                     "{tool: nvjitlink, version: 13.0.88, cases: 1, same_code_cases: 1},\n"
                     "{tool: ptxas, version: 13.0, cases: 1, same_code_cases: 1}]\n" FROM_MADE,
        TO_MADE "made: {on: 2028-02-29, with: x, gpu: \"Tesla \\\"é\\\"\"}\n",
        TO_MADE "made: {on: 2000-12-31, with: x, gpu: x}\n",
    };
    for (size_t i = 0; i < PJ_COUNT(texts); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        (void)parse(texts[i], &arena);
    }
}

static void architectures_come_in_order(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile =
        parse(TO_ARCHS "architectures: [sm_120, 9.0, 75, sm_103]\n" FROM_PROVEN, &arena);
    static const uint16_t archs[] = {75, 90, 103, 120};
    assert_int_equal(profile.arch_count, 4);
    assert_memory_equal(profile.archs, archs, sizeof archs);
    assert_true(pj_profile_has_arch(&profile, 103));
    assert_false(pj_profile_has_arch(&profile, 80));
}

static void compilers_are_found(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile =
        parse(TO_COMPILERS "compilers:\n"
                           "- {tool: ptxas, version: 13.0.88, cases: 3, same_code_cases: 3}\n"
                           "- {tool: ptxas, version: 13.0.48, build: cuda_13.0.r13.0/compiler.1_0, cases: 3, "
                           "same_code_cases: 2}\n"
                           "- {tool: nvjitlink, version: 13.0.88, cases: 3, "
                           "same_code_cases: 0}\n" FROM_MADE,
              &arena);
    assert_ptr_equal(pj_profile_compiler_find(&profile, "ptxas", "13.0.48"), &profile.compilers[1]);
    assert_ptr_equal(pj_profile_compiler_find(&profile, "nvjitlink", "13.0.88"), &profile.compilers[2]);
    assert_null(pj_profile_compiler_find(&profile, "nvjitlink", "13.0.48"));
    assert_null(pj_profile_compiler_find(&profile, "ptxas", "13.0"));
    assert_null(profile.compilers[0].build);
    assert_string_equal(profile.compilers[1].build, "cuda_13.0.r13.0/compiler.1_0");
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    assert_int_equal(pj_profile_write(&profile, &text, NULL), 0);
    assert_non_null(
        strstr(pj_buffer_text(&text),
               "{tool: ptxas, version: 13.0.88, cases: 3, same_code_cases: 3}\n"
               "  - {tool: ptxas, version: 13.0.48, build: cuda_13.0.r13.0/compiler.1_0, cases: 3, "
               "same_code_cases: 2}\n"));
    assert_true(profile.compilers[0].same_code);
    assert_false(profile.compilers[1].same_code);
    assert_false(profile.compilers[2].same_code);
}

static void kinds_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"plain",  "one-option", "options", "link",
                                        "fatbin", "foreign",    "beside"};
    assert_int_equal(PJ_COUNT(names), PJ_PROFILE_KIND_COUNT);
    for (int kind = 0; kind < PJ_PROFILE_KIND_COUNT; kind++)
        assert_string_equal(pj_profile_kind_name((enum pj_profile_kind)kind), names[kind]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_arrive),       cmocka_unit_test(edges_are_accepted),
        cmocka_unit_test(compilers_are_found), cmocka_unit_test(architectures_come_in_order),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
