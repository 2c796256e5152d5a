/* SPDX-License-Identifier: Apache-2.0 */
/* The committed pages are those that the program's tables make. With PREJIT_UPDATE=1 in the environment they
 * are written anew instead of compared. */
#include "documents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/file.h"
#include "manifest/manifest.h"

/* The source tree, from the environment: no path of the build lies in the program. */
static const char *source_tree(void)
{
    const char *tree = getenv("PREJIT_SOURCE_DIR");
    if (!tree)
        fail_msg("PREJIT_SOURCE_DIR is not set: run this through ctest");
    return tree;
}

static void compare_with(const char *name, void (*make)(struct pj_buffer *buffer))
{
    PJ_CLEANUP_BUFFER struct pj_buffer made = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer committed = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(source_tree(), name);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const char *update = getenv("PREJIT_UPDATE");
    make(&made);
    assert_int_equal(pj_buffer_check(&made, NULL), 0);
    if (update && strcmp(update, "1") == 0 &&
        pj_file_replace(AT_FDCWD, path, made.data, made.size, 0644, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    if (pj_file_read(AT_FDCWD, path, 1 << 20, &committed, &err) < 0)
        fail_msg("%s (PREJIT_UPDATE=1 writes it)", pj_error_message(err));
    if (strcmp(pj_buffer_text(&committed), pj_buffer_text(&made)) != 0)
        fail_msg("%s is not what the program's tables make: run this test with PREJIT_UPDATE=1", name);
}

static void the_manifest_page_is_up_to_date(void **state)
{
    (void)state;
    compare_with("docs/manifest.md", document_manifest);
}

static void the_manifest_schema_is_up_to_date(void **state)
{
    (void)state;
    compare_with("docs/manifest.schema.json", document_manifest_schema);
}

static void the_troubleshooting_page_is_up_to_date(void **state)
{
    (void)state;
    compare_with("docs/troubleshooting.md", document_troubleshooting);
}

static void the_example_of_the_manifest_page_parses(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer page = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const char *example = document_manifest_example();
    document_manifest(&page);
    assert_non_null(strstr(pj_buffer_text(&page), example));
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
    if (pj_manifest_parse(example, strlen(example), "example", ".", false, &manifest, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    assert_int_equal(manifest->module_count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest_page_is_up_to_date),
        cmocka_unit_test(the_manifest_schema_is_up_to_date),
        cmocka_unit_test(the_troubleshooting_page_is_up_to_date),
        cmocka_unit_test(the_example_of_the_manifest_page_parses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
