/* SPDX-License-Identifier: Apache-2.0 */
/* JIT options: names, values, and their texts in keys that driver 580.159.04 was seen to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <cuda.h>

#include "arch/options.h"
#include "base/memory.h"

struct setting {
    enum pj_jit_option option;
    uint32_t value;
};

static struct pj_jit_options options_of(const struct setting *settings, size_t count)
{
    struct pj_jit_options options = {0};
    for (size_t i = 0; i < count; i++) {
        options.given |= UINT32_C(1) << settings[i].option;
        options.values[settings[i].option] = settings[i].value;
    }
    return options;
}

/* One row per key seen: what the call gave, what stood behind "PTX NUL blank". */
static void test_key_text(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text;
        struct setting settings[10];
        size_t count;
    } rows[] = {
        {"", "", {{0}}, 0},
        {"-O0", "optimization_level=0", {{PJ_JIT_OPTIMIZATION_LEVEL, 0}}, 1},
        {"-O4", "optimization_level=4", {{PJ_JIT_OPTIMIZATION_LEVEL, 4}}, 1},
        {"--maxrregcount 64", "max_registers=64", {{PJ_JIT_MAX_REGISTERS, 64}}, 1},
        {"-g", "generate_debug_info=true", {{PJ_JIT_GENERATE_DEBUG_INFO, 1}}, 1},
        {"", "generate_debug_info=false", {{PJ_JIT_GENERATE_DEBUG_INFO, 0}}, 1},
        {"-lineinfo", "generate_line_info=true", {{PJ_JIT_GENERATE_LINE_INFO, 1}}, 1},
        {"", "generate_line_info=false", {{PJ_JIT_GENERATE_LINE_INFO, 0}}, 1},
        {"-dlcm=cg", "cache_mode=cg", {{PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CG}}, 1},
        {"-dlcm=ca", "cache_mode=ca", {{PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CA}}, 1},
        {"", "cache_mode=none", {{PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_NONE}}, 1},
        {"--fast-compile", "fast_compile=true", {{PJ_JIT_FAST_COMPILE, 1}}, 1},
        {"", "fast_compile=false", {{PJ_JIT_FAST_COMPILE, 0}}, 1},
        {"--position-independent-code=true",
         "position_independent_code=true",
         {{PJ_JIT_POSITION_INDEPENDENT_CODE, 1}},
         1},
        {"--position-independent-code=false",
         "position_independent_code=false",
         {{PJ_JIT_POSITION_INDEPENDENT_CODE, 0}},
         1},
        {"--minnctapersm=0", "min_cta_per_sm=0", {{PJ_JIT_MIN_CTA_PER_SM, 0}}, 1},
        {"--minnctapersm=2", "min_cta_per_sm=2", {{PJ_JIT_MIN_CTA_PER_SM, 2}}, 1},
        {"--maxntid=0", "max_threads_per_block=0", {{PJ_JIT_MAX_THREADS_PER_BLOCK, 0}}, 1},
        {"--maxntid=128", "max_threads_per_block=128", {{PJ_JIT_MAX_THREADS_PER_BLOCK, 128}}, 1},
        {"--override-directive-values",
         "override_directive_values=true",
         {{PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}},
         1},
        {"", "override_directive_values=false", {{PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, 0}}, 1},
        {"--split-compile=0", "split_compile=0", {{PJ_JIT_SPLIT_COMPILE, 0}}, 1},
        {"--split-compile=1", "split_compile=1", {{PJ_JIT_SPLIT_COMPILE, 1}}, 1},
        {"--split-compile=8", "split_compile=8", {{PJ_JIT_SPLIT_COMPILE, 8}}, 1},
        {"-g -lineinfo",
         "generate_debug_info=true, generate_line_info=true",
         {{PJ_JIT_GENERATE_LINE_INFO, 1}, {PJ_JIT_GENERATE_DEBUG_INFO, 1}},
         2},
        {"--maxrregcount 32 -g",
         "max_registers=32, generate_debug_info=true",
         {{PJ_JIT_GENERATE_DEBUG_INFO, 1}, {PJ_JIT_MAX_REGISTERS, 32}},
         2},
        {"-O0 -g",
         "optimization_level=0, generate_debug_info=true",
         {{PJ_JIT_OPTIMIZATION_LEVEL, 0}, {PJ_JIT_GENERATE_DEBUG_INFO, 1}},
         2},
        {"-O2 --maxrregcount 40 -lineinfo -dlcm=ca --position-independent-code=true "
         "--override-directive-values",
         "optimization_level=2, max_registers=40, generate_line_info=true, cache_mode=ca, "
         "position_independent_code=true, override_directive_values=true",
         {{PJ_JIT_MAX_REGISTERS, 40},
          {PJ_JIT_OPTIMIZATION_LEVEL, 2},
          {PJ_JIT_GENERATE_LINE_INFO, 1},
          {PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CA},
          {PJ_JIT_POSITION_INDEPENDENT_CODE, 1},
          {PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}},
         6},
        {"-O2 --maxrregcount 40 -g --fast-compile -lineinfo -dlcm=ca --position-independent-code=true "
         "--minnctapersm=2 --maxntid=128 --override-directive-values --split-compile=2",
         "optimization_level=2, max_registers=40, generate_debug_info=true, fast_compile=true, "
         "generate_line_info=true, cache_mode=ca, position_independent_code=true, min_cta_per_sm=2, "
         "max_threads_per_block=128, override_directive_values=true",
         {{PJ_JIT_OPTIMIZATION_LEVEL, 2},
          {PJ_JIT_MAX_REGISTERS, 40},
          {PJ_JIT_GENERATE_DEBUG_INFO, 1},
          {PJ_JIT_FAST_COMPILE, 1},
          {PJ_JIT_GENERATE_LINE_INFO, 1},
          {PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_CA},
          {PJ_JIT_POSITION_INDEPENDENT_CODE, 1},
          {PJ_JIT_MIN_CTA_PER_SM, 2},
          {PJ_JIT_MAX_THREADS_PER_BLOCK, 128},
          {PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}},
         10},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_jit_options options = options_of(rows[i].settings, rows[i].count);
        PJ_CLEANUP_BUFFER struct pj_buffer key = {0}, text = {0};
        bool all = rows[i].count == 10;
        if (all) {
            options.given |= UINT32_C(1) << PJ_JIT_SPLIT_COMPILE;
            options.values[PJ_JIT_SPLIT_COMPILE] = 2;
        }
        pj_buffer_puts(&key, "<");
        pj_jit_options_key_text(&options, &key);
        pj_jit_options_text(&options, &text);
        assert_string_equal(pj_buffer_text(&key) + 1, rows[i].key);
        size_t length = strlen(rows[i].text);
        assert_memory_equal(pj_buffer_text(&text), rows[i].text, length);
        assert_string_equal(pj_buffer_text(&text) + length, all ? ", split_compile=2" : "");
    }
}

/* One by one, in the key's order; those that add nothing to it are passed over. */
static void test_one_by_one(void **state)
{
    static const struct setting settings[] = {
        {PJ_JIT_SPLIT_COMPILE, UINT32_MAX},    {PJ_JIT_MAX_REGISTERS, 64},
        {PJ_JIT_GENERATE_DEBUG_INFO, 0},       {PJ_JIT_CACHE_MODE, PJ_JIT_CACHE_NONE},
        {PJ_JIT_POSITION_INDEPENDENT_CODE, 0}, {PJ_JIT_OPTIMIZATION_LEVEL, 3},
        {PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}};
    static const struct pj_jit_flag expected[] = {
        {PJ_JIT_OPTIMIZATION_LEVEL, "-O3"},
        {PJ_JIT_MAX_REGISTERS, "--maxrregcount 64"},
        {PJ_JIT_POSITION_INDEPENDENT_CODE, "--position-independent-code=false"},
        {PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, "--override-directive-values"},
        {PJ_JIT_SPLIT_COMPILE, "--split-compile=4294967295"}};
    (void)state;
    const struct pj_jit_options options = options_of(settings, PJ_COUNT(settings));
    struct pj_jit_flag flag;
    unsigned position = 0;
    for (size_t i = 0; i < PJ_COUNT(expected); i++) {
        assert_true(pj_jit_options_next(&options, &position, &flag));
        assert_int_equal(flag.option, expected[i].option);
        assert_string_equal(flag.text, expected[i].text);
    }
    assert_false(pj_jit_options_next(&options, &position, &flag));
    assert_false(pj_jit_options_next(&options, &position, &flag));
    position = 0;
    assert_false(pj_jit_options_next(&(struct pj_jit_options){0}, &position, &flag));
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        CUjit_option option;
        enum pj_jit_option_type type;
        uint32_t minimum, maximum;
    } rows[PJ_JIT_OPTION_COUNT] = {
        {"optimization_level", CU_JIT_OPTIMIZATION_LEVEL, PJ_JIT_UNSIGNED, 0, 4},
        {"max_registers", CU_JIT_MAX_REGISTERS, PJ_JIT_UNSIGNED, 1, 65535},
        {"generate_debug_info", CU_JIT_GENERATE_DEBUG_INFO, PJ_JIT_BOOLEAN, 0, 1},
        {"fast_compile", CU_JIT_FAST_COMPILE, PJ_JIT_BOOLEAN, 0, 1},
        {"generate_line_info", CU_JIT_GENERATE_LINE_INFO, PJ_JIT_BOOLEAN, 0, 1},
        {"cache_mode", CU_JIT_CACHE_MODE, PJ_JIT_CACHE_OPTION, 0, 2},
        {"position_independent_code", CU_JIT_POSITION_INDEPENDENT_CODE, PJ_JIT_BOOLEAN, 0, 1},
        {"min_cta_per_sm", CU_JIT_MIN_CTA_PER_SM, PJ_JIT_UNSIGNED, 0, 65535},
        {"max_threads_per_block", CU_JIT_MAX_THREADS_PER_BLOCK, PJ_JIT_UNSIGNED, 0, 65535},
        {"override_directive_values", CU_JIT_OVERRIDE_DIRECTIVE_VALUES, PJ_JIT_BOOLEAN, 0, 1},
        {"split_compile", CU_JIT_SPLIT_COMPILE, PJ_JIT_UNSIGNED, 0, 1000},
    };
    for (int i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        const struct pj_jit_option_info *info = pj_jit_option_info((enum pj_jit_option)i);
        assert_string_equal(info->name, rows[i].name);
        assert_int_equal(info->cuda_option, rows[i].option);
        assert_int_equal(info->type, rows[i].type);
        assert_int_equal(info->minimum, rows[i].minimum);
        assert_int_equal(info->maximum, rows[i].maximum);
        assert_int_equal(info->help[strlen(info->help) - 1], '.');
        assert_int_equal(pj_jit_option_find(rows[i].name), i);
    }
    assert_int_equal(pj_jit_option_find("threads_per_block"), -1);
    assert_int_equal(pj_jit_option_find("Max_registers"), -1);
    assert_int_equal(pj_jit_option_find(""), -1);
    assert_string_equal(pj_jit_cache_mode_name(CU_JIT_CACHE_OPTION_NONE), "none");
    assert_string_equal(pj_jit_cache_mode_name(CU_JIT_CACHE_OPTION_CG), "cg");
    assert_string_equal(pj_jit_cache_mode_name(CU_JIT_CACHE_OPTION_CA), "ca");
    assert_null(pj_jit_cache_mode_name(3));
}

static void test_equal(void **state)
{
    (void)state;
    const struct setting level = {PJ_JIT_OPTIMIZATION_LEVEL, 0}, other_level = {PJ_JIT_OPTIMIZATION_LEVEL, 1};
    struct pj_jit_options none = {0}, zero = options_of(&level, 1), one = options_of(&other_level, 1);
    assert_true(pj_jit_options_equal(&none, &none));
    assert_true(pj_jit_options_equal(&zero, &zero));
    /* Given explicitly is another key than not given, whatever the value. */
    assert_false(pj_jit_options_equal(&none, &zero));
    assert_false(pj_jit_options_equal(&zero, &one));
    none.values[PJ_JIT_SPLIT_COMPILE] = 9;
    assert_true(pj_jit_options_equal(&none, &(struct pj_jit_options){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_text),
        cmocka_unit_test(test_one_by_one),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
