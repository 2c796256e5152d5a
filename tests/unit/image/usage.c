/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of ptxas, nvlink, nvJitLink and NVRTC 13.0, lines of older toolkits, and text that is none. */
#include "data.h"

#include "image/usage.h"

enum { NONE = -1, FUNCTIONS_MAX = 6, WARNINGS_MAX = 3 };

#define SPILLS "_Z6spillsIfLi64EEvPT_PKS0_"

/* Numbers in the order of the struct; NONE: not said. */
struct expected {
    const char *name;
    bool kernel;
    struct pj_arch arch;
    int registers, barriers, shared, linked_shared, stack, whole_stack, spill_store, spill_load, constant;
};

static void check_number(struct pj_usage_number number, int expected, const char *file, const char *name,
                         const char *what)
{
    if (number.known != (expected != NONE) || (number.known && number.value != (uint64_t)expected))
        fail_msg("%s: %s: %s: %s %llu", file, name, what, number.known ? "known" : "unknown",
                 (unsigned long long)number.value);
}

static void check_function(const struct pj_usage_function *function, const struct expected *expected,
                           const char *file)
{
    const char *name = expected->name;
    assert_string_equal(function->name, name);
    assert_int_equal(function->kernel, expected->kernel);
    assert_int_equal(pj_arch_compare(function->arch, expected->arch), 0);
    check_number(function->registers, expected->registers, file, name, "registers");
    check_number(function->barriers, expected->barriers, file, name, "barriers");
    check_number(function->shared_bytes, expected->shared, file, name, "shared");
    check_number(function->linked_shared_bytes, expected->linked_shared, file, name, "linked shared");
    check_number(function->stack_bytes, expected->stack, file, name, "stack");
    check_number(function->whole_stack_bytes, expected->whole_stack, file, name, "whole stack");
    check_number(function->spill_store_bytes, expected->spill_store, file, name, "spill stores");
    check_number(function->spill_load_bytes, expected->spill_load, file, name, "spill loads");
    check_number(function->constant_bytes, expected->constant, file, name, "constants");
}

static const struct {
    const char *file;
    size_t count, warning_count;
    struct expected functions[FUNCTIONS_MAX];
    const char *warnings[WARNINGS_MAX];
} files[] = {
    {"usage/ptxas_sm_75.txt",
     5,
     0,
     {{"empty", true, {75, 0}, 4, 0, NONE, NONE, 0, NONE, 0, 0, 352},
      {"calls", true, {75, 0}, 38, 0, NONE, NONE, 0, NONE, 0, 0, 360},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 152, NONE, 52, 52, NONE},
      {"uses_shared", true, {75, 0}, 10, 1, 1024, NONE, 0, NONE, 0, 0, 360},
      {SPILLS, true, {75, 0}, 80, 1, NONE, NONE, 0, NONE, 0, 0, 368}},
     {NULL}},
    {"usage/ptxas_spills.txt",
     5,
     2,
     {{"empty", true, {90, 'a'}, 4, 0, NONE, NONE, 0, NONE, 0, 0, NONE},
      {"calls", true, {90, 'a'}, 24, 0, NONE, NONE, 0, NONE, 0, 0, NONE},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 200, NONE, 68, 68, NONE},
      {"uses_shared", true, {90, 'a'}, 11, 1, 1024, NONE, 0, NONE, 0, 0, NONE},
      {SPILLS, true, {90, 'a'}, 24, 1, NONE, NONE, 752, 752, 1184, 1264, NONE}},
     {"ptxas warning : Registers are spilled to local memory in function 'helper', 68 bytes spill stores, 68 "
      "bytes spill loads",
      "ptxas warning : Registers are spilled to local memory in function '" SPILLS
      "', 1184 bytes spill stores, 1264 bytes spill loads"}},
    {"usage/nvrtc_sm_80.txt",
     5,
     3,
     {{"empty", true, {80, 0}, 4, 0, NONE, NONE, 0, NONE, 0, 0, 352},
      {"calls", true, {80, 0}, 24, 0, NONE, NONE, 0, NONE, 0, 0, 360},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 200, NONE, 68, 68, NONE},
      {"uses_shared", true, {80, 0}, 11, 1, 1024, NONE, 0, NONE, 0, 0, 360},
      {SPILLS, true, {80, 0}, 24, 1, NONE, NONE, 760, 760, 1192, 1308, 368}},
     {"a.cu(40): warning #177-D: variable \"unused\" was declared but never referenced",
      "ptxas warning : Registers are spilled to local memory in function 'helper', 68 bytes spill stores, 68 "
      "bytes spill loads",
      "ptxas warning : Registers are spilled to local memory in function '" SPILLS
      "', 1192 bytes spill stores, 1308 bytes spill loads"}},
    /* The linker's registers count what is called; of a recursive kernel it does not know the stack. */
    {"usage/nvjitlink_sm_75.txt",
     6,
     1,
     {{"helper$1", false, {0, 0}, NONE, NONE, NONE, NONE, 104, NONE, 16, 16, NONE},
      {"empty", true, {75, 0}, 4, 0, NONE, 0, 0, 0, 0, 0, 352},
      {"calls", true, {75, 0}, 54, 0, NONE, 0, 0, NONE, 0, 0, 360},
      {"uses_shared", true, {75, 0}, 10, 1, 1024, 1024, 0, 0, 0, 0, 360},
      {SPILLS, true, {75, 0}, 80, 1, NONE, 0, 0, 0, 0, 0, 368},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 104, NONE, 8, 8, NONE}},
     {"warning : Stack size for entry function 'calls' cannot be statically determined"}},
    {"usage/nvjitlink_sm_90.txt",
     6,
     1,
     {{"helper$1", false, {0, 0}, NONE, NONE, NONE, NONE, 168, NONE, 64, 64, NONE},
      {"empty", true, {90, 0}, 4, 0, NONE, 0, 0, 0, 0, 0, 528},
      {"calls", true, {90, 0}, 24, 0, NONE, 0, 0, NONE, 0, 0, 536},
      {"uses_shared", true, {90, 0}, 11, 1, 1024, 2048, 0, 0, 0, 0, 536},
      {SPILLS, true, {90, 0}, 24, 1, NONE, 0, 752, 752, 1184, 1264, 544},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 120, NONE, 20, 20, NONE}},
     {"warning : Stack size for entry function 'calls' cannot be statically determined"}},
    {"usage/nvjitlink_lto.txt",
     5,
     0,
     {{"empty", true, {90, 0}, 4, 0, NONE, NONE, 0, NONE, 0, 0, NONE},
      {"calls", true, {90, 0}, 38, 0, NONE, NONE, 0, NONE, 0, 0, NONE},
      {"helper", false, {0, 0}, NONE, NONE, NONE, NONE, 152, NONE, 60, 60, NONE},
      {"uses_shared", true, {90, 0}, 12, 1, 1024, NONE, 0, NONE, 0, 0, NONE},
      {SPILLS, true, {90, 0}, 80, 1, NONE, NONE, 0, NONE, 0, 0, NONE}},
     {NULL}},
    /* A linker alone: of what it linked it does not say the architecture. */
    {"usage/nvlink.txt",
     4,
     1,
     {{"uses_shared", true, {0, 0}, 11, 1, NONE, 2048, NONE, 0, NONE, NONE, 536},
      {"calls", true, {0, 0}, 54, 0, NONE, 0, NONE, NONE, NONE, NONE, 536},
      {"empty", true, {0, 0}, 4, 0, NONE, 0, NONE, 0, NONE, NONE, 528},
      {SPILLS, true, {0, 0}, 80, 1, NONE, 0, NONE, 0, NONE, NONE, 544}},
     {"nvlink warning : Stack size for entry function 'calls' cannot be statically determined"}},
};

static void read_text(const char *text, size_t size, struct pj_arena *arena, struct pj_usage *ret_usage)
{
    char *memory = data_odd_copy(text, size);
    assert_int_equal(pj_usage_read(memory + 1, size, arena, ret_usage, NULL), 0);
    free(memory);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_usage usage = {0};
        size_t kernels = 0;
        data_read(files[i].file, &text);
        read_text(text.data, text.size, &arena, &usage);
        assert_int_equal(usage.count, files[i].count);
        assert_int_equal(usage.warning_count, files[i].warning_count);
        for (size_t k = 0; k < usage.count; k++) {
            check_function(&usage.functions[k], &files[i].functions[k], files[i].file);
            kernels += files[i].functions[k].kernel;
        }
        assert_int_equal(usage.kernel_count, kernels);
        for (size_t k = 0; k < usage.warning_count; k++)
            assert_string_equal(usage.warnings[k], files[i].warnings[k]);
    }
}

/* Lines as CUDA 8 to 12 wrote them; the last one has no line end. */
static void test_older(void **state)
{
    (void)state;
    static const char text[] =
        "ptxas info    : 0 bytes gmem, 72 bytes cmem[4]\n"
        "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_35'\r\n"
        "ptxas info    : Function properties for _Z1kPf\r\n"
        "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\r\n"
        "ptxas info    : Function properties for __internal_trig_reduction_slowpathd\n"
        "    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 21 registers, 1024+16 bytes smem, 328 bytes cmem[0], 8 bytes cmem[2], 1 "
        "textures\n"
        "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_70'\n"
        "ptxas info    : Function properties for _Z1kPf\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 16 registers, 360 bytes cmem[0]";
    static const struct expected expected[] = {
        {"_Z1kPf", true, {35, 0}, 21, NONE, 1040, NONE, 8, NONE, 4, 12, 328},
        {"__internal_trig_reduction_slowpathd", false, {0, 0}, NONE, NONE, NONE, NONE, 40, NONE, 0, 0, NONE},
        {"_Z1kPf", true, {70, 0}, 16, NONE, NONE, NONE, 0, NONE, 0, 0, 360},
    };
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_usage usage = {0};
    read_text(text, sizeof text - 1, &arena, &usage);
    assert_int_equal(usage.count, 3);
    assert_int_equal(usage.kernel_count, 2);
    for (size_t i = 0; i < 3; i++)
        check_function(&usage.functions[i], &expected[i], "older");
}

static void test_warnings(void **state)
{
    (void)state;
    static const struct {
        const char *line, *warning; /* NULL: none */
    } rows[] = {
        {"ptxas a.ptx, line 12; warning : Advisory: x\r", "ptxas a.ptx, line 12; warning : Advisory: x"},
        {"warning: y", "warning: y"},
        {"ptxas warning : \x1b[31mred", "ptxas warning : \\x1b[31mred"},
        {"a.cu(3): warning #20-D: z", "a.cu(3): warning #20-D: z"},
        {"Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"", NULL},
        {"ptxas info    : Function properties for warning", NULL},
        {"  // warning: the user's own words", NULL},
        {"prewarning : x", NULL},
        {"warning", NULL},
        {"a warning a warning : x", "a warning a warning : x"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_usage usage = {0};
        read_text(rows[i].line, strlen(rows[i].line), &arena, &usage);
        if (usage.warning_count != (rows[i].warning ? 1 : 0))
            fail_msg("%s", rows[i].line);
        if (rows[i].warning)
            assert_string_equal(usage.warnings[0], rows[i].warning);
    }
}

/* Lines that are nearly right: what cannot be read is not known, and nothing else suffers. */
static void test_strange(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\n\n \n\t\n",
        "Used 3 registers",
        "ptxas info    : Used 3 registers",
        "    8 bytes stack frame, 4 bytes spill stores",
        "ptxas info    : Compiling entry function '",
        "ptxas info    : Compiling entry function 'k",
        "ptxas info    : Compiling entry function '' for 'sm_90'",
        "ptxas info    : Function properties for ",
        "ptxas info    : Function properties for '",
        "ptxas info    : Function properties for ''",
        "ptxas info",
        "ptxas info    ",
        ". ",
        "ptxas error   : Compiling entry function 'k' for 'sm_90'",
        "\0ptxas info    : Compiling entry function 'k' for 'sm_90'",
    };
    for (size_t i = 0; i < PJ_COUNT(lines); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_usage usage = {.count = 7};
        read_text(lines[i], i == PJ_COUNT(lines) - 1 ? 56 : strlen(lines[i]), &arena, &usage);
        if (usage.count != 0 || usage.warning_count != 0)
            fail_msg("%s", lines[i]);
    }
    static const char text[] = "ptxas info    : Compiling entry function 'k' for 'turbo'\n"
                               "ptxas info    : Used many registers, used 99999999999999999999 barriers, "
                               "18446744073709551615+1 bytes "
                               "smem, 5, 6 cats, , used 7, 12 bytes cmem[0]\n";
    static const struct expected expected = {"k",  true, {0, 0}, NONE, NONE, NONE,
                                             NONE, NONE, NONE,   NONE, NONE, 12};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_usage usage = {0};
    read_text(text, sizeof text - 1, &arena, &usage);
    assert_int_equal(usage.count, 1);
    check_function(&usage.functions[0], &expected, "strange");
}

/* Whose numbers they are, where names come twice and lines out of order. */
static void test_whose(void **state)
{
    (void)state;
    static const char text[] = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
                               "ptxas info    : Used 5 registers\n"
                               "ptxas info    : Function properties for f\n"
                               "ptxas info    : Used 6 registers\n"
                               "info    : Function properties for 'f':\n"
                               "info    : used 7 registers\n"
                               "info    : Function properties for 'broken\n"
                               "info    : used 8 registers\n"
                               "info    : Function properties for 'k':\n"
                               "info    : used 9 registers, 3 stack, 4 bytes smem\n"
                               "warning : Stack size for entry function 'f' cannot be statically determined\n"
                               "warning : Stack size for entry function 'k' is large\n";
    static const struct expected expected[] = {
        {"k", true, {90, 0}, 9, NONE, NONE, 4, NONE, 3, NONE, NONE, NONE},
        {"f", false, {0, 0}, 6, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {"f", true, {0, 0}, 7, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
    };
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_usage usage = {0};
    read_text(text, sizeof text - 1, &arena, &usage);
    assert_int_equal(usage.count, PJ_COUNT(expected));
    assert_int_equal(usage.warning_count, 2);
    for (size_t i = 0; i < PJ_COUNT(expected); i++)
        check_function(&usage.functions[i], &expected[i], "whose");
}

/* A name of thousands of characters. */
static void test_long_name(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, name = {0};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_usage usage = {0};
    for (size_t i = 0; i < 5000; i++)
        pj_buffer_putc(&name, (char)('a' + i % 26));
    pj_buffer_printf(&text, "ptxas info    : Compiling entry function '%s' for 'sm_100f'\n", name.data);
    pj_buffer_printf(&text, "ptxas info    : Function properties for %s\n    8 bytes stack frame\n",
                     name.data);
    pj_buffer_printf(&text, "info    : Function properties for '%s':\ninfo    : used 9 registers\n",
                     name.data);
    read_text(text.data, text.size, &arena, &usage);
    assert_int_equal(usage.count, 1);
    assert_string_equal(usage.functions[0].name, name.data);
    assert_int_equal(pj_arch_compare(usage.functions[0].arch, (struct pj_arch){100, 'f'}), 0);
    assert_int_equal(usage.functions[0].stack_bytes.value, 8);
    assert_int_equal(usage.functions[0].registers.value, 9);
}

static void test_too_long(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    struct pj_usage usage = {.count = 7};
    assert_int_equal(pj_usage_read("", (size_t)PJ_USAGE_BYTES_MAX + 1, &arena, &usage, &error),
                     PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(error),
                        "a compiler's text of 67108865 bytes is too long: prejit reads at most 67108864");
    assert_int_equal(usage.count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_older),     cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_strange), cmocka_unit_test(test_long_name), cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_whose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
