/* SPDX-License-Identifier: Apache-2.0 */
/* The manifests that come with prejit load, and what they name is there. */
#include "folder.h"

#include <glob.h>

static void every_manifest_loads(void **state)
{
    (void)state;
    const char *tree = getenv("PREJIT_SOURCE_DIR");
    if (!tree)
        fail_msg("PREJIT_SOURCE_DIR is not set: run this through ctest");
    PJ_CLEANUP_FREE char *pattern = pj_path_join(tree, "manifests/*.yaml");
    glob_t found = {0};
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 3);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
        if (pj_manifest_load(found.gl_pathv[i], &manifest, &err) < 0)
            fail_msg("%s", pj_error_message(err));
        for (size_t k = 0; k < manifest->module_count; k++) {
            struct stat status;
            if (stat(manifest->modules[k].path, &status) != 0)
                fail_msg("%s names %s, which is not there", manifest->name, manifest->modules[k].path);
            assert_true(S_ISREG(status.st_mode));
        }
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_manifest_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
