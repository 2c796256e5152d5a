/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's options, each spelling as NVRTC 13.0.88 was seen to take it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/nvrtc_options.h"

enum { TEXTS_MAX = 4 };

/* What the options say, as one text: "sm_90a real", "sm_90", then lto, relocatable, …, and the folders. */
static void describe(const char *const *options, size_t count, char *text, size_t size)
{
    struct pj_nvrtc_options read;
    char name[PJ_ARCH_TEXT];
    pj_nvrtc_options_read(options, count, &read);
    assert_int_equal(read.has_architecture, read.architecture.number != 0);
    (void)snprintf(text, size, "%s%s%s%s%s%s%s %zu",
                   read.has_architecture ? pj_arch_text(read.architecture, name) : "-",
                   read.real ? " real" : "", read.lto ? " lto" : "", read.relocatable ? " relocatable" : "",
                   read.optix ? " optix" : "", read.syntax_only ? " syntax" : "", read.pch ? " pch" : "",
                   read.include_count);
}

static const struct {
    const char *options[TEXTS_MAX];
    const char *read;
} cases[] = {
    {{NULL}, "- 0"},
    {{"--gpu-architecture=compute_90"}, "sm_90 0"},
    {{"--gpu-architecture", "compute_90"}, "sm_90 0"},
    {{"-arch=compute_90"}, "sm_90 0"},
    {{"-arch", "compute_90"}, "sm_90 0"},
    {{"-arch=compute_90a"}, "sm_90a 0"},
    {{"-arch=compute_100f"}, "sm_100f 0"},
    {{"-arch=sm_90"}, "sm_90 real 0"},
    {{"-arch", "sm_90a"}, "sm_90a real 0"},
    {{" -arch=compute_90"}, "sm_90 0"},
    {{"-arch=compute_90 "}, "sm_90 0"},
    {{"-arch", " compute_90 "}, "sm_90 0"},
    {{"-arch=compute_80", "-arch=sm_90"}, "sm_90 real 0"},
    {{"-arch=sm_90", "-arch=compute_80"}, "sm_80 0"},
    /* Refused by NVRTC. */
    {{"-arch compute_90"}, "- 0"},
    {{"--gpu-architecture compute_90"}, "- 0"},
    {{"-archcompute_90"}, "- 0"},
    {{"--arch=compute_90"}, "- 0"},
    {{"-gpu-architecture=compute_90"}, "- 0"},
    {{"-arch=compute_9"}, "- 0"},
    {{"-arch=compute_91"}, "- 0"},
    {{"-arch=compute_090"}, "- 0"},
    {{"-arch=turbo"}, "- 0"},
    {{"-arch=90"}, "- 0"},
    {{"-arch= compute_90"}, "- 0"},
    {{"-arch=", "compute_90"}, "- 0"},
    {{"-arch"}, "- 0"},
    {{"-arch", "-dc"}, "- 0"},
    {{"-arch=compute_90,compute_80"}, "- 0"},
    {{"-arch=sm_90", "-arch=turbo"}, "sm_90 real 0"},

    {{"-dlto"}, "- lto relocatable 0"},
    {{"--dlink-time-opt", "-arch=sm_90"}, "sm_90 real lto relocatable 0"},
    {{"-dlink-time-opt"}, "- 0"},
    {{"-rdc=true"}, "- relocatable 0"},
    {{"-rdc", "true"}, "- relocatable 0"},
    {{"--relocatable-device-code=true"}, "- relocatable 0"},
    {{"--relocatable-device-code", "true"}, "- relocatable 0"},
    {{"-rdc=true", "-rdc=false"}, "- 0"},
    {{"-rdc=false", "-rdc=true"}, "- relocatable 0"},
    {{"-dc"}, "- relocatable 0"},
    {{"--device-c "}, "- relocatable 0"},
    {{"-device-c"}, "- 0"},
    {{"--device-w"}, "- 0"},

    {{"--optix-ir"}, "- optix 0"},
    {{"-optix-ir"}, "- optix 0"},
    {{"-fdevice-syntax-only"}, "- syntax 0"},
    {{"--pch"}, "- pch 0"},
    {{"-create-pch=a.pch"}, "- pch 0"},
    {{"--use-pch=a.pch"}, "- pch 0"},
    {{"--pch-messages=false"}, "- pch 0"},
    {{"--pchx"}, "- 0"},

    {{"-Ia", "-I", "b", "-I c"}, "- 3"},
    {{"--include-path=a", "--include-path", "b"}, "- 2"},
    {{"-include-path=a"}, "- 0"},
    {{"-include", "-Ia"}, "- 0"},

    /* The next text belongs to them, whatever it is. */
    {{"-I", "-dlto"}, "- 1"},
    {{"-D", "-dlto"}, "- 0"},
    {{"-U", "-dlto"}, "- 0"},
    {{"--define-macro", "-dlto"}, "- 0"},
    {{"--undefine-macro", "-dlto"}, "- 0"},
    {{"--pre-include", "-dlto"}, "- 0"},
    {{"--ptxas-options", "-dlto"}, "- 0"},
    {{"-Xptxas", "-dlto"}, "- 0"},
    {{"-Xcudafe", "-dlto"}, "- 0"},
    {{"-Xnvvm", "-dlto"}, "- 0"},
    /* And here it does not. */
    {{"-Ia", "-dlto"}, "- lto relocatable 1"},
    {{"-I=", "-dlto"}, "- lto relocatable 1"},
    {{"-DA", "-dlto"}, "- lto relocatable 0"},
    {{"-Xcudafe=--trace_includes", "-dlto"}, "- lto relocatable 0"},
    {{"--pch-dir=/tmp", "-dlto"}, "- lto relocatable pch 0"},
    {{"--std", "-dlto"}, "- lto relocatable 0"},
    {{"-G", "-dlto"}, "- lto relocatable 0"},
};

static void options_say_what_nvrtc_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = 0;
        char text[128];
        while (count < TEXTS_MAX && cases[i].options[count])
            count++;
        describe(cases[i].options, count, text, sizeof text);
        if (strcmp(text, cases[i].read) != 0)
            fail_msg("case %zu, %s: read \"%s\", expected \"%s\"", i, count ? cases[i].options[0] : "none",
                     text, cases[i].read);
    }
}

/* Kind, position, number of texts and value of each option in turn. */
static void expect_option(const char *const *options, size_t count, size_t *index, enum pj_nvrtc_kind kind,
                          size_t texts, const char *value)
{
    struct pj_nvrtc_option option;
    size_t start = *index;
    assert_true(pj_nvrtc_option_next(options, count, index, &option));
    assert_int_equal(option.kind, kind);
    assert_int_equal(option.index, start);
    assert_int_equal(option.text_count, texts);
    assert_int_equal(*index, start + texts);
    assert_int_equal(option.value != NULL, value != NULL);
    if (!value)
        return;
    assert_int_equal(option.value_size, strlen(value));
    assert_memory_equal(option.value, value, option.value_size);
}

static void options_are_read_in_turn(void **state)
{
    (void)state;
    static const char *const options[] = {"-Ia/b",
                                          "-I",
                                          " c d ",
                                          "-I= e",
                                          "--include-path= f",
                                          "-DN=1",
                                          "-D",
                                          "-dlto",
                                          "--no-cache",
                                          "-no-cache=x",
                                          "--time=t",
                                          "--std=x",
                                          "-arch",
                                          "sm_80",
                                          "",
                                          "-enable-cache-trace"};
    size_t count = sizeof options / sizeof *options, index = 0;
    expect_option(options, count, &index, PJ_NVRTC_INCLUDE, 1, "a/b");
    expect_option(options, count, &index, PJ_NVRTC_INCLUDE, 2, "c d");
    expect_option(options, count, &index, PJ_NVRTC_INCLUDE, 1, "e");
    expect_option(options, count, &index, PJ_NVRTC_INCLUDE, 1, " f");
    expect_option(options, count, &index, PJ_NVRTC_OTHER, 1, "N=1");
    expect_option(options, count, &index, PJ_NVRTC_OTHER, 2, "-dlto");
    expect_option(options, count, &index, PJ_NVRTC_NO_CACHE, 1, NULL);
    expect_option(options, count, &index, PJ_NVRTC_NO_CACHE, 1, "x");
    expect_option(options, count, &index, PJ_NVRTC_WRITES, 1, "t");
    expect_option(options, count, &index, PJ_NVRTC_OTHER, 1, NULL);
    expect_option(options, count, &index, PJ_NVRTC_ARCHITECTURE, 2, "sm_80");
    expect_option(options, count, &index, PJ_NVRTC_OTHER, 1, NULL);
    expect_option(options, count, &index, PJ_NVRTC_PRINTS, 1, NULL);
    struct pj_nvrtc_option option;
    assert_false(pj_nvrtc_option_next(options, count, &index, &option));
}

static void faults_of_an_option_are_told(void **state)
{
    (void)state;
    static const char *const options[] = {"-arch sm_80", "-dc -G", "-I a", "-D"};
    struct pj_nvrtc_option option;
    size_t index = 0;
    assert_true(pj_nvrtc_option_next(options, 4, &index, &option));
    assert_true(option.one_text && option.kind == PJ_NVRTC_ARCHITECTURE);
    assert_true(pj_nvrtc_option_next(options, 4, &index, &option));
    assert_true(option.one_text && option.kind == PJ_NVRTC_OTHER);
    assert_true(pj_nvrtc_option_next(options, 4, &index, &option));
    assert_false(option.one_text || option.value_missing);
    assert_true(pj_nvrtc_option_next(options, 4, &index, &option));
    assert_true(option.value_missing);
    assert_null(option.value);
    assert_int_equal(index, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_say_what_nvrtc_does),
        cmocka_unit_test(options_are_read_in_turn),
        cmocka_unit_test(faults_of_an_option_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
