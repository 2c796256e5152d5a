/* SPDX-License-Identifier: Apache-2.0 */
/* The manifests that come with prejit load, and what they name is there. */
#include "folder.h"

#include <glob.h>

static size_t modules_of_kind[PJ_MODULE_BINARY + 1];

static void assert_file(const struct pj_manifest *manifest, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        fail_msg("%s names %s, which is not there", manifest->name, path);
    assert_true(S_ISREG(status.st_mode));
}

static void check_module(const struct pj_manifest *manifest, const struct pj_module *module)
{
    assert_true(module->kind <= PJ_MODULE_BINARY);
    modules_of_kind[module->kind]++;
    if (module->path)
        assert_file(manifest, module->path);
    for (size_t i = 0; i < module->input_count; i++)
        assert_file(manifest, module->inputs[i]);
    for (size_t i = 0; i < module->header_count; i++)
        assert_file(manifest, module->headers[i].path);
}

static void every_manifest_loads(void **state)
{
    (void)state;
    const char *tree = getenv("PREJIT_SOURCE_DIR");
    if (!tree)
        fail_msg("PREJIT_SOURCE_DIR is not set: run this through ctest");
    PJ_CLEANUP_FREE char *pattern = pj_path_join(tree, "manifests/*.yaml");
    glob_t found = {0};
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 7);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
        if (pj_manifest_load(found.gl_pathv[i], &manifest, &err) < 0)
            fail_msg("%s", pj_error_message(err));
        for (size_t k = 0; k < manifest->module_count; k++)
            check_module(manifest, &manifest->modules[k]);
    }
    globfree(&found);
    /* Every kind that works has an example. */
    assert_true(modules_of_kind[PJ_MODULE_PTX] > 0);
    assert_true(modules_of_kind[PJ_MODULE_SOURCE] > 0);
    assert_true(modules_of_kind[PJ_MODULE_LINK] > 0);
    assert_int_equal(modules_of_kind[PJ_MODULE_BINARY], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_manifest_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
