/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of a path and `index` as another user meets them, by owner, group and mode; kinds of file systems.
 */
#include "programs.h"

#include <linux/magic.h>

#include "host/user.h"

/* The folder of a test, with a cache in it, and a program of a user who is neither root nor this one. */
struct place {
    struct folder folder;
    struct pj_program program;
    struct pj_finding_list list;
    char cache[600], index[610];
};

static void set_up(struct place *place)
{
    *place = (struct place){.list = {.count = 0}};
    folder_make(&place->folder);
    assert_int_equal(chmod(place->folder.path, 0755), 0);
    program_make(&place->program, (const char *const[]){"HOME=/", NULL});
    place->program.uid = 54321;
    place->program.gid = 54321;
    folder_write(&place->folder, "nv/index", "");
    (void)snprintf(place->cache, sizeof place->cache, "%s/nv", place->folder.path);
    (void)snprintf(place->index, sizeof place->index, "%s/index", place->cache);
}

static void tear_down(struct place *place)
{
    (void)chmod(place->cache, 0755);
    folder_remove(&place->folder);
    pj_program_free(&place->program);
    pj_finding_list_free(&place->list);
}
#define CLEANUP_PLACE __attribute__((cleanup(tear_down)))

static const struct pj_finding *find(const struct place *place, enum pj_finding_code code)
{
    for (size_t i = 0; i < place->list.count; i++) {
        if (place->list.items[i].code == code)
            return &place->list.items[i];
    }
    return NULL;
}

static bool check(struct place *place, const char *path)
{
    bool exists;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    pj_finding_list_free(&place->list);
    expect_success(pj_check_path(&place->program, path, &exists, &place->list, &err), &err);
    if (exists)
        expect_success(pj_check_index(&place->program, path, &place->list, &err), &err);
    return exists;
}

static void expect_found(const struct place *place, enum pj_finding_code code, const char *subject,
                         const char *found)
{
    const struct pj_finding *finding = find(place, code);
    assert_non_null(finding);
    assert_string_equal(finding->subject, subject);
    assert_string_equal(finding->found, found);
}

/* The tests run as root or as somebody else. */
static enum pj_finding_code closed_code(void)
{
    return geteuid() == 0 ? PJ_FINDING_CACHE_CLOSED : PJ_FINDING_CACHE_OF_OTHER_USER;
}

static void test_levels(void **state)
{
    (void)state;
    CLEANUP_PLACE struct place place;
    set_up(&place);
    char text[1400], missing[700];
    PJ_CLEANUP_FREE char *self = pj_host_user_name_of(geteuid());
    assert_non_null(self);
    unsigned long uid = geteuid(), gid = getegid();
    assert_int_equal(chmod(place.cache, 0700), 0);
    assert_true(check(&place, place.cache));
    (void)snprintf(text, sizeof text, "it belongs to user %s (mode 0700), and user app may not pass it",
                   self);
    expect_found(&place, closed_code(), place.cache, text);
    assert_true(pj_finding_with(&place.list, PJ_STOPS_READING) != NULL);

    (void)snprintf(missing, sizeof missing, "%s/a/b", place.cache);
    assert_int_equal(chmod(place.cache, 0755), 0);
    assert_false(check(&place, missing));
    (void)snprintf(text, sizeof text,
                   "%s/a is missing, and user app may not write %s (owner %lu, group %lu, mode 0755)",
                   place.cache, place.cache, uid, gid);
    expect_found(&place, PJ_FINDING_CACHE_NOT_CREATABLE, missing, text);
    place.program.uid = geteuid();
    assert_false(check(&place, missing));
    (void)snprintf(text, sizeof text, "%s/a is missing; user app can make it", place.cache);
    expect_found(&place, PJ_FINDING_CACHE_NOT_THERE, missing, text);
    assert_false(check(&place, place.index));
    expect_found(&place, PJ_FINDING_PATH_NOT_DIRECTORY, place.index, "it is no directory");
}

static void test_open_to_others(void **state)
{
    (void)state;
    CLEANUP_PLACE struct place place;
    set_up(&place);
    char text[200];
    place.program.uid = geteuid();
    place.program.gid = getegid();
    assert_true(check(&place, place.cache));
    assert_null(find(&place, PJ_FINDING_CACHE_OPEN));
    assert_int_equal(chmod(place.cache, 0757), 0);
    assert_true(check(&place, place.cache));
    (void)snprintf(text, sizeof text,
                   "everybody (owner %lu, group %lu, mode 0757) can change what the cache holds",
                   (unsigned long)geteuid(), (unsigned long)getegid());
    expect_found(&place, PJ_FINDING_CACHE_OPEN, place.cache, text);
}

static void test_index(void **state)
{
    (void)state;
    CLEANUP_PLACE struct place place;
    set_up(&place);
    char text[800];
    unsigned long uid = geteuid(), gid = getegid();
    assert_int_equal(chmod(place.index, 0644), 0);
    assert_true(check(&place, place.cache));
    (void)snprintf(text, sizeof text,
                   "owner %lu, group %lu, mode 0644: user app cannot open it for reading and writing, so the "
                   "driver reads nothing from this cache",
                   uid, gid);
    expect_found(&place, PJ_FINDING_INDEX_NOT_WRITABLE, place.index, text);
    assert_int_equal(chmod(place.index, 0666), 0);
    assert_true(check(&place, place.cache));
    assert_null(find(&place, PJ_FINDING_INDEX_NOT_WRITABLE));
    (void)snprintf(text, sizeof text,
                   "owner %lu, group %lu, mode 0755: user app can write its index and nothing else", uid,
                   gid);
    expect_found(&place, PJ_FINDING_CACHE_READ_ONLY, place.cache, text);
    assert_int_equal(unlink(place.index), 0);
    assert_true(check(&place, place.cache));
    (void)snprintf(
        text, sizeof text,
        "%s is missing, and user app may not write its directory (owner %lu, group %lu, mode 0755)",
        place.index, uid, gid);
    expect_found(&place, PJ_FINDING_INDEX_NOT_CREATABLE, place.cache, text);
}

static void test_mode(void **state)
{
    (void)state;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    program_make(&program, (const char *const[]){"HOME=/", NULL});
    struct stat status = {.st_uid = 1, .st_gid = 1, .st_mode = S_IFDIR | 0750};
    assert_false(pj_program_mode_allows(&program, &status, PJ_MAY_PASS));
    status.st_gid = 1000;
    assert_true(pj_program_mode_allows(&program, &status, PJ_MAY_PASS | PJ_MAY_READ));
    assert_false(pj_program_mode_allows(&program, &status, PJ_MAY_WRITE));
    status.st_uid = 1000; /* the owner's bits count, whatever the group's are */
    status.st_mode = S_IFDIR | 0077;
    assert_false(pj_program_mode_allows(&program, &status, PJ_MAY_READ));
    program.uid = 0;
    assert_true(pj_program_mode_allows(&program, &status, PJ_MAY_READ | PJ_MAY_WRITE | PJ_MAY_PASS));
    status.st_mode = S_IFREG | 0600;
    assert_false(pj_program_mode_allows(&program, &status, PJ_MAY_PASS));
}

static void test_kinds(void **state)
{
    (void)state;
    enum pj_file_system_class class;
    assert_string_equal(pj_file_system_kind(NFS_SUPER_MAGIC, &class), "NFS");
    assert_int_equal(class, PJ_FILE_SYSTEM_SHARED);
    assert_string_equal(pj_file_system_kind(0xff534d42, &class), "CIFS");
    assert_int_equal(class, PJ_FILE_SYSTEM_SHARED);
    assert_string_equal(pj_file_system_kind(TMPFS_MAGIC, &class), "tmpfs");
    assert_int_equal(class, PJ_FILE_SYSTEM_MEMORY);
    assert_string_equal(pj_file_system_kind(OVERLAYFS_SUPER_MAGIC, &class), "overlayfs");
    assert_int_equal(class, PJ_FILE_SYSTEM_LAYERED);
    assert_null(pj_file_system_kind(EXT4_SUPER_MAGIC, &class));
    assert_int_equal(class, PJ_FILE_SYSTEM_LOCAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels), cmocka_unit_test(test_open_to_others), cmocka_unit_test(test_index),
        cmocka_unit_test(test_mode),   cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
