/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a worker: exactly the listed variables. */
#include "unit.h"

#include "job/child.h"

/* The variables in the given order; both lists end with NULL. */
static void expect_environment(char *const *caller, const struct pj_child_environment *wanted,
                               const char *const *expected)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    char **found = pj_child_environment(&arena, caller, wanted);
    assert_non_null(found);
    for (; *expected; expected++, found++) {
        assert_non_null(*found);
        assert_string_equal(*found, *expected);
    }
    assert_null(*found);
}

#define TEXT(literal) ((char *)(uintptr_t)(literal))

static void test_nothing(void **state)
{
    (void)state;
    char *const caller[] = {NULL};
    static const char *const expected[] = {"LANG=C", "CUDA_CACHE_PATH=/c", "CUDA_CACHE_MAXSIZE=7", NULL};
    expect_environment(caller, &(struct pj_child_environment){.cache_path = "/c", .cache_max_bytes = 7},
                       expected);
}

/* A compiler's worker: its results shall come from the compiler, not from a cache of its own [36]. */
static void test_no_cache(void **state)
{
    (void)state;
    char *const caller[] = {TEXT("CUDA_CACHE_PATH=/other"), NULL};
    static const char *const expected[] = {"LANG=C", "CUDA_CACHE_DISABLE=1",
                                           "LD_LIBRARY_PATH=/usr/local/cuda/lib64", NULL};
    expect_environment(caller,
                       &(struct pj_child_environment){.library_path = "/usr/local/cuda/lib64/libnvrtc.so.13"},
                       expected);
}

static void test_everything(void **state)
{
    (void)state;
    char *const caller[] = {
        TEXT("PATH=/bin"),
        TEXT("PATHOLOGY=x"),
        TEXT("HOME=/home/u"),
        TEXT("TMPDIR="),
        TEXT("LANG=de_DE.UTF-8"),
        TEXT("LC_ALL=de_DE.UTF-8"),
        TEXT("LD_LIBRARY_PATH=/a:/b"),
        TEXT("LD_PRELOAD=/evil.so"),
        TEXT("NVIDIA_VISIBLE_DEVICES=all"),
        TEXT("NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        TEXT("XNVIDIA_A=1"),
        TEXT("CUDA_MPS_PIPE_DIRECTORY=/tmp/mps"),
        TEXT("CUDA_DEVICE_ORDER=PCI_BUS_ID"),
        TEXT("CUDA_DEVICE_ORDERS=x"),
        TEXT("CUDA_VISIBLE_DEVICES=0,1"),
        TEXT("CUDA_CACHE_PATH=/other"),
        TEXT("CUDA_CACHE_MAXSIZE=1"),
        TEXT("CUDA_CACHE_DISABLE=1"),
        TEXT("CUDA_FORCE_PTX_JIT=1"),
        TEXT("CUDA_DISABLE_PTX_JIT=0"),
        TEXT("CUDA_MODULE_LOADING=EAGER"),
        TEXT("ASAN_OPTIONS=x"),
        TEXT("PREJIT_ROOT=/r"),
        NULL,
    };
    static const char *const expected[] = {
        "PATH=/bin",
        "HOME=/home/u",
        "NVIDIA_VISIBLE_DEVICES=all",
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps",
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "LANG=C",
        "CUDA_CACHE_PATH=/cache",
        "CUDA_CACHE_MAXSIZE=18446744073709551615",
        "CUDA_DISABLE_PTX_JIT=1",
        "TMPDIR=",
        "CUDA_VISIBLE_DEVICES=GPU-1",
        "LD_LIBRARY_PATH=/opt/driver:/a:/b",
        NULL,
    };
    const struct pj_child_environment wanted = {
        .cache_path = "/cache",
        .cache_max_bytes = UINT64_MAX,
        .disable_jit = true,
        .visible_devices = "GPU-1",
        .library_path = "/opt/driver/libcuda.so.1",
    };
    expect_environment(caller, &wanted, expected);
}

static void test_temporary(void **state)
{
    (void)state;
    char *const caller[] = {TEXT("TMPDIR=/mine"), NULL};
    static const char *const callers[] = {"LANG=C", "CUDA_CACHE_DISABLE=1", "TMPDIR=/mine", NULL};
    static const char *const chosen[] = {"LANG=C", "CUDA_CACHE_DISABLE=1", "TMPDIR=/run", NULL};
    expect_environment(caller, &(struct pj_child_environment){.cache_path = NULL}, callers);
    expect_environment(caller, &(struct pj_child_environment){.temporary = "/run"}, chosen);
}

static void test_visible_devices(void **state)
{
    (void)state;
    char *const caller[] = {TEXT("CUDA_VISIBLE_DEVICES="), NULL};
    /* Set but empty hides every GPU: another thing than not set. */
    static const char *const callers[] = {"LANG=C", "CUDA_CACHE_PATH=/c", "CUDA_CACHE_MAXSIZE=0",
                                          "CUDA_VISIBLE_DEVICES=", NULL};
    static const char *const chosen[] = {"LANG=C", "CUDA_CACHE_PATH=/c", "CUDA_CACHE_MAXSIZE=0",
                                         "CUDA_VISIBLE_DEVICES=GPU-2", NULL};
    expect_environment(caller, &(struct pj_child_environment){.cache_path = "/c"}, callers);
    expect_environment(caller, &(struct pj_child_environment){.cache_path = "/c", .visible_devices = "GPU-2"},
                       chosen);
}

static void test_library_path(void **state)
{
    static const struct {
        const char *caller, *driver, *expected; /* NULL = not set */
    } cases[] = {
        {NULL, NULL, NULL},
        {"/a", NULL, "/a"},
        {"", NULL, ""},
        {NULL, "/opt/libcuda.so", "/opt"},
        {"", "/opt/libcuda.so", "/opt"},
        {"/a:/b", "/opt/x/libcuda.so", "/opt/x:/a:/b"},
        {NULL, "/libcuda.so", "/"},
        {"/a", "libcuda.so.1", "/a"}, /* found by the loader's rule: there is no folder to put first */
        {NULL, "libcuda.so.1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        char *caller[2] = {NULL, NULL};
        if (cases[i].caller)
            caller[0] = pj_arena_printf(&arena, "LD_LIBRARY_PATH=%s", cases[i].caller);
        const char *expected[] = {"LANG=C", "CUDA_CACHE_PATH=/c", "CUDA_CACHE_MAXSIZE=0", NULL, NULL};
        if (cases[i].expected)
            expected[3] = pj_arena_printf(&arena, "LD_LIBRARY_PATH=%s", cases[i].expected);
        expect_environment(
            caller, &(struct pj_child_environment){.cache_path = "/c", .library_path = cases[i].driver},
            expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_no_cache),
        cmocka_unit_test(test_everything),      cmocka_unit_test(test_temporary),
        cmocka_unit_test(test_visible_devices), cmocka_unit_test(test_library_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
