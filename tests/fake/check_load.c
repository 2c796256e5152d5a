/* SPDX-License-Identifier: Apache-2.0 */
/* What load calls answer: witnesses, contexts, foreign targets, refusals and their texts. Numbers are lines
 * of facts. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check_answer library_without_context(const char *text, unsigned target)
{
    struct check_request request = {.call = CALL_LIBRARY, .no_context = true, .image = text};
    if (target) {
        request.options[0] = (struct check_option){CU_JIT_TARGET, target};
        request.option_count = 1;
    }
    return check_load(&request);
}

static struct check_answer foreign(const char *text, unsigned target)
{
    return check_load(&(struct check_request){
        .call = CALL_EX, .image = text, .options = {{CU_JIT_TARGET, target}}, .option_count = 1});
}

static void witnesses_with_context(void)
{
    char *text = check_ptx("k", ""), *other = check_ptx("other", "");
    struct check_request with_options = {
        .call = CALL_EX, .image = text, .options = {{CU_JIT_MAX_REGISTERS, 32}}, .option_count = 1};
    check_expect_miss(text);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    check_expect_hit(text);
    EXPECT(check_load_text(other).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
    EXPECT(check_load(&(struct check_request){.call = CALL_LOAD, .image = other}).load ==
           CUDA_ERROR_JIT_COMPILATION_DISABLED);
    EXPECT(check_load(&with_options).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
    EXPECT(check_load(&(struct check_request){.call = CALL_LIBRARY, .image = other}).load ==
           CUDA_ERROR_JIT_COMPILATION_DISABLED);
    unsetenv("CUDA_DISABLE_PTX_JIT");
    EXPECT(check_load(&with_options).wall_time_ms > 0);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(check_load(&with_options).load == CUDA_SUCCESS);
    EXPECT(check_entries("cache") == 2);
}

static void witnesses_foreign(void)
{
    static const unsigned targets[] = {80, 86, 89, 100, 103, 110, 120, 121};
    char *text = check_ptx("k", "");
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(foreign(text, 80).load == CUDA_ERROR_JIT_COMPILATION_DISABLED);
    unsetenv("CUDA_DISABLE_PTX_JIT");
    for (unsigned i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct check_answer answer = foreign(text, targets[i]);
        EXPECT(answer.load == CUDA_ERROR_INVALID_SOURCE && answer.wall_time_ms > 0, "%u: %d", targets[i],
               answer.load);
        EXPECT(check_entries("cache") == i + 1, "%u is stored all the same", targets[i]);
        answer = foreign(text, targets[i]);
        EXPECT(answer.load == CUDA_ERROR_INVALID_SOURCE && answer.wall_time_ms <= 0, "%u: a hit", targets[i]);
    }
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(foreign(text, 80).load == CUDA_ERROR_INVALID_SOURCE);
    EXPECT(check_load_text(text).load == CUDA_ERROR_JIT_COMPILATION_DISABLED, "native is another entry");
}

static void foreign_below_the_target(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_89\n.address_size 64\n.visible .entry k() { ret; }\n";
    struct check_answer answer = foreign(text, 80);
    EXPECT(answer.load == CUDA_ERROR_INVALID_PTX, "%d", answer.load);
    EXPECT(check_entries("cache") == 0);
    EXPECT(foreign(text, 89).load == CUDA_ERROR_INVALID_SOURCE);
}

static void no_context_compiles(void)
{
    char *text = check_ptx("k", "");
    struct check_answer answer = library_without_context(text, 0);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms > 0, "%d", answer.load);
    EXPECT(check_entries("cache") == 1);
    check_expect_hit(text);
    EXPECT(library_without_context(text, 0).wall_time_ms <= 0);
    answer = library_without_context(text, 86);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms > 0);
    EXPECT(check_entries("cache") == 2);
    EXPECT(check_load(&(struct check_request){.call = CALL_LOAD, .no_context = true, .image = text}).load ==
           CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(check_load(&(struct check_request){.call = CALL_EX, .no_context = true, .image = text}).load ==
           CUDA_ERROR_INVALID_CONTEXT);
}

/* Success, and only the log tells. */
static void no_context_success_proves_nothing(void)
{
    static const char text[] =
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }\n";
    struct check_answer answer = library_without_context(text, 0);
    EXPECT(answer.load == CUDA_SUCCESS, "%d", answer.load);
    EXPECT(
        strstr(answer.error_log, "Program with .target 'sm_100a' cannot be compiled to future architecture"),
        "%s", answer.error_log);
    EXPECT(check_entries("cache") == 0);
    EXPECT(check_load_text(text).load == CUDA_ERROR_INVALID_PTX);
}

static void no_context_and_no_jit(void)
{
    char *text = check_ptx("k", "");
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    struct check_answer answer = library_without_context(text, 0);
    EXPECT(answer.load == CUDA_SUCCESS && answer.wall_time_ms <= 0, "%d", answer.load);
    EXPECT(check_entries("cache") == 0);
}

/* Stored all the same, and INVALID_IMAGE again from the cache. */
static void parameters_that_cannot_be_loaded(void)
{
    static const struct {
        const char *parameter;
        bool loads;
    } rows[] = {{".u64 .ptr .shared .align 4 p", false},
                {".u64 .ptr .local .align 4 p", false},
                {".u64 .ptr .const .align 4 p", true},
                {".u64 .ptr .global .align 4 p", true},
                {".u64 .ptr .align 4 p", true},
                {".u64 p", true},
                {".texref p", false},
                {".samplerref p", false},
                {".surfref p", false}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k%u(.param %s)"
                       "\n{\n\tret;\n}\n",
                       i, rows[i].parameter);
        const CUresult expected = rows[i].loads ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
        EXPECT(library_without_context(text, 0).load == CUDA_SUCCESS, "%s", rows[i].parameter);
        EXPECT(check_entries("cache") == i + 1, "%s is stored", rows[i].parameter);
        struct check_answer answer = check_load_text(text);
        EXPECT(answer.load == expected && answer.wall_time_ms <= 0, "%s: %d", rows[i].parameter, answer.load);
        setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
        EXPECT(check_load_text(text).load == expected, "%s: cached", rows[i].parameter);
        unsetenv("CUDA_DISABLE_PTX_JIT");
    }
}

static void samplers(void)
{
    static const char text[] = ".version 8.0\n.target sm_80%s\n.address_size 64\n.global .samplerref s;\n"
                               ".visible .entry k(.param .u64 p)\n{\n\tret;\n}\n";
    char independent[200];
    (void)snprintf(independent, sizeof independent, text, ", texmode_independent");
    EXPECT(check_load_text(independent).load == CUDA_ERROR_NOT_FOUND);
    EXPECT(check_entries("cache") == 1);
    EXPECT(check_load_text(independent).load == CUDA_ERROR_NOT_FOUND);
}

static void wall_time(void)
{
    char *text = check_ptx("k", "");
    struct check_answer miss = check_load_text(text), hit = check_load_text(text);
    EXPECT(miss.wall_time_ms > 0 && (double)miss.wall_time_ms <= miss.ms);
    EXPECT(!(hit.wall_time_ms > 0) && !(hit.wall_time_ms < 0));
}

static void options_make_keys(void)
{
    static const struct {
        CUjit_option option;
        unsigned value;
        bool own_key;
    } options[] = {
        {CU_JIT_LOG_VERBOSE, 1, false},
        {CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY, false},
        {CU_JIT_FTZ, 1, false},
        {CU_JIT_PREC_DIV, 0, false},
        {CU_JIT_PREC_SQRT, 0, false},
        {CU_JIT_FMA, 0, false},
        {CU_JIT_OPTIMIZATION_LEVEL, 4, true},
        {CU_JIT_OPTIMIZATION_LEVEL, 0, true},
        {CU_JIT_GENERATE_LINE_INFO, 1, true},
        {CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CG, true},
        {CU_JIT_THREADS_PER_BLOCK, 64, true},
    };
    char *text = check_ptx("k", "");
    unsigned entries = 1;
    check_expect_miss(text);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct check_answer answer =
            check_load(&(struct check_request){.call = CALL_EX,
                                               .image = text,
                                               .options = {{options[i].option, options[i].value}},
                                               .option_count = 1});
        EXPECT(answer.load == CUDA_SUCCESS, "option %u: %d", options[i].option, answer.load);
        entries += options[i].own_key;
        EXPECT(check_entries("cache") == entries, "option %u value %u", options[i].option, options[i].value);
    }
}

static void bad_options(void)
{
    char *text = check_ptx("k", "");
    struct check_request request = {.call = CALL_EX, .image = text, .option_count = 1};
    request.options[0] = (struct check_option){CU_JIT_TARGET, 12345};
    EXPECT(check_load(&request).load == CUDA_ERROR_INVALID_VALUE);
    request.options[0] = (struct check_option){(CUjit_option)4711, 1};
    EXPECT(check_load(&request).load == CUDA_ERROR_INVALID_VALUE);
}

#define HEAD   ".version 9.0\n.target sm_80\n.address_size 64\n"
#define KERNEL ".visible .entry k() { ret; }\n"

/* Codes as the driver gave them; texts as it, or ptxas 13.0.88 for the same input, put them. */
static const struct refusal {
    const char *text;
    CUresult result;
    const char *log;
} refusals[] = {
    {".version 9.9\n.target sm_80\n" KERNEL, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     "line 1; fatal   : Unsupported .version 9.9; current version is '9.0'"},
    {".version 2.9\n.target sm_80\n" KERNEL, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     "Unsupported .version 2.9; current version is '9.0'"},
    {".version 9.0\n.target sm_100\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "ptxas fatal   : SM version specified by .target is higher than default SM version assumed"},
    {".version 1.4\n.target sm_10\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Feature '.address_size directive' requires PTX ISA .version 2.3 or later"},
    {".version 9.0\n.target sm_100a\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Program with .target 'sm_100a' cannot be compiled to future architecture"},
    {".version 9.0\n.target sm_100f\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Program with .target 'sm_100f' cannot be compiled to different SM-family architecture"},
    {".version 7.0\n.target sm_90\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "line 2; error   : PTX .version 7.0 does not support .target sm_90"},
    {".version 9.0\n.target sm_999\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Unsupported .target 'sm_999'"},
    {".version 9.0\n.target SM_80\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Target architecture not defined"},
    {".version 9.0\n.target debug, sm_80\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Target architecture not defined"},
    {".version 9.0\n.target sm_80\n.address_size 32\n" KERNEL, CUDA_ERROR_INVALID_PTX, "32-Bit ABI"},
    {".target sm_80\n.version 9.0\n" KERNEL, CUDA_ERROR_INVALID_PTX, "Missing .version directive"},
    {".version 9.0\n.address_size 64\n" KERNEL, CUDA_ERROR_INVALID_PTX, "Missing .target directive"},
    {".version /* x */ 9.0\n.target sm_80\n" KERNEL, CUDA_ERROR_INVALID_PTX, "Missing .version directive"},
    {"hello\n", CUDA_ERROR_INVALID_PTX, "Missing .version directive"},
    {HEAD "garbage\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "line 4; fatal   : Parsing error near 'garbage': syntax error"},
    {HEAD ".visible .entry k() { bogus; ret; }\n", CUDA_ERROR_INVALID_PTX,
     "line 4; error   : Not a name of any known instruction: 'bogus'"},
    {HEAD ".visible .entry k() { ret;\n", CUDA_ERROR_INVALID_PTX, "Parsing error near '': syntax error"},
    {HEAD ".visible .entry k() { ret }\n", CUDA_ERROR_INVALID_PTX, "Parsing error near '}': syntax error"},
    {HEAD KERNEL "/* open", CUDA_ERROR_INVALID_PTX, "unexpected EOF while scanning"},
    {HEAD KERNEL KERNEL, CUDA_ERROR_INVALID_PTX, "line 5; error   : Duplicate definition of function 'k'"},
    {HEAD "// \303\251\n" KERNEL, CUDA_ERROR_INVALID_PTX,
     "Unexpected non-ASCII character encountered on line 4"},
    {HEAD ".extern .func foo\n();\n.visible .entry k() { call.uni foo, (); ret; }\n", CUDA_ERROR_INVALID_PTX,
     "ptxas fatal   : Unresolved extern function 'foo'"},
    {HEAD ".extern .func (.param .b32 r) foo\n(.param .b32 a);\n.visible .entry k() {\n .param .b32 r;\n "
          ".param .b32 a;\n"
          " call.uni (r), foo, (a);\n ret;\n}\n",
     CUDA_ERROR_INVALID_PTX, "ptxas fatal   : Unresolved extern function 'foo'"},
    {"", CUDA_ERROR_INVALID_IMAGE, ""},
    {"\357\273\277" HEAD KERNEL, CUDA_ERROR_INVALID_IMAGE, ""},
};

static void refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct check_answer answer = check_load_text(refusal->text);
        EXPECT(answer.load == refusal->result, "%d: %.60s", answer.load, refusal->text);
        EXPECT(strstr(answer.error_log, refusal->log), "%.60s: %s", refusal->text, answer.error_log);
        EXPECT(check_entries("cache") == 0, "%.60s", refusal->text);
    }
}

/* What looks odd and is fine: ptxas 13.0.88 takes every one of these. */
static const char *const accepted_texts[] = {
    ".version 9.0\n.target compute_80\n.address_size 64\n" KERNEL,
    ".version 9.0\n.target sm_80\n.target sm_75\n.address_size 64\n" KERNEL,
    ".version 9.0\n.target sm_80\n" KERNEL,
    ".version 1.4\n.target sm_10\n" KERNEL,
    "// .version 9.9\n/* .target sm_100 */\n# 1 \"x\"\n" HEAD KERNEL,
    ".version 9.0\r.target sm_80\r.address_size 64\r.visible .entry k() { ret; }",
    HEAD ".extern .func foo\n();\n" KERNEL,
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.visible .entry k() {\n "
         ".param .b64 a;\n"
         " .param .b64 b;\n .param .b32 r;\n call.uni (r), vprintf, (a, b);\n ret;\n}\n",
    HEAD
    ".visible .entry k()\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n .reg .pred %p<2>;\n .reg .b32 %r<4>;\n"
    " mov.u32 %r1, %tid.x;\n setp.ge.s32 %p1, %r1, 5;\n @!%p1 bra $done;\n { .reg .b32 q; mov.u32 q, %r1; }\n"
    " $done: ret;\n}\n",
    HEAD ".func inner() { ret; }\n.visible .entry k() { call inner; ret; }\n",
    HEAD ".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n.const .v2 .f32 pair;\n",
};

static void accepted(void)
{
    for (size_t i = 0; i < sizeof accepted_texts / sizeof accepted_texts[0]; i++) {
        struct check_answer answer = check_load_text(accepted_texts[i]);
        EXPECT(answer.load == CUDA_SUCCESS, "%d: %.60s: %s", answer.load, accepted_texts[i],
               answer.error_log);
        EXPECT(check_entries("cache") == i + 1);
    }
}

/* `.target` sm_90a runs on a 9.0 device, and on no other; families run on their members only. */
static void letters(void)
{
    static const struct {
        const char *target;
        unsigned arch;
        bool runs;
    } pairs[] = {
        {"sm_90a", 90, true},           {"sm_90a", 65626, true},         {"sm_90a", 100, false},
        {"sm_100a", 100, true},         {"sm_100a", 103, false},         {"sm_100f", 100, true},
        {"sm_100f", 103, true},         {"sm_100f", 131072 + 103, true}, {"sm_100f", 110, false},
        {"sm_103f", 100, false},        {"sm_120f", 121, true},          {"sm_75", 121, true},
        {"sm_103a", 65536 + 103, true}, {"sm_121", 120, false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct fake_buffer text = {0};
        fake_buffer_printf(&text, ".version 9.0\n.target %s\n.address_size 64\n" KERNEL "// %zu\n",
                           pairs[i].target, i);
        struct check_answer answer = library_without_context((char *)text.data, pairs[i].arch);
        EXPECT(answer.load == CUDA_SUCCESS);
        EXPECT((answer.wall_time_ms > 0) == pairs[i].runs, "%s for %u: %s", pairs[i].target, pairs[i].arch,
               answer.error_log);
        EXPECT((answer.error_log[0] == 0) == pairs[i].runs);
    }
}

/* One sm_NN entry whatever the letter of the target given. */
static void letters_share_an_entry(void)
{
    static const char text[] = ".version 9.0\n.target sm_100f\n.address_size 64\n" KERNEL;
    static const unsigned targets[] = {103, 65536 + 103, 131072 + 103};
    for (size_t i = 0; i < 3; i++) {
        struct check_answer answer = library_without_context(text, targets[i]);
        EXPECT((answer.wall_time_ms > 0) == (i == 0), "%u", targets[i]);
    }
    EXPECT(check_entries("cache") == 1);
}

static void behind_a_nul(void)
{
    struct fake_buffer text = {0};
    fake_buffer_add_text(&text, HEAD KERNEL);
    fake_buffer_fill(&text, 0, 1);
    fake_buffer_add_text(&text, ".visible .entry hidden() { ret; }\n");
    struct check_request request = {.call = CALL_EX, .image = text.data, .kernel = "hidden"};
    struct check_answer answer = check_load(&request);
    EXPECT(answer.load == CUDA_SUCCESS && answer.function == CUDA_ERROR_NOT_FOUND, "%d", answer.function);
    request.kernel = "k";
    EXPECT(check_load(&request).function == CUDA_SUCCESS);
    check_expect_hit(HEAD KERNEL);
}

/* A cubin is loaded as it is, without the cache, on its own GPU only. */
static void cubins(void)
{
    static const char *const entries[] = {"golden/plain/c/a/920786966c763d",
                                          "golden/foreign_80/0/f/936157d6e3da30"};
    for (size_t i = 0; i < 2; i++) {
        struct fake_buffer entry = check_read(check_data_path(entries[i]));
        uint64_t key_bytes;
        memcpy(&key_bytes, entry.data + 4, 8);
        struct check_answer answer = check_load(
            &(struct check_request){.call = CALL_EX, .image = entry.data + 28 + key_bytes, .kernel = "axpb"});
        EXPECT(answer.load == (i ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS), "%d", answer.load);
        EXPECT(i || answer.function == CUDA_SUCCESS);
    }
    EXPECT(check_entries("cache") == 0);
}

const struct check check_load_tests[] = {
    {"[3][37] kernels behind an interior NUL are missing", behind_a_nul},
    {"[4] which options make a key of their own", options_make_keys},
    {"[6] targets with letters run where they may", letters},
    {"[6] the letter of the target given makes no other entry", letters_share_an_entry},
    {"[11] below the PTX's target it is refused", foreign_below_the_target},
    {"[13] cuLibraryLoadData compiles without a context, modules do not load", no_context_compiles},
    {"[13] without a context success proves nothing", no_context_success_proves_nothing},
    {"[27] with a context, JIT disabled: hits load, misses fail", witnesses_with_context},
    {"[11][28] foreign targets: stored, then INVALID_SOURCE", witnesses_foreign},
    {"[29] without a context, JIT disabled: success is no witness", no_context_and_no_jit},
    {"[30] wall time: 0 on a hit, the compile's on a miss", wall_time},
    {"[77] kernel parameters with which code is stored and never loaded", parameters_that_cannot_be_loaded},
    {"[77] samplers of their own: stored and never loaded", samplers},
    {"[37] what is refused, with which code and text", refused},
    {"[37] what is odd and accepted", accepted},
    {"[37] a cubin of another GPU", cubins},
    {"options and targets that do not exist", bad_options},
    {NULL, NULL},
};
