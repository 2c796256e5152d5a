/* SPDX-License-Identifier: Apache-2.0 */
/* Which directory and which limit, and what is said where the driver would keep nothing. */
#include "cache/location.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"

static void expect(struct pj_cache_inputs inputs, const char *path, enum pj_cache_source path_source,
                   uint64_t limit, enum pj_cache_source limit_source)
{
    struct pj_cache_location location;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    if (pj_cache_locate(&inputs, &location, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    assert_string_equal(location.path, path);
    assert_int_equal(location.path_source, path_source);
    assert_int_equal(location.limit_bytes, limit);
    assert_int_equal(location.limit_source, limit_source);
    pj_cache_location_free(&location);
    assert_null(location.path);
}

static void refuse(struct pj_cache_inputs inputs, int code, const char *message)
{
    struct pj_cache_location location;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_cache_locate(&inputs, &location, &err), code);
    assert_string_equal(pj_error_message(err), message);
}

static void test_path(void **state)
{
    const uint64_t gib = UINT64_C(1) << 30;
    PJ_CLEANUP_FREE char *here = getcwd(NULL, 0);
    PJ_CLEANUP_FREE char *relative = pj_path_join(here, "rel/nv");
    struct pj_cache_inputs inputs = {.home = "/home/u"};
    (void)state;
    expect(inputs, "/home/u/.nv/ComputeCache", PJ_CACHE_FROM_DEFAULT, gib, PJ_CACHE_FROM_DEFAULT);
    inputs.cuda_cache_path = "rel/nv";
    expect(inputs, relative, PJ_CACHE_FROM_ENVIRONMENT, gib, PJ_CACHE_FROM_DEFAULT);
    inputs.manifest_path = "/m//./nv/";
    expect(inputs, "/m/nv", PJ_CACHE_FROM_MANIFEST, gib, PJ_CACHE_FROM_DEFAULT);
    inputs.option_path = "/o";
    expect(inputs, "/o", PJ_CACHE_FROM_OPTION, gib, PJ_CACHE_FROM_DEFAULT);
    /* what is said more strongly hides an empty setting, as prejit gives its workers the directory */
    inputs.cuda_cache_path = "";
    inputs.home = NULL;
    expect(inputs, "/o", PJ_CACHE_FROM_OPTION, gib, PJ_CACHE_FROM_DEFAULT);
}

static void test_no_path(void **state)
{
    static const char no_home[] = "neither CUDA_CACHE_PATH nor HOME is set, so the driver keeps no cache at "
                                  "all: set CUDA_CACHE_PATH to a directory, here and for the program";
    (void)state;
    refuse((struct pj_cache_inputs){.home = NULL}, PJ_ERROR_ENVIRONMENT, no_home);
    refuse((struct pj_cache_inputs){.home = ""}, PJ_ERROR_ENVIRONMENT, no_home);
    refuse((struct pj_cache_inputs){.home = "/h", .cuda_cache_path = ""}, PJ_ERROR_ENVIRONMENT,
           "CUDA_CACHE_PATH is set but empty, so the driver keeps no cache at all: set it to a directory or "
           "unset it");
    refuse((struct pj_cache_inputs){.home = "/h", .option_path = ""}, PJ_ERROR_USAGE,
           "--cache is empty: name a directory");
    refuse((struct pj_cache_inputs){.home = "/h", .manifest_path = ""}, PJ_ERROR_MANIFEST,
           "cache.path of the manifest is empty: name a directory or leave it out");
}

static void test_literal_path(void **state)
{
    struct pj_cache_inputs inputs = {.home = "/home/u", .cuda_cache_path = "~/nv"};
    PJ_CLEANUP_FREE char *here = getcwd(NULL, 0);
    PJ_CLEANUP_FREE char *relative = pj_path_join(here, "~/nv");
    (void)state;
    refuse(inputs, PJ_ERROR_ENVIRONMENT,
           "CUDA_CACHE_PATH is \"~/nv\", which nobody expands, so the driver makes a directory of that name: "
           "write the path out: CUDA_CACHE_PATH=/home/u/nv");
    inputs.any_path = true;
    expect(inputs, relative, PJ_CACHE_FROM_ENVIRONMENT, PJ_CACHE_DEFAULT_LIMIT_BYTES, PJ_CACHE_FROM_DEFAULT);
    inputs.option_path = "$HOME/nv";
    refuse(inputs, PJ_ERROR_USAGE,
           "--cache is \"$HOME/nv\", which nobody expands: write the path out: --cache /home/u/nv");
    inputs.option_path = "/x/$USER/nv";
    refuse(inputs, PJ_ERROR_USAGE,
           "--cache is \"/x/$USER/nv\", which nobody expands: write the path out: --cache /var/cache/nv");
}

static void test_dots(void **state)
{
    static const struct {
        const char *path, *resolved;
    } cases[] = {
        {"/usr/../nv-is-not-here/x", "/nv-is-not-here/x"},
        {"/usr/..", "/"},
        {"/usr/share/../../tmp/.", "/tmp"},
        {"/..", "/"},
        {"/usr/nv-is-not-here/../x", "/usr/nv-is-not-here/../x"},
        {"/usr/..nv-is-not-here/x..", "/usr/..nv-is-not-here/x.."},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++)
        expect((struct pj_cache_inputs){.cuda_cache_path = cases[i].path, .any_path = true},
               cases[i].resolved, PJ_CACHE_FROM_ENVIRONMENT, PJ_CACHE_DEFAULT_LIMIT_BYTES,
               PJ_CACHE_FROM_DEFAULT);
}

/* Under any of its names, but not what a program has that was started so. */
static void test_root_directory(void **state)
{
    (void)state;
    refuse(
        (struct pj_cache_inputs){.option_path = "/usr/.."}, PJ_ERROR_USAGE,
        "--cache is \"/\", the root directory, which would be strewn with the cache's folders 0 to f and its "
        "index: name a directory for the cache alone: --cache /var/cache/nv");
    refuse((struct pj_cache_inputs){.option_path = "/proc/self/root"}, PJ_ERROR_USAGE,
           "--cache is \"/proc/self/root\", the root directory, which would be strewn with the cache's "
           "folders 0 to "
           "f and its index: name a directory for the cache alone: --cache /var/cache/nv");
    refuse((struct pj_cache_inputs){.manifest_path = "//"}, PJ_ERROR_MANIFEST,
           "cache.path of the manifest is \"/\", the root directory, which would be strewn with the cache's "
           "folders "
           "0 to f and its index: name a directory for the cache alone, like /var/cache/nv");
    refuse((struct pj_cache_inputs){.cuda_cache_path = "/"}, PJ_ERROR_ENVIRONMENT,
           "CUDA_CACHE_PATH is \"/\", the root directory, which would be strewn with the cache's folders 0 "
           "to f and "
           "its index: set it to a directory for the cache alone, here and for the program: "
           "CUDA_CACHE_PATH=/var/cache/nv");
}

static void test_limit(void **state)
{
    static const struct {
        const char *text;
        uint64_t limit;
    } cases[] = {
        {"2147483648", UINT64_C(2147483648)},
        {" 1073741824", UINT64_C(1073741824)},
        {"1073741824 ", UINT64_C(1073741824)},
        {"5000000.5", 5000000},
        {"+5000000", 5000000},
        {"68719476736", UINT64_C(68719476736)},
        {"-1", UINT64_MAX},
        {"18446744073709551616", UINT64_MAX},
        {"256", 256},
    };
    struct pj_cache_inputs inputs = {.home = "/h"};
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        inputs.cuda_cache_maxsize = cases[i].text;
        expect(inputs, "/h/.nv/ComputeCache", PJ_CACHE_FROM_DEFAULT, cases[i].limit,
               PJ_CACHE_FROM_ENVIRONMENT);
    }
    inputs.cuda_cache_maxsize = "0";
    inputs.manifest_max_size_bytes = 4096;
    expect(inputs, "/h/.nv/ComputeCache", PJ_CACHE_FROM_DEFAULT, 4096, PJ_CACHE_FROM_MANIFEST);
}

static void test_bad_limit(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"0", "CUDA_CACHE_MAXSIZE is \"0\", which the driver reads as 0 bytes, so it stores nothing: set "
              "CUDA_CACHE_MAXSIZE=1073741824 or unset it"},
        {"", "CUDA_CACHE_MAXSIZE is \"\", which the driver reads as 0 bytes, so it stores nothing: set "
             "CUDA_CACHE_MAXSIZE=1073741824 or unset it"},
        {"2GiB",
         "CUDA_CACHE_MAXSIZE is \"2GiB\", which the driver reads as 2 bytes, so it stores nothing: set "
         "CUDA_CACHE_MAXSIZE=2147483648 or unset it"},
        {"0x40000000",
         "CUDA_CACHE_MAXSIZE is \"0x40000000\", which the driver reads as 0 bytes, so it stores "
         "nothing: set CUDA_CACHE_MAXSIZE=1073741824 or unset it"},
        {"1e9", "CUDA_CACHE_MAXSIZE is \"1e9\", which the driver reads as 1 byte, so it stores nothing: set "
                "CUDA_CACHE_MAXSIZE=1073741824 or unset it"},
        {"500M",
         "CUDA_CACHE_MAXSIZE is \"500M\", which the driver reads as 500 bytes, so it stores nothing: set "
         "CUDA_CACHE_MAXSIZE=524288000 or unset it"},
        {"255",
         "CUDA_CACHE_MAXSIZE is \"255\", which the driver reads as 255 bytes, so it stores nothing: set "
         "CUDA_CACHE_MAXSIZE=1073741824 or unset it"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++)
        refuse((struct pj_cache_inputs){.home = "/h", .cuda_cache_maxsize = cases[i].text},
               PJ_ERROR_ENVIRONMENT, cases[i].message);
}

static void test_disabled(void **state)
{
    static const char *const enabled[] = {"", "0", "2", "-1", "true", "yes"};
    struct pj_cache_inputs inputs = {.home = "/h"};
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(enabled); i++) {
        inputs.cuda_cache_disable = enabled[i];
        expect(inputs, "/h/.nv/ComputeCache", PJ_CACHE_FROM_DEFAULT, PJ_CACHE_DEFAULT_LIMIT_BYTES,
               PJ_CACHE_FROM_DEFAULT);
    }
    refuse((struct pj_cache_inputs){.home = "/h", .cuda_cache_disable = " 01"}, PJ_ERROR_ENVIRONMENT,
           "CUDA_CACHE_DISABLE is  01, so the driver neither reads nor writes the cache: unset it, here and "
           "for the program");
    refuse(
        (struct pj_cache_inputs){.option_path = "/o", .cuda_cache_disable = "1"}, PJ_ERROR_ENVIRONMENT,
        "CUDA_CACHE_DISABLE is 1, so the driver neither reads nor writes the cache: unset it, here and for "
        "the program");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),           cmocka_unit_test(test_no_path),
        cmocka_unit_test(test_literal_path),   cmocka_unit_test(test_dots),
        cmocka_unit_test(test_root_directory), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_bad_limit),      cmocka_unit_test(test_disabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
