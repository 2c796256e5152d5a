/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's linker: entries, witnesses, refusals. Numbers are lines of facts. */
#include "check.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define CALLS(kernel, function)                                                                              \
    HEAD ".extern .func " function ";\n.visible .entry " kernel "()\n{\n    call.uni " function              \
         ";\n    ret;\n}\n"
#define DEFINES(function) HEAD ".visible .func " function "()\n{\n    ret;\n}\n"

static const char caller[] = CALLS("k", "twice");
static const char callee[] = DEFINES("twice");

#define PTX(text, called)                                                                                    \
    {                                                                                                        \
        .type = CU_JIT_INPUT_PTX, .bytes = (text), .name = (called)                                          \
    }

static struct check_link_request two_inputs(void)
{
    return (struct check_link_request){
        .inputs = {PTX(caller, "a.ptx"), PTX(callee, "b.ptx")}, .input_count = 2, .kernel = "k"};
}

static void expect_linked(const struct check_link_answer *answer)
{
    EXPECT(answer->complete == CUDA_SUCCESS, "%d %s", answer->complete, answer->error_log);
    EXPECT(answer->load == CUDA_SUCCESS && answer->function == CUDA_SUCCESS, "%d %d", answer->load,
           answer->function);
}

static unsigned elf_type(const unsigned char *bytes)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    return header.e_type;
}

static void an_entry_for_each(void)
{
    struct check_link_request request = two_inputs();
    struct check_link_answer answer = check_link(&request);
    expect_linked(&answer);
    EXPECT(answer.add[0] == CUDA_SUCCESS && answer.add[1] == CUDA_SUCCESS);
    EXPECT(check_entries("cache") == 2, "%u", check_entries("cache"));
    EXPECT(elf_type(answer.cubin_head) == ET_EXEC);
    struct check_link_answer again = check_link(&request);
    expect_linked(&again);
    EXPECT(again.cubin_bytes == answer.cubin_bytes);
    EXPECT(check_entries("cache") == 2, "the link itself is not cached");
    /* An entry of a link and that of a load are two. */
    check_expect_miss(HEAD ".visible .entry lone()\n{\n    ret;\n}\n");
    EXPECT(check_entries("cache") == 3);
    request = (struct check_link_request){
        .inputs = {PTX(HEAD ".visible .entry lone()\n{\n    ret;\n}\n", "lone")}, .input_count = 1};
    EXPECT(check_link(&request).complete == CUDA_SUCCESS);
    EXPECT(check_entries("cache") == 4);
}

static void wall_times(void)
{
    struct check_link_request request = two_inputs();
    struct check_link_answer miss = check_link(&request), hit = check_link(&request);
    if (!check_is_real_driver()) /* when it is written between the calls was not measured */
        EXPECT(miss.add_ms[0] > 0 && miss.add_ms[1] > miss.add_ms[0] && hit.add_ms[1] <= 0);
    EXPECT(hit.wall_time_ms > 0 && hit.wall_time_ms < 20, "%f", (double)hit.wall_time_ms);
    EXPECT(miss.wall_time_ms > hit.wall_time_ms);
}

static void files_as_inputs(void)
{
    struct check_link_request request = two_inputs();
    check_write_text("a.ptx", caller);
    check_write_text("b.ptx", callee);
    for (unsigned i = 0; i < 2; i++)
        request.inputs[i].is_file = true;
    struct check_link_answer answer = check_link(&request);
    expect_linked(&answer);
    /* Files and texts share their entries. */
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    request = two_inputs();
    answer = check_link(&request);
    expect_linked(&answer);
    request.inputs[0] = (struct check_input){.type = CU_JIT_INPUT_PTX, .name = "nowhere", .is_file = true};
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_FILE_NOT_FOUND);
}

static char *last_entry_key(void)
{
    struct fake_buffer path = {0};
    fake_buffer_printf(&path, "cache/%s", check_only_entry("cache"));
    struct fake_buffer entry = check_read((char *)path.data);
    uint64_t key_bytes;
    memcpy(&key_bytes, entry.data + 4, 8);
    const unsigned char *key = entry.data + 28, *end = key + key_bytes;
    EXPECT(elf_type(end) == ET_REL);
    const unsigned char *nul = memchr(key, 0, key_bytes);
    EXPECT(nul != NULL);
    return fake_copy_text((const char *)nul + 1, (size_t)(end - nul - 1));
}

static void options_in_the_key(void)
{
    static const struct {
        struct check_option options[3];
        unsigned count;
        const char *text;
    } cases[] = {
        {{{0, 0}}, 0, " -c"},
        {{{CU_JIT_MAX_REGISTERS, 64}, {CU_JIT_OPTIMIZATION_LEVEL, 3}}, 2, " -c -O3 --maxrregcount 64"},
        {{{CU_JIT_GENERATE_LINE_INFO, 1}}, 1, " -c -lineinfo"},
        {{{CU_JIT_GENERATE_DEBUG_INFO, 1}}, 1, " -c -g"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct check_link_request request = {.inputs = {PTX(callee, "b.ptx")}, .input_count = 1};
        char cache[] = "cache-0";
        memcpy(request.options, cases[i].options, sizeof cases[i].options);
        request.option_count = cases[i].count;
        EXPECT(check_link(&request).add[0] == CUDA_SUCCESS);
        char *text = last_entry_key();
        EXPECT(strcmp(text, cases[i].text) == 0, "`%s`, not `%s`", text, cases[i].text);
        cache[6] = (char)('0' + i);
        EXPECT(rename("cache", cache) == 0);
    }
}

static void needs_a_context(void)
{
    struct check_link_request request = two_inputs();
    request.no_context = true;
    EXPECT(check_link(&request).create == CUDA_ERROR_INVALID_CONTEXT);
}

static void witnesses(void)
{
    struct check_link_request native = two_inputs(), foreign = two_inputs();
    foreign.options[0] = (struct check_option){CU_JIT_TARGET, 80};
    foreign.option_count = 1;
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    struct check_link_answer answer = check_link(&native);
    EXPECT(answer.add[0] == CUDA_ERROR_JIT_COMPILATION_DISABLED, "%d", answer.add[0]);
    EXPECT(check_entries("cache") == 0);
    unsetenv("CUDA_DISABLE_PTX_JIT");
    EXPECT(check_link(&native).complete == CUDA_SUCCESS);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    answer = check_link(&native);
    expect_linked(&answer);
    EXPECT(check_link(&foreign).add[0] == CUDA_ERROR_JIT_COMPILATION_DISABLED);
    unsetenv("CUDA_DISABLE_PTX_JIT");
    EXPECT(check_link(&foreign).complete == CUDA_SUCCESS);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    answer = check_link(&foreign);
    EXPECT(answer.add[0] == CUDA_SUCCESS && answer.add[1] == CUDA_SUCCESS && answer.complete == CUDA_SUCCESS);
    /* The first input that misses. */
    native.inputs[0].bytes = CALLS("other", "twice");
    native.inputs[1].bytes = DEFINES("twice") "// other\n";
    answer = check_link(&native);
    EXPECT(answer.add[0] == CUDA_ERROR_JIT_COMPILATION_DISABLED);
}

static void foreign_cubin(void)
{
    struct check_link_request request = two_inputs();
    request.options[0] = (struct check_option){CU_JIT_TARGET, 80};
    request.option_count = 1;
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.complete == CUDA_SUCCESS && answer.load == CUDA_ERROR_NO_BINARY_FOR_GPU, "%d %d",
           answer.complete, answer.load);
    EXPECT(check_entries("cache") == 2);
}

static void unresolved(void)
{
    struct check_link_request request = two_inputs();
    request.input_count = 1;
    for (int i = 0; i < 2; i++) { /* missed, then hit */
        struct check_link_answer answer = check_link(&request);
        EXPECT(answer.add[0] == CUDA_SUCCESS && answer.complete == CUDA_ERROR_INVALID_SOURCE, "%d",
               answer.complete);
        EXPECT(strstr(answer.error_log, "error   : Undefined reference to 'twice' in 'a.ptx'"), "%s",
               answer.error_log);
        EXPECT(check_entries("cache") == 1, "stored all the same");
    }
}

static void unresolved_variable(void)
{
    struct check_link_request request = {
        .inputs = {PTX(HEAD ".extern .global .align 4 .u32 count;\n.extern .global .align 4 .u32 unused;\n"
                            ".visible .entry k()\n{\n    .reg .b64 %rd<2>;\n"
                            "    mov.u64 %rd1, count;\n    ret;\n}\n",
                       "a.ptx"),
                   PTX(HEAD ".visible .global .align 4 .u32 count;\n", "b.ptx")},
        .input_count = 1,
        .kernel = "k"};
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.complete == CUDA_ERROR_INVALID_SOURCE);
    EXPECT(strstr(answer.error_log, "error   : Undefined reference to 'count' in 'a.ptx'"), "%s",
           answer.error_log);
    EXPECT(!strstr(answer.error_log, "unused"));
    request.input_count = 2;
    answer = check_link(&request);
    expect_linked(&answer);
}

static void defined_twice(void)
{
    struct check_link_request request = two_inputs();
    request.inputs[2] = (struct check_input)PTX(callee, "b.ptx");
    request.input_count = 3;
    for (int i = 0; i < 2; i++) {
        struct check_link_answer answer = check_link(&request);
        EXPECT(answer.add[2] == CUDA_SUCCESS && answer.complete == CUDA_ERROR_INVALID_SOURCE, "%d",
               answer.complete);
        EXPECT(strstr(answer.error_log,
                      "error   : Multiple definition of 'twice' in 'b.ptx', first defined in 'b.ptx'"),
               "%s", answer.error_log);
        EXPECT(check_entries("cache") == 2);
    }
    /* Templates are weak: each input may have them. Names without .visible are the input's own. */
    static const char weak[] = HEAD ".weak .func twice()\n{\n    ret;\n}\n.weak .entry t()\n{\n    ret;\n}\n"
                                    ".func own()\n{\n    ret;\n}\n";
    request.inputs[1].bytes = weak;
    request.inputs[2].bytes = weak;
    struct check_link_answer answer = check_link(&request);
    expect_linked(&answer);
}

static void a_bad_input_is_refused(void)
{
    struct check_link_request request = two_inputs();
    request.inputs[0].bytes = ".version 9.9\n.target sm_80\n.address_size 64\n";
    struct check_link_answer answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "%d", answer.add[0]);
    EXPECT(strstr(answer.error_log, "Unsupported .version 9.9; current version is '9.0'"), "%s",
           answer.error_log);
    EXPECT(answer.add[1] == CUDA_SUCCESS && check_entries("cache") == 1);
    request.inputs[0] = (struct check_input){.type = CU_JIT_INPUT_PTX, .bytes = "\1\2\3\4", .name = "bytes"};
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_INVALID_IMAGE);
}

static void a_refusal_taints(void)
{
    struct check_link_request bad = two_inputs(), alone = two_inputs(), good = two_inputs();
    bad.inputs[0].bytes = ".version 9.9\n.target sm_80\n.address_size 64\n";
    bad.input_count = alone.input_count = 1;
    EXPECT(check_link(&alone).complete == CUDA_ERROR_INVALID_SOURCE);
    alone.before = good.before = &bad;
    struct check_link_answer answer = check_link(&alone);
    EXPECT(answer.complete == CUDA_SUCCESS, "%d", answer.complete);
    EXPECT(strstr(answer.error_log, "error   : Undefined reference to 'twice'"), "%s", answer.error_log);
    answer = check_link(&good);
    expect_linked(&answer);
    EXPECT(answer.error_log[0] == 0, "%s", answer.error_log);
}

static void without_nul(void)
{
    struct check_link_request request = two_inputs();
    EXPECT(check_link(&request).complete == CUDA_SUCCESS);
    if (check_is_real_driver())
        check_skip("the real driver reads to the NUL");
    struct fake_buffer text = {0};
    fake_buffer_printf(&text, "%s// no end of the text here", caller);
    request.inputs[0].bytes = text.data;
    request.inputs[0].length = strlen(caller);
    setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
    EXPECT(check_link(&request).complete == CUDA_SUCCESS);
}

/* The relocatable cubin of an entry that a link of `text` leaves. */
static struct fake_buffer relocatable(const char *text, unsigned target)
{
    struct check_link_request request = {.inputs = {PTX(text, "x")},
                                         .input_count = 1,
                                         .options = {{CU_JIT_TARGET, target}},
                                         .option_count = 1};
    struct fake_buffer path = {0}, cubin = {0};
    setenv("CUDA_CACHE_PATH", "private", 1);
    EXPECT(check_link(&request).add[0] == CUDA_SUCCESS);
    fake_buffer_printf(&path, "private/%s", check_only_entry("private"));
    struct fake_buffer entry = check_read((char *)path.data);
    uint64_t key_bytes;
    memcpy(&key_bytes, entry.data + 4, 8);
    fake_buffer_add(&cubin, entry.data + 28 + key_bytes, entry.length - 28 - key_bytes);
    setenv("CUDA_CACHE_PATH", "cache", 1);
    EXPECT(rename("private", target == 80 ? "private-80" : "private-90") == 0);
    return cubin;
}

static void cubins_as_inputs(void)
{
    struct check_link_request request = two_inputs();
    struct fake_buffer fitting = relocatable(callee, 90), other = relocatable(callee, 80);
    request.inputs[1] = (struct check_input){
        .type = CU_JIT_INPUT_CUBIN, .bytes = fitting.data, .length = fitting.length, .name = "b.cubin"};
    struct check_link_answer answer = check_link(&request);
    expect_linked(&answer);
    EXPECT(check_entries("cache") == 1, "none for a cubin");
    request.inputs[1].bytes = other.data;
    request.inputs[1].length = other.length;
    answer = check_link(&request);
    EXPECT(answer.add[1] == CUDA_ERROR_NO_BINARY_FOR_GPU, "%d", answer.add[1]);
    request.options[0] = (struct check_option){CU_JIT_TARGET, 80};
    request.option_count = 1;
    answer = check_link(&request);
    EXPECT(answer.add[1] == CUDA_SUCCESS && answer.complete == CUDA_SUCCESS);
    request.inputs[1].bytes = fitting.data;
    request.inputs[1].length = fitting.length;
    EXPECT(check_link(&request).add[1] == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void types_of_inputs(void)
{
    struct check_link_request request = two_inputs();
    request.inputs[0].type = CU_JIT_INPUT_FATBINARY;
    struct check_link_answer answer = check_link(&request);
    expect_linked(&answer);
    request.inputs[0].type = (CUjitInputType)5;
    answer = check_link(&request);
    EXPECT(answer.add[0] == CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "%d", answer.add[0]);
    request.inputs[0].type = (CUjitInputType)77;
    EXPECT(check_link(&request).add[0] == CUDA_ERROR_INVALID_VALUE);
}

const struct check check_link_tests[] = {
    {"[5] a link makes an entry for each PTX input", an_entry_for_each},
    {"[5] a link takes files as well as texts", files_as_inputs},
    {"[5][51] a link's options stand in the keys behind -c", options_in_the_key},
    {"[13] a link needs a context", needs_a_context},
    {"[27][48] a link with JIT disabled: hits link, a miss fails where it is added", witnesses},
    {"[30] a link's wall time: its own, and the compilations'", wall_times},
    {"[37] a link refuses an input as a load refuses it", a_bad_input_is_refused},
    {"[47][49] a link takes PTX of another type for what it is; no NVVM", types_of_inputs},
    {"[48] a link with an undefined function fails, and is stored", unresolved},
    {"[48] a link with an undefined variable fails", unresolved_variable},
    {"[63] after an input that was refused, undefined references are told and not minded", a_refusal_taints},
    {"[48] a link with a function defined twice fails, and is stored", defined_twice},
    {"[49] a link takes cubins of its target only, and stores none", cubins_as_inputs},
    {"[50] a linked cubin of another target does not load", foreign_cubin},
    {"a link's PTX ends at its size, if no NUL comes before", without_nul},
    {NULL, NULL},
};
