/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles are written as they are read. */
#include "support.h"

#include <fcntl.h>

#include "base/file.h"

/* The file in tests/data is what the writer makes of it, to the byte, comments included. */
static void text_is_the_same(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0}, text = {0};
    assert_int_equal(
        pj_file_read(AT_FDCWD, TEST_PROFILES "/580.159.04.yaml", PJ_PROFILE_MAX_BYTES, &bytes, NULL), 0);
    struct pj_profile profile = parse(pj_buffer_text(&bytes), &arena);
    assert_int_equal(pj_profile_write(&profile, &text, NULL), 0);
    assert_string_equal(pj_buffer_text(&text), pj_buffer_text(&bytes));
}

static void assert_same(const struct pj_profile *a, const struct pj_profile *b)
{
    assert_string_equal(a->driver_version, b->driver_version);
    assert_int_equal(a->cuda_version, b->cuda_version);
    assert_string_equal(a->stamp, b->stamp);
    assert_int_equal(a->cache_format, b->cache_format);
    assert_int_equal(pj_isa_compare(a->ptx_isa, b->ptx_isa), 0);
    assert_int_equal(a->arch_count, b->arch_count);
    assert_memory_equal(a->archs, b->archs, a->arch_count * sizeof *a->archs);
    assert_memory_equal(a->proven, b->proven, sizeof a->proven);
    assert_int_equal(a->compiler_count, b->compiler_count);
    for (size_t i = 0; i < a->compiler_count; i++) {
        assert_string_equal(a->compilers[i].tool, b->compilers[i].tool);
        assert_string_equal(a->compilers[i].version, b->compilers[i].version);
        assert_int_equal(a->compilers[i].same_code, b->compilers[i].same_code);
        assert_int_equal(a->compilers[i].cases, b->compilers[i].cases);
        assert_int_equal(a->compilers[i].same, b->compilers[i].same);
    }
    assert_string_equal(a->made_on, b->made_on);
    assert_string_equal(a->made_with, b->made_with);
    assert_string_equal(a->gpu, b->gpu);
}

static uint16_t some_archs[] = {75, 121};
static struct pj_profile_compiler some_compilers[] = {
    {.tool = "nvjitlink", .version = "12.9.86", .cases = 7, .same = 0},
    {.tool = "ptxas", .version = "13.0", .cases = 1, .same = 1, .same_code = true},
};

/* Texts that YAML would read otherwise without quotes. */
static struct pj_profile odd_profile(void)
{
    return (struct pj_profile){
        .driver_version = "470.82",
        .cuda_version = 12090,
        .stamp = " # \"a\" \\x41: 'b' ~",
        .cache_format = 4294967295U,
        .ptx_isa = {.major = 8, .minor = 8},
        .archs = some_archs,
        .arch_count = PJ_COUNT(some_archs),
        .proven = {[PJ_PROFILE_BESIDE] = true, [PJ_PROFILE_PLAIN] = true},
        .compilers = some_compilers,
        .compiler_count = PJ_COUNT(some_compilers),
        .made_on = "2028-02-29",
        .made_with = "{&*!|>%@`,]",
        .gpu = "Größe: \"1\" \\ 2 # é",
    };
}

static void odd_texts_come_back(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    struct pj_profile written = odd_profile();
    assert_int_equal(pj_profile_write(&written, &text, NULL), 0);
    struct pj_profile read = parse(pj_buffer_text(&text), &arena);
    assert_same(&written, &read);
    written.compiler_count = 0;
    written.compilers = NULL;
    pj_buffer_reset(&text);
    assert_int_equal(pj_profile_write(&written, &text, NULL), 0);
    read = parse(pj_buffer_text(&text), &arena);
    assert_same(&written, &read);
}

/* What is refused leaves the buffer alone. */
static void expect_not_written(const struct pj_profile *profile, const char *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, "before");
    assert_int_equal(pj_profile_write(profile, &text, &err), PJ_ERROR_INTERNAL);
    assert_int_equal(err->code, PJ_ERROR_INTERNAL);
    assert_string_equal(pj_error_message(err), message);
    assert_string_equal(pj_buffer_text(&text), "before");
}

#define NO_PROFILE "what was found out does not make a profile: "

static void what_is_no_profile_is_not_written(void **state)
{
    (void)state;
    struct pj_profile profile = odd_profile();
    profile.stamp = NULL;
    expect_not_written(&profile,
                       NO_PROFILE "profile:10:10: `stamp`: read an empty value; allowed is a text of 1 to 63 "
                                  "ASCII characters, for example `\"Apr 29 202617:12:06\"`");
    profile = odd_profile();
    profile.gpu = "a\nb\x7f";
    expect_not_written(&profile, NO_PROFILE
                       "profile:28:8: `gpu`: read `a\\x0ab\\x7f`; allowed is a text of at most 200 "
                       "bytes without control characters, for example `\"NVIDIA H200\"`");
    profile = odd_profile();
    profile.gpu = "a\xff";
    expect_not_written(
        &profile, NO_PROFILE
        "profile:28:10: byte 0xff is not UTF-8 (invalid leading UTF-8 octet): save the file as UTF-8");
    profile = odd_profile();
    profile.driver_version = "580, stamp: x";
    expect_not_written(&profile,
                       NO_PROFILE "profile:8:12: `version`: read `580, stamp: x`; allowed is two to four "
                                  "numbers joined by points, for example `580.159.04`");
    profile = odd_profile();
    profile.arch_count = 0;
    expect_not_written(&profile, NO_PROFILE
                       "profile:13:16: `architectures`: read an empty list; allowed is a list of at "
                       "least one architecture, for example `[sm_80, sm_90]`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_the_same),
        cmocka_unit_test(odd_texts_come_back),
        cmocka_unit_test(what_is_no_profile_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
