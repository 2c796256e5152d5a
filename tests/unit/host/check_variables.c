/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of variables: odd values, what the driver makes of them, misspelt names. */
#include "programs.h"

static void expect(const char *pair, const char *findings, const char *cure)
{
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    program_make(&program, (const char *const[]){"HOME=/home/app", pair, NULL});
    expect_success(pj_check_variables(&program, &list, &err), &err);
    expect_findings(&list, findings);
    if (cure)
        assert_string_equal(list.items[0].cure, cure);
}

static void test_disable(void **state)
{
    (void)state;
    expect(
        "CUDA_CACHE_DISABLE=1",
        "cache-disabled CUDA_CACHE_DISABLE: it is \"1\", so the driver neither reads nor writes any cache\n",
        "unset CUDA_CACHE_DISABLE, here and for the program");
    expect("CUDA_CACHE_DISABLE= 01x",
           "cache-disabled CUDA_CACHE_DISABLE: it is \" 01x\", so the driver neither reads nor writes any "
           "cache\n",
           NULL);
    expect("CUDA_CACHE_DISABLE=true",
           "cache-disable-odd CUDA_CACHE_DISABLE: it is \"true\", which the driver does not take for 1: the "
           "cache stays on\n",
           NULL);
    expect("CUDA_CACHE_DISABLE=0", "", NULL);
    expect("CUDA_CACHE_DISABLE=", "", NULL);
}

static void test_path(void **state)
{
    (void)state;
    expect("CUDA_CACHE_PATH=/var/nv", "", NULL);
    expect("CUDA_CACHE_PATH=/var/a$b~",
           "cache-path-literal CUDA_CACHE_PATH: it is \"/var/a$b~\", which nobody "
           "expands: the driver makes a directory of that name\n",
           "write the path out: CUDA_CACHE_PATH=/var/cache/nv");
    expect("CUDA_CACHE_PATH=/var/a$1", "", NULL);
    expect("CUDA_CACHE_PATH=",
           "cache-path-empty CUDA_CACHE_PATH: it is set but empty, so the driver keeps no "
           "cache at all\n",
           "set CUDA_CACHE_PATH to a directory, or unset it");
    expect("CUDA_CACHE_PATH=nv", "cache-path-relative CUDA_CACHE_PATH: it is \"nv\", which starts at /srv\n",
           "set CUDA_CACHE_PATH=/srv/nv");
    expect("CUDA_CACHE_PATH=~/nv",
           "cache-path-literal CUDA_CACHE_PATH: it is \"~/nv\", which nobody expands: the driver makes a "
           "directory of that name in /srv\n",
           "write the path out: CUDA_CACHE_PATH=/home/app/nv");
    expect(
        "CUDA_CACHE_PATH=${HOME}/nv",
        "cache-path-literal CUDA_CACHE_PATH: it is \"${HOME}/nv\", which nobody expands: the driver makes a "
        "directory of that name in /srv\n",
        "write the path out: CUDA_CACHE_PATH=/home/app/nv");
    expect(
        "CUDA_CACHE_PATH='/var/nv'",
        "cache-path-literal CUDA_CACHE_PATH: it is \"'/var/nv'\", which nobody expands: the driver makes a "
        "directory of that name in /srv\n",
        "write the path out: CUDA_CACHE_PATH=/var/nv");
}

static void test_size(void **state)
{
    (void)state;
    static const struct {
        const char *value, *read, *meant;
    } nothing[] = {
        {"2G", "2 bytes", "2147483648"},    {"512 mb", "512 bytes", "536870912"},
        {"1GiB", "1 byte", "1073741824"},   {"0x40000000", "0 bytes", "1073741824"},
        {"word", "0 bytes", "1073741824"},  {"", "0 bytes", "1073741824"},
        {"1e9", "1 byte", "1073741824"},    {"0", "0 bytes", "1073741824"},
        {"-0", "0 bytes", "1073741824"},    {"255", "255 bytes", "1073741824"},
        {"100M", "100 bytes", "104857600"},
    };
    for (size_t i = 0; i < PJ_COUNT(nothing); i++) {
        char pair[64], found[160], cure[96];
        (void)snprintf(pair, sizeof pair, "CUDA_CACHE_MAXSIZE=%s", nothing[i].value);
        (void)snprintf(
            found, sizeof found,
            "cache-size-nothing CUDA_CACHE_MAXSIZE: it is \"%s\", which the driver reads as %s, so "
            "nothing fits\n",
            nothing[i].value, nothing[i].read);
        (void)snprintf(cure, sizeof cure, "set CUDA_CACHE_MAXSIZE=%s, or unset it", nothing[i].meant);
        expect(pair, found, cure);
    }
    expect("CUDA_CACHE_MAXSIZE=8000000000", "", NULL);
    expect("CUDA_CACHE_MAXSIZE=-1",
           "cache-size-odd CUDA_CACHE_MAXSIZE: it is \"-1\", which the driver reads as no limit\n",
           "set CUDA_CACHE_MAXSIZE=4294967296");
    expect("CUDA_CACHE_MAXSIZE=99999999999999999999",
           "cache-size-odd CUDA_CACHE_MAXSIZE: it is \"99999999999999999999\", which the driver reads as no "
           "limit\n",
           NULL);
    expect(
        "CUDA_CACHE_MAXSIZE=5000000.5",
        "cache-size-odd CUDA_CACHE_MAXSIZE: it is \"5000000.5\", which the driver reads as 5000000 bytes\n",
        "set CUDA_CACHE_MAXSIZE=5000000");
}

static void test_home(void **state)
{
    (void)state;
    expect("HOME=",
           "home-unset HOME: HOME is empty and CUDA_CACHE_PATH is not set, so the driver keeps no "
           "cache at all\n",
           NULL);
    expect("HOME=/",
           "home-is-root HOME: HOME is / and CUDA_CACHE_PATH is not set, so the cache is "
           "/.nv/ComputeCache\n",
           NULL);
    PJ_CLEANUP_PROGRAM struct pj_program program;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    program_make(&program, (const char *const[]){"A=b", NULL});
    assert_int_equal(pj_check_variables(&program, &list, NULL), 0);
    expect_findings(&list, "home-unset HOME: HOME is not set and CUDA_CACHE_PATH is not set, so the driver "
                           "keeps no cache at all\n");
}

static void test_names(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"CUDA_CACHE_MAX_SIZE", "CUDA_CACHE_MAXSIZE"},   {"CUDA_CACHE_DIR", "CUDA_CACHE_PATH"},
        {"CUDA_CACHE_DISABLED", "CUDA_CACHE_DISABLE"},   {"cuda_cache_path", "CUDA_CACHE_PATH"},
        {"CUDA_CACHEPATH", "CUDA_CACHE_PATH"},           {"CUDA_CACHE_SIZE", "CUDA_CACHE_MAXSIZE"},
        {"CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"}, {"CUDA_FORCE_PTXJIT", "CUDA_FORCE_PTX_JIT"},
    };
    for (size_t i = 0; i < PJ_COUNT(wrong); i++) {
        char pair[64], found[160];
        (void)snprintf(pair, sizeof pair, "%s=1", wrong[i][0]);
        (void)snprintf(found, sizeof found,
                       "variable-misspelt %s: the driver knows no such variable; it knows %s\n", wrong[i][0],
                       wrong[i][1]);
        expect(pair, found, NULL);
    }
    expect("CUDA_HOME=/usr/local/cuda", "", NULL);
    expect("CUDA_PATH=/usr/local/cuda", "", NULL);
    expect("CUDA_LAUNCH_BLOCKING=1", "", NULL);
    expect("NVIDIA_REQUIRE_CUDA=cuda>=12", "", NULL);
    expect("MY_CUDA_CACHE_PAT=1", "", NULL);
}

static void test_others(void **state)
{
    (void)state;
    expect("CUDA_FORCE_PTX_JIT=1",
           "jit-forced CUDA_FORCE_PTX_JIT: it is \"1\", so every load is compiled again, "
           "whatever the cache holds\n",
           "unset CUDA_FORCE_PTX_JIT for the program");
    expect("CUDA_FORCE_JIT=0", "", NULL);
    expect("CUDA_DISABLE_JIT=1",
           "jit-disabled CUDA_DISABLE_JIT: it is \"1\", so a load that is not in the cache fails\n", NULL);
    expect("CUDA_MODULE_LOADING=EAGER",
           "loading-eager CUDA_MODULE_LOADING: it is EAGER: all is loaded before the first call returns\n",
           NULL);
    expect("CUDA_MODULE_DATA_LOADING=lazy", "loading-odd CUDA_MODULE_DATA_LOADING: it is \"lazy\"\n", NULL);
    expect("CUDA_MODULE_LOADING=LAZY", "", NULL);
    expect("CUDA_VISIBLE_DEVICES=",
           "no-device-visible CUDA_VISIBLE_DEVICES: it is \"\", which names no GPU\n", NULL);
    expect("CUDA_VISIBLE_DEVICES=-1",
           "no-device-visible CUDA_VISIBLE_DEVICES: it is \"-1\", whose first word names no GPU\n", NULL);
    expect("CUDA_VISIBLE_DEVICES=0,1", "", NULL);
    expect("CUDA_VISIBLE_DEVICES=GPU-12ab", "", NULL);
    expect("NVIDIA_VISIBLE_DEVICES=void", "container-devices NVIDIA_VISIBLE_DEVICES: it is \"void\"\n", NULL);
    expect("NVIDIA_VISIBLE_DEVICES=all", "", NULL);
    expect("NVIDIA_DRIVER_CAPABILITIES=utility,graphics",
           "container-capabilities NVIDIA_DRIVER_CAPABILITIES: it is \"utility,graphics\", without compute\n",
           NULL);
    expect("NVIDIA_DRIVER_CAPABILITIES=utility,compute", "", NULL);
    expect("NVIDIA_DRIVER_CAPABILITIES=all", "", NULL);
    expect("CUDA_INJECTION64_PATH=/x", "", NULL); /* of another program: its workers are not prejit's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disable), cmocka_unit_test(test_path),  cmocka_unit_test(test_size),
        cmocka_unit_test(test_home),    cmocka_unit_test(test_names), cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
