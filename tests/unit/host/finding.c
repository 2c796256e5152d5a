/* SPDX-License-Identifier: Apache-2.0 */
/* The table of findings, the list, and the page that is made from the table. With PREJIT_UPDATE=1 in the
 * environment docs/troubleshooting.md is written anew instead of compared. */
#include "folder.h"

#include "host/finding.h"

static void every_row_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < PJ_FINDING_COUNT; i++) {
        const struct pj_finding_info *info = pj_finding_info((enum pj_finding_code)i);
        assert_non_null(info->code);
        assert_true(strspn(info->code, "abcdefghijklmnopqrstuvwxyz-") == strlen(info->code));
        assert_non_null(info->title);
        assert_non_null(info->explanation);
        assert_int_equal(info->cure == NULL, i == PJ_FINDING_OTHER_CACHE);
        char end = info->explanation[strlen(info->explanation) - 1];
        assert_true(end == '.');
        assert_true(info->title[strlen(info->title) - 1] != '.');
        /* What stops something is an error. */
        assert_true(info->effects == 0 || info->severity == PJ_SEVERITY_ERROR);
        for (int other = 0; other < i; other++)
            assert_string_not_equal(info->code, pj_finding_info((enum pj_finding_code)other)->code);
        if (!info->cure) {
            assert_int_equal(info->severity, PJ_SEVERITY_NOTE);
            continue;
        }
        assert_true(info->cure[strlen(info->cure) - 1] != '.');
        assert_true((strstr(info->cure, "{value}") != NULL) == (info->value_word != NULL));
        assert_true((strstr(info->cure, "{subject}") != NULL) == (info->subject_word != NULL));
    }
}

static void the_list_orders_by_severity(void **state)
{
    (void)state;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_finding_add(&list, PJ_FINDING_CACHE_NOT_THERE, "/a", NULL, &err, "x"), &err);
    expect_success(pj_finding_add(&list, PJ_FINDING_JIT_FORCED, "A", NULL, &err, "it is \"%d\"", 1), &err);
    expect_success(pj_finding_add(&list, PJ_FINDING_LOADING_ODD, "B", NULL, &err, "x"), &err);
    expect_success(pj_finding_add(&list, PJ_FINDING_CACHE_DISABLED, "C", NULL, &err, "x"), &err);
    expect_success(pj_finding_add(&list, PJ_FINDING_CACHE_DISABLED, "C", NULL, &err, "again"), &err);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.items[0].code, PJ_FINDING_JIT_FORCED);
    assert_string_equal(list.items[0].found, "it is \"1\"");
    assert_string_equal(list.items[0].cure, "unset A for the program");
    assert_int_equal(list.items[1].code, PJ_FINDING_CACHE_DISABLED);
    assert_string_equal(list.items[1].found, "x");
    assert_int_equal(list.items[2].code, PJ_FINDING_LOADING_ODD);
    assert_int_equal(list.items[3].code, PJ_FINDING_CACHE_NOT_THERE);
    assert_int_equal(pj_finding_number(&list, PJ_SEVERITY_ERROR), 2);
    assert_int_equal(pj_finding_number(&list, PJ_SEVERITY_WARNING), 1);
    assert_int_equal(pj_finding_number(&list, PJ_SEVERITY_NOTE), 1);
    assert_ptr_equal(pj_finding_with(&list, PJ_STOPS_WARM), &list.items[1]);
    assert_ptr_equal(pj_finding_with(&list, PJ_STOPS_READING), &list.items[0]);
}

static void cures_are_shell_words(void **state)
{
    (void)state;
    PJ_CLEANUP_FINDING_LIST struct pj_finding_list list = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_null(pj_finding_with(&list, PJ_STOPS_READING | PJ_STOPS_WARM));
    expect_success(pj_finding_add(&list, PJ_FINDING_INDEX_NOT_CREATABLE, "/a b/it's", "app", &err, "x"),
                   &err);
    assert_string_equal(list.items[0].cure, "give it to that user, as root: chown -R app '/a b/it'\\''s'");
    expect_success(pj_finding_add(&list, PJ_FINDING_CACHE_ELSEWHERE, "P", "", &err, "x"), &err);
    assert_string_equal(list.items[1].cure, "set CUDA_CACHE_PATH='' for the program");
    expect_success(pj_finding_add(&list, PJ_FINDING_INDEX_NOT_WRITABLE, "/a b/index", "app", &err, "x"),
                   &err);
    assert_string_equal(
        list.items[2].cure,
        "give it to that user, as root: chown -R app '/a b' && chmod -R u+rwX '/a b'; or let every "
        "user read it: chmod -R a+rX '/a b' && chmod a+rw '/a b'/index");
}

/* The source tree, from the environment: no path of the build lies in the program. */
static const char *source_tree(void)
{
    const char *tree = getenv("PREJIT_SOURCE_DIR");
    if (!tree)
        fail_msg("PREJIT_SOURCE_DIR is not set: run this through ctest");
    return tree;
}

static void the_page_is_up_to_date(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer page = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer committed = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(source_tree(), "docs/troubleshooting.md");
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const char *update = getenv("PREJIT_UPDATE");
    assert_int_equal(pj_finding_page(&page, NULL), 0);
    if (update && strcmp(update, "1") == 0 &&
        pj_file_replace(AT_FDCWD, path, page.data, page.size, 0644, &err) < 0)
        fail_msg("%s", pj_error_message(err));
    if (pj_file_read(AT_FDCWD, path, 1 << 20, &committed, &err) < 0)
        fail_msg("%s (PREJIT_UPDATE=1 writes it)", pj_error_message(err));
    if (strcmp(pj_buffer_text(&committed), pj_buffer_text(&page)) != 0)
        fail_msg("%s is not what the table makes: run this test with PREJIT_UPDATE=1", path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(the_list_orders_by_severity),
        cmocka_unit_test(cures_are_shell_words),
        cmocka_unit_test(the_page_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
