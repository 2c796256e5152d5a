/* SPDX-License-Identifier: Apache-2.0 */
/* The CUjit_option arrays of a load call, read and answered. */
#include "options.h"

#include <stdint.h>
#include <string.h>

bool fake_options_value(const struct fake_options *options, CUjit_option option, unsigned *ret_value)
{
    if (!options->slots[option])
        return false;
    *ret_value = (unsigned)(uintptr_t)*options->slots[option];
    return true;
}

CUresult fake_options_read(unsigned count, const CUjit_option *options, void **values,
                           struct fake_options *ret_options)
{
    struct fake_options read = {0};
    unsigned value;
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
        read.slots[options[i]] = &values[i];
    }
    if (fake_options_value(&read, CU_JIT_OPTIMIZATION_LEVEL, &value) && value > 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_options_value(&read, CU_JIT_CACHE_MODE, &value) && value > CU_JIT_CACHE_OPTION_CA)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_options_value(&read, CU_JIT_TARGET, &value) && !fake_arch_from_option(value, &read.target))
        return CUDA_ERROR_INVALID_VALUE;
    *ret_options = read;
    return CUDA_SUCCESS;
}

/* How an option looks in the key, in the order in which they stand there. */
static const struct spelling {
    CUjit_option option;
    const char *text; /* with a %u, or for a switch that is on */
    bool is_switch;
} spellings[] = {
    {CU_JIT_OPTIMIZATION_LEVEL, "-O%u", false},
    {CU_JIT_MAX_REGISTERS, "--maxrregcount %u", false},
    {CU_JIT_THREADS_PER_BLOCK, "--maxrregcount 255", true},
    {CU_JIT_GENERATE_DEBUG_INFO, "-g", true},
    {CU_JIT_FAST_COMPILE, "--fast-compile", true},
    {CU_JIT_GENERATE_LINE_INFO, "-lineinfo", true},
    {CU_JIT_CACHE_MODE, "-dlcm=%s", false},
    {CU_JIT_POSITION_INDEPENDENT_CODE, "--position-independent-code=true", true},
    {CU_JIT_MIN_CTA_PER_SM, "--minnctapersm=%u", false},
    {CU_JIT_MAX_THREADS_PER_BLOCK, "--maxntid=%u", false},
    {CU_JIT_OVERRIDE_DIRECTIVE_VALUES, "--override-directive-values", true},
    {CU_JIT_SPLIT_COMPILE, "--split-compile=%u", false},
};

static void add_spelling(const struct spelling *spelling, unsigned value, struct fake_buffer *text)
{
    const char *mark = strchr(spelling->text, '%');
    fake_buffer_add(text, spelling->text, mark ? (size_t)(mark - spelling->text) : strlen(spelling->text));
    if (mark && mark[1] == 's')
        fake_buffer_add_text(text, value == CU_JIT_CACHE_OPTION_CG ? "cg" : "ca");
    else if (mark)
        fake_buffer_printf(text, "%u", value);
}

void fake_options_text(const struct fake_options *options, struct fake_buffer *ret_text)
{
    struct fake_buffer text = {0};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct spelling *spelling = &spellings[i];
        unsigned value;
        if (!fake_options_value(options, spelling->option, &value))
            continue;
        if (value == 0 && (spelling->is_switch || spelling->option == CU_JIT_CACHE_MODE))
            continue;
        if (spelling->option == CU_JIT_THREADS_PER_BLOCK && options->slots[CU_JIT_MAX_REGISTERS])
            continue;
        if (text.length)
            fake_buffer_add_text(&text, " ");
        add_spelling(spelling, value, &text);
    }
    *ret_text = text;
}

static void answer_log(struct fake_options *options, CUjit_option buffer_option, CUjit_option size_option,
                       const struct fake_buffer *log)
{
    unsigned size = 0;
    if (!fake_options_value(options, size_option, &size) || !options->slots[buffer_option])
        return;
    char *buffer = *options->slots[buffer_option];
    unsigned used = 0;
    if (buffer && size) {
        used = log->length < size - 1 ? (unsigned)log->length : size - 1;
        memcpy(buffer, fake_buffer_text(log), used);
        buffer[used] = 0;
    }
    memcpy(options->slots[size_option], &used, sizeof used);
}

void fake_options_answer(struct fake_options *options, double wall_time_ms)
{
    float wall_time = (float)wall_time_ms;
    answer_log(options, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, &options->error_log);
    answer_log(options, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, &options->info_log);
    /* The driver writes a 32-bit float over the first bytes of the pointer-sized slot. */
    if (options->slots[CU_JIT_WALL_TIME])
        memcpy(options->slots[CU_JIT_WALL_TIME], &wall_time, sizeof wall_time);
    fake_buffer_free(&options->error_log);
    fake_buffer_free(&options->info_log);
}
