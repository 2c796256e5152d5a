/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles by path and by version. This program's built-in profiles are those of tests/data/profile. */
#include <errno.h>

#include "../support/folder.h"
#include "support.h"

static void built_in_ones_are_found(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    const char *const *versions = pj_profile_built_in();
    assert_string_equal(versions[0], "580.159.04");
    assert_null(versions[1]);
    struct pj_profile profile;
    assert_int_equal(pj_profile_load("580.159.04", &arena, &profile, NULL), 0);
    assert_string_equal(profile.name, "built-in profile 580.159.04");
    assert_string_equal(profile.driver_version, "580.159.04");
}

static void files_are_read(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "580.159.04", WHOLE);
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "580.159.04");
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile;
    assert_int_equal(pj_profile_load(path, &arena, &profile, NULL), 0);
    assert_string_equal(profile.name, path);
    assert_string_equal(profile.gpu, "NVIDIA H200");
}

static void expect(const char *given, int code, int errnum, const char *message)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile = {.name = "untouched"};
    assert_int_equal(pj_profile_load(given, &arena, &profile, &err), code);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(err->code, code);
    assert_int_equal(err->errnum, errnum);
    assert_string_equal(profile.name, "untouched");
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    expect("580.159.05", PJ_ERROR_USAGE, 0,
           "no profile of driver 580.159.05 is built in: make one with `prejit profile -o FILE` on a machine "
           "with that "
           "driver, and give the file; built in are: 580.159.04");
    expect("580.159.04.yaml", PJ_ERROR_MANIFEST, ENOENT,
           "cannot read the profile: cannot open 580.159.04.yaml: No such file or directory: give the path "
           "of a profile, "
           "or a driver's version; built in are: 580.159.04");
    expect(
        "", PJ_ERROR_MANIFEST, ENOENT,
        "cannot read the profile: cannot open : No such file or directory: give the path of a profile, or a "
        "driver's version; built in are: 580.159.04");
    expect("/", PJ_ERROR_MANIFEST, EINVAL,
           "cannot read the profile: / is a directory, not a regular file: give the file itself");
}

static void files_have_a_limit(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "big", "");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "big");
    char message[600];
    assert_int_equal(truncate(path, PJ_PROFILE_MAX_BYTES + 1), 0);
    (void)snprintf(message, sizeof message,
                   "cannot read the profile: %s has 1000001 bytes, more than the 1000000 allowed", path);
    expect(path, PJ_ERROR_MANIFEST, EFBIG, message);
}

static void faults_name_the_file(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "p.yaml", "version: 2\n");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "p.yaml");
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile;
    assert_int_equal(pj_profile_load(path, &arena, &profile, &err), PJ_ERROR_MANIFEST);
    assert_true(strncmp(pj_error_message(err), path, strlen(path)) == 0);
    assert_true(strncmp(pj_error_message(err) + strlen(path), ":1:10: `version`: read `2`; ", 28) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_ones_are_found),   cmocka_unit_test(files_are_read),
        cmocka_unit_test(what_is_not_there_is_said), cmocka_unit_test(files_have_a_limit),
        cmocka_unit_test(faults_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
