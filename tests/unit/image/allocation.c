/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the readers of link inputs fails once: "out of memory", and nothing leaks. */
#include "data.h"

#include "image/code.h"
#include "image/contents.h"
#include "image/fatbin_key.h"
#include "image/fatbin_write.h"
#include "image/ptx_link.h"
#include "image/usage.h"

#include "failing_memory.h"

static size_t sweep_contents(const char *file, int without_failure)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read(file, &bytes);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_contents contents = {.count = 7};
        failing_memory_start(n);
        int r = pj_contents_read(bytes.data, bytes.size, &arena, &contents, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : without_failure);
        assert_int_equal(contents.count == 7, r < 0);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    return failures;
}

static void test_contents(void **state)
{
    (void)state;
    static const char *const files[] = {"link/letters.fatbin", "link/host_and_rdc.a",
                                        "link/dlto.o",         "../cache/inputs/axpb.ptx",
                                        "link/sm_90.ltoir",    "ptxas_sm_90a.cubin"};
    for (size_t i = 0; i < PJ_COUNT(files); i++)
        assert_true(sweep_contents(files[i], 0) >= 2);
    assert_true(sweep_contents("link/k.cu", PJ_ERROR_FORMAT) >= 1);
}

static void test_usage(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    data_read("usage/nvrtc_sm_80.txt", &text);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_usage usage = {.count = 7};
        failing_memory_start(n);
        int r = pj_usage_read(text.data, text.size, &arena, &usage, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_int_equal(usage.count, failed ? 7 : 5);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures >= 4);
}

/* Reads a text and links it alone. */
static int read_and_link(const char *text, struct pj_error **err)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_ptx ptx = {.call_count = 7};
    struct pj_ptx_finding finding = {.code = PJ_PTX_NO_KERNELS};
    struct pj_ptx_lack lack = {.text = 7};
    int r = pj_ptx_read(text, strlen(text), &arena, &ptx, &finding, err);
    assert_int_equal(ptx.call_count, r < 0 ? 7 : 3);
    if (r < 0)
        return r;
    const struct pj_ptx *const texts[] = {&ptx};
    r = pj_ptx_find_lack(texts, 1, &lack, err);
    assert_int_equal(lack.text, r < 0 ? 7 : 0);
    return r;
}

static void test_ptx(void **state)
{
    (void)state;
    static const char text[] = ".version 6.4\n.target sm_75\n.address_size 64\n.extern .func c;\n.func d;\n"
                               ".func b { call c; }\n.alias d, b;\n.entry k { call d; }\n";
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        failing_memory_start(n);
        int r = read_and_link(text, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 1);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures >= 9);
}

/* Writes a fatbin of one piece of PTX and reads it back. */
static int write_and_read(enum pj_packing packing, struct pj_error **err)
{
    static const char text[] = ".version 6.4\n.target sm_75\n.address_size 64\n";
    const struct pj_fatbin_ptx ptx = {
        .text = text, .size = sizeof text - 1, .arch = 75, .version = {6, 4}, .packing = packing};
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    int r = pj_fatbin_write(&ptx, &bytes, err);
    assert_int_equal(bytes.size > 0, r == 0);
    if (r == 0)
        r = pj_fatbin_start(bytes.data, bytes.size, &fatbin, err);
    if (r == 0)
        r = pj_fatbin_next(&fatbin, &entry, err);
    if (r == 1)
        r = pj_fatbin_key_image(&fatbin, &entry, &image, err);
    assert_int_equal(image.size >= sizeof text, r == 0);
    return r;
}

static void test_fatbin(void **state)
{
    (void)state;
    static const enum pj_packing packings[] = {PJ_PACKING_NONE, PJ_PACKING_LZ4, PJ_PACKING_ZSTD};
    for (size_t i = 0; i < PJ_COUNT(packings); i++) {
        bool failed = true;
        size_t failures = 0;
        for (size_t n = 1; failed; n++, failures += failed) {
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            failing_memory_start(n);
            int r = write_and_read(packings[i], &err);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
            if (failed)
                assert_string_equal(pj_error_message(err), "out of memory");
        }
        assert_true(failures >= 3);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    static const char *const kernel = "axpb";
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read("driver_sm_90.cubin", &bytes);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        size_t missing = 7;
        failing_memory_start(n);
        int r = pj_code_missing_kernel(bytes.data, bytes.size, &kernel, 1, &missing, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_int_equal(missing, failed ? 7 : 1);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_int_equal(failures, 2);
}

static void test_code(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer a = {0}, b = {0};
    data_read("driver_sm_80.cubin", &a);
    data_read("ptxas_sm_80.cubin", &b);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_code_difference difference = {.section_count = 7};
        failing_memory_start(n);
        int r = pj_code_compare(a.data, a.size, b.data, b.size, &difference, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 1);
        assert_int_equal(difference.section_count, failed ? 7 : 1);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_int_equal(failures, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents), cmocka_unit_test(test_usage),   cmocka_unit_test(test_fatbin),
        cmocka_unit_test(test_ptx),      cmocka_unit_test(test_kernels), cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
