/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a driver: the whole table, or an error that says what is missing. */
#include "unit.h"

#include "cuda/driver.h"

static void test_open(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_cuda cuda;
    int version = 0;
    expect_success(pj_cuda_open(FAKE_DRIVER, &cuda, &err), &err);
#define PRESENT(name) assert_non_null((void *)(uintptr_t)cuda.name##_);
    PJ_CUDA_REQUIRED(PRESENT)
    PJ_CUDA_OPTIONAL(PRESENT)
    assert_int_equal(cuda.cuInit_(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDriverGetVersion_(&version), CUDA_SUCCESS);
    assert_int_equal(version, 13000);
}

/* A driver from before CUDA 12: what it lacks is NULL, and that is no error. */
static void test_optional(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_cuda cuda;
    memset(&cuda, 0x55, sizeof cuda);
    expect_success(pj_cuda_open(OLD_DRIVER, &cuda, &err), &err);
    assert_null((void *)(uintptr_t)cuda.cuLibraryLoadData_);
    assert_null((void *)(uintptr_t)cuda.cuLibraryUnload_);
    assert_non_null((void *)(uintptr_t)cuda.cuModuleLoadDataEx_);
}

static void test_not_opened(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    struct pj_cuda cuda, before;
    memset(&cuda, 0x55, sizeof cuda);
    before = cuda;
    expect_error(pj_cuda_open("/nonexistent/libcuda.so.1", &cuda, &err), &err, PJ_ERROR_ENVIRONMENT,
                 "cannot open the CUDA driver: /nonexistent/libcuda.so.1: cannot open shared object file: No "
                 "such file or directory");
    expect_error(pj_cuda_open(HALF_DRIVER, &cuda, &err), &err, PJ_ERROR_ENVIRONMENT,
                 HALF_DRIVER " has no function cuDeviceGetCount: it is no CUDA driver, or one from before "
                             "CUDA 11");
    assert_memory_equal(&cuda, &before, sizeof cuda);
}

static void test_result_names(void **state)
{
    (void)state;
    struct pj_cuda cuda;
    assert_int_equal(pj_cuda_open(FAKE_DRIVER, &cuda, NULL), 0);
    assert_string_equal(pj_cuda_result_name(&cuda, CUDA_SUCCESS), "CUDA_SUCCESS");
    assert_string_equal(pj_cuda_result_name(&cuda, CUDA_ERROR_INVALID_PTX), "CUDA_ERROR_INVALID_PTX");
    assert_string_equal(pj_cuda_result_name(&cuda, (CUresult)4711), "CUresult 4711");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_optional),
        cmocka_unit_test(test_not_opened),
        cmocka_unit_test(test_result_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
