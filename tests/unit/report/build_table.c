/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a build: what is shown, what is counted, what is explained below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "build_models.h"

/* Without notes it ends in the blank line that sets the answer off, which `expected` does not have. */
static void assert_table(const struct pj_build_report *report, bool verbose, const char *expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer wanted = {0};
    assert_int_equal(pj_build_render_table(report, verbose, &buffer, NULL), 0);
    pj_buffer_printf(&wanted, "%s%s", expected, *expected && report->note_count == 0 ? "\n" : "");
    assert_string_equal(pj_buffer_text(&buffer), pj_buffer_text(&wanted));
}

static struct pj_build_report *model(void **state, const char *name)
{
    struct pj_build_report *report = build_model_make(*state, name);
    assert_non_null(report);
    return report;
}

static void a_line_each_with_what_kernels_take(void **state)
{
    assert_table(model(state, "built"), false,
                 "MODULE  TARGET  RESULT  COMPILER            TIME  KERNELS  REGISTERS  SHARED  STACK  "
                 "SPILLS    SIZE\n"
                 "u0      sm_90   built   nvjitlink         312 ms        1         10   256 B    0 B     0 "
                 "B  4.8 kB\n"
                 "solver  sm_90a  built   nvrtc, nvjitlink  312 ms        2         24   256 B      -    20 "
                 "B  4.8 kB\n"
                 "\n"
                 "2 warnings, the first of solver sm_90a: src/a.cu(4): warning #177-D: variable \"unused\" "
                 "was declared but never referenced (-v shows all)\n"
                 "\n"
                 "1 target of a range, family or `all` was left out: a module does not run there, or the "
                 "toolkit does not compile for it\n"
                 "\n"
                 "note: a fact\n");
}

static void verbose_names_kernels_and_everything_that_went_in(void **state)
{
    assert_table(
        model(state, "built"), true,
        "MODULE  TARGET  RESULT  COMPILER            TIME  KERNELS  REGISTERS  SHARED  STACK  SPILLS    SIZE "
        " KERNEL\n"
        "u0      sm_90   built   nvjitlink         312 ms        1         10   256 B    0 B     0 B  4.8 kB "
        " -\n"
        "u0      sm_90   -       -                      -        -         10   256 B    0 B     0 B       - "
        " saxpy\n"
        "solver  sm_90a  built   nvrtc, nvjitlink  312 ms        2         24   256 B      -    20 B  4.8 kB "
        " -\n"
        "solver  sm_90a  -       -                      -        -         10   256 B    0 B     0 B       - "
        " saxpy\n"
        "solver  sm_90a  -       -                      -        -         24       -      -    20 B       - "
        " _Z5scalePf\n"
        "\n"
        "u0 sm_90\n"
        "    ptx: a.ptx, 512 B, sha256 abababababababababababababababababababababababababababababababab\n"
        "    arguments: -arch=sm_90\n"
        "    made cubin: u.sm_90.cubin, 4.8 kB, sha256 "
        "0000000000000000000000000000000000000000000000000000000000000000\n"
        "\n"
        "solver sm_90a\n"
        "    source: src/a.cu, 1.2 kB, sha256 "
        "0000000000000000000000000000000000000000000000000000000000000000\n"
        "    header: inc/a.h, 12 B, sha256 0000000000000000000000000000000000000000000000000000000000000000\n"
        "    arguments: -arch=sm_90 '-DNAME=a b'\n"
        "    made ptx: u.sm_90a.ptx, 1.7 kB, sha256 "
        "0000000000000000000000000000000000000000000000000000000000000000\n"
        "    made cubin: u.sm_90.cubin, 4.8 kB, sha256 "
        "0000000000000000000000000000000000000000000000000000000000000000\n"
        "    warning: src/a.cu(4): warning #177-D: variable \"unused\" was declared but never referenced\n"
        "    warning: stack is large\n"
        "\n"
        "NVRTC 13.0: /cuda/lib64/libnvrtc.so.13\n"
        "nvJitLink 13.0.88: /cuda/lib64/libnvJitLink.so.13.0.88\n"
        "\n"
        "1 target of a range, family or `all` was left out: a module does not run there, or the toolkit does "
        "not compile for it\n"
        "\n"
        "note: a fact\n");
}

static void nothing_that_was_not_written_has_a_path(void **state)
{
    struct pj_build_report *report = model(state, "check");
    report->unit_count = 1;
    report->nvrtc.path = NULL;
    report->left_out = report->note_count = 0;
    assert_table(
        report, true,
        "MODULE  TARGET  RESULT  COMPILER     TIME  KERNELS  REGISTERS  SHARED  STACK  SPILLS    SIZE  "
        "KERNEL\n"
        "u0      sm_90   built   nvjitlink  312 ms        1         10   256 B    0 B     0 B  4.8 kB  -\n"
        "u0      sm_90   -       -               -        -         10   256 B    0 B     0 B       -  "
        "saxpy\n"
        "\n"
        "u0 sm_90\n"
        "    ptx: a.ptx, 512 B, sha256 abababababababababababababababababababababababababababababababab\n"
        "    arguments: -arch=sm_90\n"
        "    made cubin: 4.8 kB, sha256 0000000000000000000000000000000000000000000000000000000000000000\n"
        "\n"
        "nvJitLink 13.0.88: /cuda/lib64/libnvJitLink.so.13.0.88\n");
}

static void failures_are_explained_below(void **state)
{
    assert_table(model(state, "trouble"), false,
                 "MODULE  TARGET  RESULT         COMPILER     TIME  KERNELS  REGISTERS  SHARED  STACK  "
                 "SPILLS    SIZE\n"
                 "u0      sm_90   not-tried      nvjitlink       -        -          -       -      -       "
                 "-       -\n"
                 "u1      sm_90   built          nvjitlink  312 ms        1         10   256 B    0 B     0 "
                 "B  4.8 kB\n"
                 "u2      sm_90   rejected       nvrtc           -        -          -       -      -       "
                 "-       -\n"
                 "u3      sm_90   incompatible   nvjitlink       -        -          -       -      -       "
                 "-       -\n"
                 "u4      sm_90   crashed        nvjitlink       -        -          -       -      -       "
                 "-       -\n"
                 "u5      sm_90   timed-out      nvjitlink       -        -          -       -      -       "
                 "-       -\n"
                 "u6      sm_90   out-of-memory  nvjitlink       -        -          -       -      -       "
                 "-       -\n"
                 "\n"
                 "u2 sm_90: rejected: NVRTC 13.0 refused it: NVRTC_ERROR_COMPILATION: a.cu(1): error: no\n"
                 "      x = y;\n"
                 "          ^\n"
                 "\n"
                 "    1 error detected\n"
                 "\n"
                 "u3 sm_90: incompatible: it runs on sm_90 and newer\n"
                 "\n"
                 "u4 sm_90: crashed: the compiler was ended by signal 11\n"
                 "    to let the run succeed without it, give the module `required: false`\n");
}

static void what_is_not_known_is_not_zero(void **state)
{
    struct pj_build_report *report = build_model_built(*state, 1);
    assert_non_null(report);
    struct pj_build_kernel *other = &report->units[0].kernels[1];
    report->units[0].kernel_count = 2;
    /* 256 bytes of shared memory is the least that it can be; no stack and no spills would be said. */
    assert_table(report, false,
                 "MODULE  TARGET  RESULT  COMPILER     TIME  KERNELS  REGISTERS  SHARED    SIZE\n"
                 "u0      sm_90   built   nvjitlink  312 ms        2         10   256 B  4.8 kB\n");
    *other = (struct pj_build_kernel){.name = "b", .has_spills = true, .spill_load_bytes = 4};
    report->units[0].kernels[0].has_spills = false;
    assert_table(report, false,
                 "MODULE  TARGET  RESULT  COMPILER     TIME  KERNELS  REGISTERS  SHARED  SPILLS    SIZE\n"
                 "u0      sm_90   built   nvjitlink  312 ms        2         10   256 B     4 B  4.8 kB\n");
    report->units[0].kernel_count = 0;
    assert_table(report, false,
                 "MODULE  TARGET  RESULT  COMPILER     TIME  KERNELS    SIZE\n"
                 "u0      sm_90   built   nvjitlink  312 ms        0  4.8 kB\n");
}

static void one_warning_is_not_plural(void **state)
{
    struct pj_build_report *report = build_model_built(*state, 1);
    assert_non_null(report);
    report->units[0].warnings[0] = "odd\x1b";
    report->units[0].warning_count = 1;
    assert_table(
        report, false,
        "MODULE  TARGET  RESULT  COMPILER     TIME  KERNELS  REGISTERS  SHARED  STACK  SPILLS    SIZE\n"
        "u0      sm_90   built   nvjitlink  312 ms        1         10   256 B    0 B     0 B  4.8 kB\n"
        "\n"
        "1 warning, of u0 sm_90: odd\\x1b\n");
}

static void forty_have_a_line_and_the_rest_is_counted(void **state)
{
    struct pj_build_report *report = model(state, "many");
    assert_table(report, false, "1000 built (-v lists them)\n");
    report->units[7].verdict = PJ_BUILD_REJECTED;
    report->units[7].kernel_count = 0;
    report->units[7].has_cubin = report->units[7].has_ms = false;
    report->units[7].reason = "no";
    assert_table(report, false,
                 "MODULE  TARGET  RESULT    COMPILER\n"
                 "u7      sm_90   rejected  nvjitlink\n"
                 "... 999 more built (-v shows all)\n"
                 "\n"
                 "u7 sm_90: rejected: no\n");
}

static void a_hostile_model_shows_as_text(void **state)
{
    assert_table(model(state, "hostile"), false,
                 "MODULE                         TARGET  RESULT    COMPILER   KERNELS  REGISTERS       "
                 "SHARED  STACK       SPILLS    SIZE\n"
                 "\\x1b[31mred\\xffé\"\\\\x0a\\x09end  sm_90   built     nvjitlink        3          -  "
                 "18446744 TB      -  18446744 TB  4.8 kB\n"
                 "u1                             sm_90   rejected  nvjitlink        -         10        256 "
                 "B    0 B          0 B  4.8 kB\n"
                 "\n"
                 "\\x1b[31mred\\xffé\"\\\\x0a\\x09end sm_90: built: no\n"
                 "    second \\xff\n"
                 "    first \\xc0\\xaf line\n"
                 "    \\x09second \\xed\\xa0\\x80 \\x01\n"
                 "    third\n"
                 "\n"
                 "1 warning, of \\x1b[31mred\\xffé\"\\\\x0a\\x09end sm_90: w\\xff\\x1b\\x0a\n"
                 "\n"
                 "note: n\\xff\\x1b\n");
    assert_table(model(state, "empty"), true, "");
}

static int set_up(void **state)
{
    static struct pj_arena arena;
    arena = (struct pj_arena){0};
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    pj_arena_free(*state);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_each_with_what_kernels_take),
        TEST(verbose_names_kernels_and_everything_that_went_in),
        TEST(nothing_that_was_not_written_has_a_path),
        TEST(failures_are_explained_below),
        TEST(what_is_not_known_is_not_zero),
        TEST(one_warning_is_not_plural),
        TEST(forty_have_a_line_and_the_rest_is_counted),
        TEST(a_hostile_model_shows_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
