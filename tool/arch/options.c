/* SPDX-License-Identifier: Apache-2.0 */
/* The JIT options and how each one appears in the cache key. */
#include "arch/options.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* The upper ends of the open-ended options are the largest values that can mean anything; driver 580 took
 * them. It refuses zero registers (CUDA_ERROR_INVALID_VALUE). Values of CUjit_option are pinned by cuda.h,
 * which a unit test compares. */
static const struct pj_jit_option_info infos[PJ_JIT_OPTION_COUNT] = {
    [PJ_JIT_OPTIMIZATION_LEVEL] = {"optimization_level", PJ_JIT_UNSIGNED, 0, 4, 7,
                                   "Level of optimisation, 0 to 4."},
    [PJ_JIT_MAX_REGISTERS] = {"max_registers", PJ_JIT_UNSIGNED, 1, 65535, 0,
                              "Most registers that a thread may use."},
    [PJ_JIT_GENERATE_DEBUG_INFO] = {"generate_debug_info", PJ_JIT_BOOLEAN, 0, 1, 11,
                                    "Whether the code carries debug information; needs optimization_level 0 "
                                    "where a level is given."},
    [PJ_JIT_FAST_COMPILE] = {"fast_compile", PJ_JIT_BOOLEAN, 0, 1, 16,
                             "Whether to compile quickly rather than well."},
    [PJ_JIT_GENERATE_LINE_INFO] = {"generate_line_info", PJ_JIT_BOOLEAN, 0, 1, 13,
                                   "Whether the code carries line numbers."},
    [PJ_JIT_CACHE_MODE] = {"cache_mode", PJ_JIT_CACHE_OPTION, PJ_JIT_CACHE_NONE, PJ_JIT_CACHE_CA, 14,
                           "Caching of global loads: none (no flag), ca (L1 and L2) or cg (L2 only)."},
    [PJ_JIT_POSITION_INDEPENDENT_CODE] = {"position_independent_code", PJ_JIT_BOOLEAN, 0, 1, 30,
                                          "Whether the code is position independent."},
    [PJ_JIT_MIN_CTA_PER_SM] = {"min_cta_per_sm", PJ_JIT_UNSIGNED, 0, 65535, 31,
                               "Fewest thread blocks per multiprocessor to compile for."},
    [PJ_JIT_MAX_THREADS_PER_BLOCK] = {"max_threads_per_block", PJ_JIT_UNSIGNED, 0, 65535, 32,
                                      "Most threads in a block."},
    [PJ_JIT_OVERRIDE_DIRECTIVE_VALUES] = {"override_directive_values", PJ_JIT_BOOLEAN, 0, 1, 33,
                                          "Whether the limits given here win over directives in the PTX."},
    [PJ_JIT_SPLIT_COMPILE] = {"split_compile", PJ_JIT_UNSIGNED, 0, 1000, 34,
                              "Threads that compile one module; 0 means one per CPU."},
};

/* What stands before the value in the key. */
static const char *const key_texts[PJ_JIT_OPTION_COUNT] = {
    [PJ_JIT_OPTIMIZATION_LEVEL] = "-O",
    [PJ_JIT_MAX_REGISTERS] = "--maxrregcount ",
    [PJ_JIT_GENERATE_DEBUG_INFO] = "-g",
    [PJ_JIT_FAST_COMPILE] = "--fast-compile",
    [PJ_JIT_GENERATE_LINE_INFO] = "-lineinfo",
    [PJ_JIT_CACHE_MODE] = "-dlcm=",
    [PJ_JIT_POSITION_INDEPENDENT_CODE] = "--position-independent-code=",
    [PJ_JIT_MIN_CTA_PER_SM] = "--minnctapersm=",
    [PJ_JIT_MAX_THREADS_PER_BLOCK] = "--maxntid=",
    [PJ_JIT_OVERRIDE_DIRECTIVE_VALUES] = "--override-directive-values",
    [PJ_JIT_SPLIT_COMPILE] = "--split-compile=",
};

const struct pj_jit_option_info *pj_jit_option_info(enum pj_jit_option option)
{
    return &infos[option];
}

int pj_jit_option_find(const char *name)
{
    for (int i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        if (strcmp(infos[i].name, name) == 0)
            return i;
    }
    return -1;
}

const char *pj_jit_cache_mode_name(uint32_t value)
{
    static const char *const names[] = {
        [PJ_JIT_CACHE_NONE] = "none", [PJ_JIT_CACHE_CG] = "cg", [PJ_JIT_CACHE_CA] = "ca"};
    return value < PJ_COUNT(names) ? names[value] : NULL;
}

static bool is_given(const struct pj_jit_options *options, int option)
{
    return (options->given >> option & 1) != 0;
}

static bool adds_to_key(int option, uint32_t value)
{
    if (option == PJ_JIT_POSITION_INDEPENDENT_CODE)
        return true;
    return infos[option].type == PJ_JIT_UNSIGNED || value != 0;
}

static void put_flag(int option, uint32_t value, struct pj_jit_flag *ret_flag)
{
    const char *word = "";
    char number[16] = "";
    if (infos[option].type == PJ_JIT_UNSIGNED)
        (void)snprintf(number, sizeof number, "%u", value);
    else if (option == PJ_JIT_POSITION_INDEPENDENT_CODE)
        word = value ? "true" : "false";
    else if (option == PJ_JIT_CACHE_MODE)
        word = value == PJ_JIT_CACHE_CA ? "ca" : "cg";
    ret_flag->option = (enum pj_jit_option)option;
    (void)snprintf(ret_flag->text, sizeof ret_flag->text, "%s%s%s", key_texts[option], word, number);
}

bool pj_jit_options_next(const struct pj_jit_options *options, unsigned *position,
                         struct pj_jit_flag *ret_flag)
{
    while (*position < PJ_JIT_OPTION_COUNT) {
        int option = (int)(*position)++;
        if (!is_given(options, option) || !adds_to_key(option, options->values[option]))
            continue;
        put_flag(option, options->values[option], ret_flag);
        return true;
    }
    return false;
}

void pj_jit_options_key_text(const struct pj_jit_options *options, struct pj_buffer *buffer)
{
    struct pj_jit_flag flag;
    const char *separator = "";
    for (unsigned position = 0; pj_jit_options_next(options, &position, &flag); separator = " ")
        pj_buffer_printf(buffer, "%s%s", separator, flag.text);
}

void pj_jit_options_text(const struct pj_jit_options *options, struct pj_buffer *buffer)
{
    const char *separator = "";
    for (int i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        if (!is_given(options, i))
            continue;
        uint32_t value = options->values[i];
        const char *mode = pj_jit_cache_mode_name(value);
        pj_buffer_printf(buffer, "%s%s=", separator, infos[i].name);
        separator = ", ";
        if (infos[i].type == PJ_JIT_BOOLEAN)
            pj_buffer_puts(buffer, value ? "true" : "false");
        else if (infos[i].type == PJ_JIT_CACHE_OPTION && mode)
            pj_buffer_puts(buffer, mode);
        else
            pj_buffer_printf(buffer, "%u", value);
    }
}

bool pj_jit_options_equal(const struct pj_jit_options *a, const struct pj_jit_options *b)
{
    if (a->given != b->given)
        return false;
    for (int i = 0; i < PJ_JIT_OPTION_COUNT; i++) {
        if (is_given(a, i) && a->values[i] != b->values[i])
            return false;
    }
    return true;
}
