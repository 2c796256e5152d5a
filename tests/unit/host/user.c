/* SPDX-License-Identifier: Apache-2.0 */
/* Users by name and number. Becoming one is tested with the whole program. */
#include <string.h>

#include "unit.h"

#include "base/memory.h"
#include "host/user.h"

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uid_t uid;
        gid_t gid;
    } cases[] = {
        {"54321", 54321, 54321},
        {"54321:7", 54321, 7},
        {"54321:0", 54321, 0},
        {"4294967294:4294967294", UINT32_MAX - 1, UINT32_MAX - 1},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_HOST_USER struct pj_host_user user = {.name = NULL};
        struct pj_error *err = NULL;
        char buffer[PJ_HOST_USER_TEXT];
        expect_success(pj_host_user_parse(cases[i].text, &user, &err), &err);
        assert_int_equal(user.uid, cases[i].uid);
        assert_int_equal(user.gid, cases[i].gid);
        assert_null(user.name);
        assert_string_equal(user.home, "/");
        assert_int_equal(strncmp(cases[i].text, pj_host_user_text(&user, buffer), strlen(buffer)), 0);
    }
}

static void test_passwd_entries(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gid_t gid;
    } cases[] = {{"root", 0}, {"0", 0}, {"0:7", 7}};
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_HOST_USER struct pj_host_user user = {.name = NULL};
        struct pj_error *err = NULL;
        char buffer[PJ_HOST_USER_TEXT];
        expect_success(pj_host_user_parse(cases[i].text, &user, &err), &err);
        assert_int_equal(user.uid, 0);
        assert_int_equal(user.gid, cases[i].gid);
        assert_string_equal(user.home, "/root");
        assert_string_equal(pj_host_user_text(&user, buffer), "root");
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "--user : it is UID, UID:GID or a user's name"},
        {":", "--user :: it is UID, UID:GID or a user's name"},
        {"5:", "--user 5:: it is UID, UID:GID or a user's name"},
        {"4294967295", "--user 4294967295: it is UID, UID:GID or a user's name"},
        {"5:4294967295", "--user 5:4294967295: it is UID, UID:GID or a user's name"},
        {"00000000000000000001", "--user 00000000000000000001: it is UID, UID:GID or a user's name"},
        {"-1", "--user -1: there is no user of this name in the passwd database; give UID or UID:GID"},
        {"no-such\n",
         "--user no-such\\x0a: there is no user of this name in the passwd database; give UID or "
         "UID:GID"},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_host_user user = {.uid = 77};
        struct pj_error *err = NULL;
        assert_int_equal(pj_host_user_parse(cases[i].text, &user, &err), PJ_ERROR_USAGE);
        assert_string_equal(pj_error_message(err), cases[i].message);
        assert_int_equal(user.uid, 77);
        pj_error_free(err);
    }
}

static void test_name_of(void **state)
{
    (void)state;
    PJ_CLEANUP_FREE char *root = pj_host_user_name_of(0);
    PJ_CLEANUP_FREE char *nobody = pj_host_user_name_of(54321);
    assert_string_equal(root, "root");
    assert_string_equal(nobody, "54321");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_passwd_entries),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_name_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
