/* SPDX-License-Identifier: Apache-2.0 */
/* PTX as bytes, against drivers and GPUs, and the small questions about a reading. */
#include "read.h"

#define HEAD        ".version 8.5\n.target sm_80\n.address_size 64\n"
#define BODY        ".visible .entry k(){ret;}\n"
#define BYTES(text) text, sizeof(text) - 1

static void test_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *code;
        size_t line;
        const char *message;
        size_t text_size;
    } rows[] = {
        {BYTES(HEAD BODY "\0"), "ok", 0, NULL, sizeof(HEAD BODY) - 1},
        {BYTES(HEAD BODY "\0\0\0 \n\0"), "ok", 0, NULL, sizeof(HEAD BODY) - 1},
        {BYTES(HEAD BODY "\0.entry b(){}"), "interior-nul", 5,
         "line 5: a NUL byte with more text behind it: the driver reads up to the NUL and drops the other 12 "
         "bytes "
         "in silence; remove the NUL, or end the file there",
         sizeof(HEAD BODY) - 1},
        {BYTES(HEAD BODY "\0\0\xff"), "interior-nul", 5,
         "line 5: a NUL byte with more text behind it: the driver reads up to the NUL and drops the other 2 "
         "bytes "
         "in silence; remove the NUL, or end the file there",
         sizeof(HEAD BODY) - 1},
        {BYTES(HEAD "// \xc3\xa9\n" BODY), "non-ascii", 4,
         "line 4: byte 0xc3 is not ASCII: compilers since CUDA 12.8 refuse it even in comments; write ASCII "
         "only",
         sizeof(HEAD "// \xc3\xa9\n" BODY) - 1},
        {BYTES(HEAD BODY "\x80"), "non-ascii", 5,
         "line 5: byte 0x80 is not ASCII: compilers since CUDA 12.8 refuse it even in comments; write ASCII "
         "only",
         sizeof(HEAD BODY)},
        {BYTES("// \xff\n.target sm_80\n"), "non-ascii", 1,
         "line 1: byte 0xff is not ASCII: compilers since CUDA 12.8 refuse it even in comments; write ASCII "
         "only",
         sizeof("// \xff\n.target sm_80\n") - 1},
        {BYTES(""), "not-ptx", 0, "this is an empty file, not PTX: check what should have written it", 0},
        {BYTES("\xef\xbb\xbf" HEAD BODY), "not-ptx", 0,
         "this is text that starts with a UTF-8 byte-order mark, not PTX: save it as plain ASCII without a "
         "byte-order mark",
         sizeof("\xef\xbb\xbf" HEAD BODY) - 1},
        {BYTES("\x50\xed\x55\xba\x01"), "not-ptx", 0,
         "this is a fatbin (a container of PTX and cubins), not PTX: the driver gives PTX inside it another "
         "key than the extracted text, so warming that text helps no program that loads this file: leave it "
         "out; this version warms PTX files, NVRTC sources and cuLink inputs",
         5},
        {BYTES("__global__ void k(){}"), "not-ptx", 0,
         "this is source text (CUDA C++), not PTX: if the program compiles it with NVRTC, name it with "
         "`source:`; else name the PTX that the program loads",
         21},
        {BYTES("/* " HEAD), "not-ptx", 0,
         "this is text without a PTX header, not PTX: PTX starts with .version: check that this is the file "
         "you "
         "mean",
         sizeof("/* " HEAD) - 1},
        {BYTES(HEAD BODY "/* \x01 \x7f */ \x1a"), "ok", 0, NULL,
         sizeof(HEAD BODY "/* \x01 \x7f */ \x1a") - 1},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct reading reading;
        read_bytes(rows[i].text, rows[i].size, &reading);
        check_finding(&reading, rows[i].text, rows[i].code, rows[i].line, rows[i].message);
        assert_int_equal(reading.ptx.text_size, rows[i].text_size);
        pj_arena_free(&reading.arena);
    }
}

/* A byte ≥ 0x80 is found wherever it stands among the blocks that the scan works in. */
static void test_non_ascii_everywhere(void **state)
{
    (void)state;
    enum { LENGTH = 200 };
    char text[LENGTH];
    for (size_t at = sizeof HEAD - 1; at < LENGTH; at++) {
        memset(text, '\n', sizeof text);
        memcpy(text, HEAD, sizeof HEAD - 1);
        text[at] = '\x80';
        struct reading reading;
        read_bytes(text, sizeof text, &reading);
        assert_int_equal(reading.finding.code, PJ_PTX_NON_ASCII);
        assert_int_equal(reading.finding.line, 4 + at - (sizeof HEAD - 1));
        pj_arena_free(&reading.arena);
    }
}

static void test_null_of_no_bytes(void **state)
{
    (void)state;
    struct pj_arena arena = {0};
    struct pj_ptx ptx;
    struct pj_ptx_finding finding;
    assert_int_equal(pj_ptx_read(NULL, 0, &arena, &ptx, &finding, NULL), 0);
    assert_int_equal(finding.code, PJ_PTX_NOT_PTX);
    pj_arena_free(&arena);
}

static void test_check_target(void **state)
{
    (void)state;
    static const struct {
        struct pj_isa version;
        struct pj_arch target;
        uint16_t device;
        struct pj_isa driver;
        const char *code, *message;
    } rows[] = {
        {{9, 0}, {90, 0}, 90, {9, 0}, "ok", NULL},
        {{9, 0}, {90, 'a'}, 90, {9, 0}, "ok", NULL},
        {{9, 0}, {75, 0}, 121, {9, 0}, "ok", NULL},
        {{8, 9}, {80, 0}, 90, {8, 10}, "ok", NULL},
        {{99, 9}, {80, 0}, 90, {0, 0}, "ok", NULL},
        {{9, 9},
         {80, 0},
         90,
         {9, 0},
         "newer-than-driver",
         "PTX ISA 9.9 is newer than 9.0, the newest this driver takes: update the driver, or compile the PTX "
         "with "
         "an older toolkit (CUDA 13.0 or before)"},
        {{8, 10}, {80, 0}, 90, {9, 0}, "ok", NULL},
        {{8, 11},
         {80, 0},
         90,
         {9, 0},
         "newer-than-driver",
         "PTX ISA 8.11, which counts as 9.1, is newer than 9.0, the newest this driver takes: update the "
         "driver, or compile the PTX with an older toolkit (CUDA 13.0 or before)"},
        {{8, 8},
         {120, 0},
         90,
         {8, 5},
         "newer-than-driver",
         "PTX ISA 8.8 is newer than 8.5, the newest this driver takes: update the driver, or compile the PTX "
         "with "
         "an older toolkit (CUDA 12.6 or before)"},
        {{9, 0},
         {100, 'a'},
         90,
         {9, 0},
         "newer-than-gpu",
         ".target sm_100a runs on compute capability 10.0 alone, not on sm_90: compile the PTX for sm_90 or "
         "lower without a letter, or leave this target out"},
        {{9, 0},
         {90, 'a'},
         100,
         {9, 0},
         "newer-than-gpu",
         ".target sm_90a runs on compute capability 9.0 alone, not on sm_100: compile the PTX for sm_90 "
         "without the letter, or leave this target out"},
        {{9, 0},
         {100, 'f'},
         120,
         {9, 0},
         "newer-than-gpu",
         ".target sm_100f runs on compute capability 10.0 and 10.3 alone, not on sm_120: "
         "compile the PTX for sm_100 without the letter, or leave this target out"},
        {{9, 0},
         {90, 0},
         80,
         {0, 0},
         "newer-than-gpu",
         ".target sm_90 runs on compute capability 9.0 and above, not on sm_80: compile the PTX for sm_80 or "
         "lower, "
         "or leave this target out"},
        {{9, 5},
         {130, 'f'},
         90,
         {0, 0},
         "newer-than-gpu",
         ".target sm_130f runs on that compute capability and later ones of its family alone, not on sm_90: "
         "compile "
         "the PTX for sm_90 or lower without a letter, or leave this target out"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct reading reading = {.ptx = {.version = rows[i].version, .target = rows[i].target}};
        assert_int_equal(pj_ptx_check_target(&reading.ptx, rows[i].device, rows[i].driver, &reading.arena,
                                             &reading.finding, NULL),
                         0);
        check_finding(&reading, rows[i].code, rows[i].code, 0, rows[i].message);
        pj_arena_free(&reading.arena);
    }
}

static void test_missing_kernel(void **state)
{
    (void)state;
    struct pj_ptx_function functions[] = {
        {.name = "a", .is_defined = true, .is_kernel = true},
        {.name = "b", .is_defined = true, .is_kernel = true},
        {.name = "c", .is_defined = true},
    };
    const struct pj_ptx ptx = {.functions = functions, .function_count = PJ_COUNT(functions)};
    static const char *const wanted[] = {"b", "a", "c"}, *const other = "A";
    assert_int_equal(pj_ptx_missing_kernel(&ptx, wanted, 0), 0);
    assert_int_equal(pj_ptx_missing_kernel(&ptx, wanted, 2), 2);
    assert_int_equal(pj_ptx_missing_kernel(&ptx, wanted, 3), 2); /* a function is no kernel */
    assert_int_equal(pj_ptx_missing_kernel(&ptx, &other, 1), 0);
    const struct pj_ptx none = {0};
    assert_int_equal(pj_ptx_missing_kernel(&none, wanted, 3), 0);
}

static void test_codes(void **state)
{
    (void)state;
    static const struct {
        enum pj_ptx_finding_code code;
        const char *name;
        bool usable;
    } rows[] = {
        {PJ_PTX_OK, "ok", true},
        {PJ_PTX_NOT_PTX, "not-ptx", false},
        {PJ_PTX_INTERIOR_NUL, "interior-nul", false},
        {PJ_PTX_NON_ASCII, "non-ascii", false},
        {PJ_PTX_BAD_HEADER, "bad-header", false},
        {PJ_PTX_HEADER_CONTRADICTS, "header-contradicts", false},
        {PJ_PTX_32_BIT, "32-bit", false},
        {PJ_PTX_NEWER_THAN_DRIVER, "newer-than-driver", false},
        {PJ_PTX_NEWER_THAN_GPU, "newer-than-gpu", false},
        {PJ_PTX_OPTIX_MODULE, "optix-module", false},
        {PJ_PTX_NEEDS_LINKING, "needs-linking", true},
        {PJ_PTX_CANNOT_BE_LOADED, "cannot-be-loaded", false},
        {PJ_PTX_NO_KERNELS, "no-kernels", true},
        {PJ_PTX_KERNEL_MISSING, "kernel-missing", false},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        assert_string_equal(pj_ptx_finding_name(rows[i].code), rows[i].name);
        assert_int_equal(pj_ptx_usable(rows[i].code), rows[i].usable);
    }
    assert_string_equal(pj_ptx_finding_name((enum pj_ptx_finding_code)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_non_ascii_everywhere),
        cmocka_unit_test(test_null_of_no_bytes),
        cmocka_unit_test(test_check_target),
        cmocka_unit_test(test_missing_kernel),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
