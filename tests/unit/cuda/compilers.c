/* SPDX-License-Identifier: Apache-2.0 */
/* Opening NVRTC and nvJitLink: the whole table, by plain or versioned names, or an error that says what is
 * missing. */
#include "unit.h"

#include "cuda/nvjitlink.h"
#include "cuda/nvrtc.h"

#define NVRTC   TOOLKIT "/libnvrtc.so.13"
#define LINKER  TOOLKIT "/libnvJitLink.so.13"
#define MISSING "/nonexistent/lib.so: cannot open shared object file: No such file or directory"

static void test_nvrtc(void **state)
{
    static const char *const paths[] = {NVRTC, TOOLKIT "/old/libnvrtc.so.11.2"};
    static const int majors[] = {13, 11}, minors[] = {0, 2};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_nvrtc nvrtc;
        int major = 0, minor = 0;
        memset(&nvrtc, 0x55, sizeof nvrtc);
        expect_success(pj_nvrtc_open(paths[i], &nvrtc, &err), &err);
        assert_non_null(nvrtc.handle);
#define PRESENT(name) assert_non_null((void *)(uintptr_t)nvrtc.name##_);
        PJ_NVRTC_REQUIRED(PRESENT)
        assert_int_equal(nvrtc.nvrtcVersion_(&major, &minor), NVRTC_SUCCESS);
        assert_int_equal(major, majors[i]);
        assert_int_equal(minor, minors[i]);
    }
}

/* Before CUDA 12 there was no LTO-IR to be had, and that is no error. */
static void test_nvrtc_optional(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_nvrtc nvrtc;
    memset(&nvrtc, 0x55, sizeof nvrtc);
    expect_success(pj_nvrtc_open(WITHOUT_LTOIR, &nvrtc, &err), &err);
    assert_null((void *)(uintptr_t)nvrtc.nvrtcGetLTOIR_);
    assert_null((void *)(uintptr_t)nvrtc.nvrtcGetLTOIRSize_);
    assert_non_null((void *)(uintptr_t)nvrtc.nvrtcGetPTX_);
}

static void test_nvrtc_not_opened(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    struct pj_nvrtc nvrtc, before;
    memset(&nvrtc, 0x55, sizeof nvrtc);
    before = nvrtc;
    expect_error(pj_nvrtc_open("/nonexistent/lib.so", &nvrtc, &err), &err, PJ_ERROR_ENVIRONMENT,
                 "cannot open NVRTC: " MISSING);
    expect_error(pj_nvrtc_open(TOOLKIT "/broken/libnvrtc.so.13", &nvrtc, &err), &err, PJ_ERROR_ENVIRONMENT,
                 TOOLKIT
                 "/broken/libnvrtc.so.13 (version 13.0) has no function nvrtcGetSupportedArchs, which "
                 "NVRTC has from version 11.2 on: name a whole, newer one with --nvrtc PATH");
    expect_error(pj_nvrtc_open(LINKER, &nvrtc, &err), &err, PJ_ERROR_ENVIRONMENT,
                 LINKER " (a version that it does not tell) has no function nvrtcVersion, which NVRTC has "
                        "from version 11.2 on: name a whole, newer one with --nvrtc PATH");
    assert_memory_equal(&nvrtc, &before, sizeof nvrtc);
}

static void expect_table(const struct pj_nvjitlink *linker)
{
    assert_non_null(linker->handle);
    assert_non_null((void *)(uintptr_t)linker->create);
    assert_non_null((void *)(uintptr_t)linker->destroy);
    assert_non_null((void *)(uintptr_t)linker->add_data);
    assert_non_null((void *)(uintptr_t)linker->complete);
    assert_non_null((void *)(uintptr_t)linker->cubin_size);
    assert_non_null((void *)(uintptr_t)linker->cubin);
    assert_non_null((void *)(uintptr_t)linker->ptx_size);
    assert_non_null((void *)(uintptr_t)linker->ptx);
    assert_non_null((void *)(uintptr_t)linker->error_log_size);
    assert_non_null((void *)(uintptr_t)linker->error_log);
    assert_non_null((void *)(uintptr_t)linker->info_log_size);
    assert_non_null((void *)(uintptr_t)linker->info_log);
}

/* 12.0 to 12.2 have versioned names alone, and do not tell their version. */
static void test_nvjitlink(void **state)
{
    static const char *const paths[] = {LINKER, TOOLKIT "/old/libnvJitLink.so.12", VERSIONED_LINKER};
    static const int versions[] = {13000, 12000, 12020};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_nvjitlink linker;
        memset(&linker, 0, sizeof linker);
        expect_success(pj_nvjitlink_open(paths[i], &linker, &err), &err);
        expect_table(&linker);
        assert_int_equal(linker.version, versions[i]);
    }
}

/* Of two sets of names the newer one is taken, whole. */
static void test_nvjitlink_newest(void **state)
{
    (void)state;
    struct pj_nvjitlink linker;
    nvJitLinkHandle handle = NULL;
    assert_int_equal(pj_nvjitlink_open(VERSIONED_LINKER, &linker, NULL), 0);
    assert_int_equal(linker.create(&handle, 0, NULL), 122); /* its stand-ins answer with their version */
    assert_int_equal(linker.complete(handle), 122);
}

static void test_nvjitlink_not_opened(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    struct pj_nvjitlink linker, before;
    memset(&linker, 0x55, sizeof linker);
    before = linker;
    expect_error(pj_nvjitlink_open("/nonexistent/lib.so", &linker, &err), &err, PJ_ERROR_ENVIRONMENT,
                 "cannot open nvJitLink: " MISSING);
    expect_error(pj_nvjitlink_open(TOOLKIT "/broken/libnvJitLink.so.13", &linker, &err), &err,
                 PJ_ERROR_ENVIRONMENT,
                 TOOLKIT "/broken/libnvJitLink.so.13 (version 13.0) has neither nvJitLinkComplete nor a "
                         "versioned form of it, which nvJitLink has from version 12.0 on: name a whole one "
                         "with --nvjitlink PATH");
    expect_error(pj_nvjitlink_open(NVRTC, &linker, &err), &err, PJ_ERROR_ENVIRONMENT,
                 NVRTC " has neither nvJitLinkCreate nor a versioned form of it, which nvJitLink has from "
                       "version 12.0 on: name a whole one with --nvjitlink PATH");
    assert_memory_equal(&linker, &before, sizeof linker);
}

static void test_result_names(void **state)
{
    (void)state;
    assert_string_equal(pj_nvjitlink_result_name(NVJITLINK_SUCCESS), "NVJITLINK_SUCCESS");
    assert_string_equal(pj_nvjitlink_result_name((nvJitLinkResult)4), "NVJITLINK_ERROR_PTX_COMPILE");
    assert_string_equal(pj_nvjitlink_result_name((nvJitLinkResult)10), "NVJITLINK_ERROR_NULL_INPUT");
    assert_string_equal(pj_nvjitlink_result_name((nvJitLinkResult)18), "NVJITLINK_ERROR_LTO_NOT_ENABLED");
    assert_null(pj_nvjitlink_result_name((nvJitLinkResult)19));
    assert_null(pj_nvjitlink_result_name((nvJitLinkResult)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvrtc),
        cmocka_unit_test(test_nvrtc_optional),
        cmocka_unit_test(test_nvrtc_not_opened),
        cmocka_unit_test(test_nvjitlink),
        cmocka_unit_test(test_nvjitlink_newest),
        cmocka_unit_test(test_nvjitlink_not_opened),
        cmocka_unit_test(test_result_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
