/* SPDX-License-Identifier: Apache-2.0 */
/* The table of findings, and the list. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(the_list_orders_by_severity),
        cmocka_unit_test(cures_are_shell_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
