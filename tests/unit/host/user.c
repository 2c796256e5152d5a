/* SPDX-License-Identifier: Apache-2.0 */
/* Users by name and number, and whose a path is. Becoming one is tested with the whole program. */
#include "folder.h"

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

/* Is it another user's? Where it is, *ret_owned is the path that decides; free(). */
static bool owns(const struct folder *folder, const char *name, char **ret_owned)
{
    struct pj_host_owner owner = {.uid = 7};
    struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    expect_success(pj_host_owner_find(path, &owner, &err), &err);
    assert_true(!owner.foreign || owner.uid == 54321);
    assert_non_null(owner.path);
    *ret_owned = owner.path;
    return owner.foreign;
}

static void test_whose_path(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    if (geteuid() != 0)
        skip(); /* folders of other users can be made by root alone */
    folder_write(&folder, "theirs/file", "");
    folder_write(&folder, "roots/file", "");
    PJ_CLEANUP_FREE char *theirs = pj_path_join(folder.path, "theirs");
    assert_int_equal(chown(theirs, 54321, 54322), 0);
    static const struct {
        const char *name;
        bool foreign;
    } cases[] = {
        {"theirs", true},           {"theirs/nv", true}, {"theirs/a/b/c", true}, {"theirs/file", false},
        {"theirs/file/x/y", false}, {"roots", false},    {"roots/a/b", false},   {"none", false},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_FREE char *owned = NULL;
        bool foreign = owns(&folder, cases[i].name, &owned);
        assert_int_equal(foreign, cases[i].foreign);
        if (foreign)
            assert_string_equal(owned, theirs);
    }
    PJ_CLEANUP_FREE char *below = NULL;
    PJ_CLEANUP_FREE char *itself = NULL;
    assert_int_equal(chmod(theirs, 01777), 0); /* everybody may make files there, but the folder is theirs */
    assert_false(owns(&folder, "theirs/nv", &below));
    assert_true(owns(&folder, "theirs", &itself));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_passwd_entries), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_name_of), cmocka_unit_test(test_whose_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
