/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to a folder, judged as root: owners, modes, links, and what stands in for /tmp. */
#include "folder.h"

#include <errno.h>
#include <sys/xattr.h>

#include "base/way.h"

enum { OTHER = 54321 };

static void make(const struct folder *folder, const char *name, uid_t owner, gid_t group, mode_t mode)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, owner, group), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void lay(const struct folder *folder, const char *target, const char *name, uid_t owner)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, name);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(lchown(path, owner, owner), 0);
}

static void fill(const struct folder *folder)
{
    PJ_CLEANUP_FREE char *absolute = pj_path_join(folder->path, "roots/a");
    make(folder, "roots", 0, 0, 0755);
    make(folder, "roots/a", 0, 0, 0775);
    make(folder, "theirs", OTHER, OTHER, 0755);
    make(folder, "theirs/roots", 0, 0, 0755);
    make(folder, "open", 0, 0, 0757);
    make(folder, "open/roots", 0, 0, 0755);
    make(folder, "group", 0, OTHER, 0775);
    make(folder, "tmp", 0, 0, 01777);
    make(folder, "tmp/roots", 0, 0, 0700);
    make(folder, "tmp/theirs", OTHER, OTHER, 0700);
    make(folder, "their-tmp", OTHER, OTHER, 01777);
    make(folder, "their-tmp/roots", 0, 0, 0700);
    lay(folder, "roots", "link", 0);
    lay(folder, absolute, "absolute", 0);
    lay(folder, "roots", "their-link", OTHER);
    lay(folder, "../roots", "tmp/link", 0);
    lay(folder, "theirs/roots", "into-theirs", 0);
    lay(folder, "loop", "loop", 0);
    folder_write(folder, "file", "");
}

struct scene {
    const char *path;
    bool exists;
    enum pj_way_fault fault;
    const char *culprit;
};

static const struct scene scenes[] = {
    {"roots", true, PJ_WAY_CLOSED, NULL},
    {"roots/a", true, PJ_WAY_CLOSED, NULL},
    {"roots/./a/../a//", true, PJ_WAY_CLOSED, NULL},
    {"roots/none/b", false, PJ_WAY_CLOSED, NULL},
    {"theirs", true, PJ_WAY_OF_OTHER, "theirs"},
    {"theirs/roots", true, PJ_WAY_OF_OTHER, "theirs"},
    {"theirs/none/b", false, PJ_WAY_OF_OTHER, "theirs"},
    {"theirs/../roots", true, PJ_WAY_OF_OTHER, "theirs"},
    {"open", true, PJ_WAY_WRITABLE, "open"},
    {"open/roots", true, PJ_WAY_WRITABLE, "open"},
    {"group", true, PJ_WAY_WRITABLE, "group"},
    {"tmp", true, PJ_WAY_WRITABLE, "tmp"},
    {"tmp/roots", true, PJ_WAY_CLOSED, NULL},
    {"tmp/theirs", true, PJ_WAY_OF_OTHER, "tmp/theirs"},
    {"tmp/none", false, PJ_WAY_CLOSED, NULL},
    {"tmp/link", true, PJ_WAY_LINK, "tmp/link"},
    {"their-tmp/roots", true, PJ_WAY_OF_OTHER, "their-tmp"},
    {"link/a", true, PJ_WAY_CLOSED, NULL},
    {"absolute", true, PJ_WAY_CLOSED, NULL},
    {"absolute/../../open", true, PJ_WAY_WRITABLE, "open"},
    {"their-link", true, PJ_WAY_LINK, "their-link"},
    {"into-theirs", true, PJ_WAY_OF_OTHER, "theirs"},
    {"loop", false, PJ_WAY_CLOSED, NULL},
    {"file/a", false, PJ_WAY_CLOSED, NULL},
};

static void expect_scene(const struct folder *folder, const struct scene *scene, const struct pj_way *way)
{
    if (way->exists != scene->exists || way->fault != scene->fault)
        fail_msg("%s: exists %d, fault %d", scene->path, way->exists, (int)way->fault);
    PJ_CLEANUP_FREE char *culprit = scene->culprit ? pj_path_join(folder->path, scene->culprit) : NULL;
    assert_true(way->fd >= 0);
    if (culprit)
        assert_string_equal(way->culprit, culprit);
    else
        assert_null(way->culprit);
}

static void test_walk(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    if (geteuid() != 0)
        skip(); /* folders of other users can be made by root alone */
    fill(&folder);
    for (size_t i = 0; i < PJ_COUNT(scenes); i++) {
        PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
        struct pj_error *err = NULL;
        PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, scenes[i].path);
        expect_success(pj_way_walk("", path, PJ_WAY_TO_CACHE, &way, &err), &err);
        expect_scene(&folder, &scenes[i], &way);
    }
}

/* What is made in a folder like /tmp is root's, and nobody else can rename it. */
static void test_walk_to_parent(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    if (geteuid() != 0)
        skip();
    fill(&folder);
    static const struct scene parents[] = {{"tmp", true, PJ_WAY_CLOSED, NULL},
                                           {"their-tmp", true, PJ_WAY_OF_OTHER, "their-tmp"},
                                           {"open", true, PJ_WAY_WRITABLE, "open"}};
    for (size_t i = 0; i < PJ_COUNT(parents); i++) {
        PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
        struct pj_error *err = NULL;
        PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, parents[i].path);
        PJ_CLEANUP_FREE char *made = NULL;
        expect_success(pj_way_walk("", path, PJ_WAY_TO_PARENT, &way, &err), &err);
        expect_scene(&folder, &parents[i], &way);
        int r = pj_directory_temporary(path, "try", &made, &err);
        assert_int_equal(r, way.fault ? PJ_ERROR_ENVIRONMENT : 0);
        pj_error_clear(&err);
    }
}

/* Another root directory: absolute links and ".." stay below it. */
static void test_other_root(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    if (geteuid() != 0)
        skip();
    make(&folder, "theirs", OTHER, OTHER, 0755);
    lay(&folder, "/theirs", "link", 0);
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    struct pj_error *err = NULL;
    expect_success(pj_way_walk(folder.path, "/../../link", PJ_WAY_TO_CACHE, &way, &err), &err);
    assert_true(way.exists);
    assert_int_equal(way.fault, PJ_WAY_OF_OTHER);
    assert_string_equal(way.culprit, "/theirs");
}

static void test_make(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    if (geteuid() != 0)
        skip();
    fill(&folder);
    static const struct {
        const char *path, *made;
        bool is_made;
    } cases[] = {
        {"roots/x/y", "roots/x/y", true},
        {"tmp/x/y", "tmp/x/y", true},
        {"link/z", "roots/z", true},
        {"theirs/x", "theirs/x", false},
        {"open/x", "open/x", false},
        {"tmp/theirs/x", "tmp/theirs/x", false},
        {"into-theirs/x", "theirs/roots/x", false},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
        struct pj_error *err = NULL;
        struct stat status, held;
        PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, cases[i].path);
        PJ_CLEANUP_FREE char *made = pj_path_join(folder.path, cases[i].made);
        expect_success(pj_way_make(path, &way, &err), &err);
        assert_int_equal(way.exists, cases[i].is_made);
        assert_int_equal(lstat(made, &status) == 0, cases[i].is_made);
        if (!cases[i].is_made)
            continue;
        assert_int_equal(fstat(way.fd, &held), 0);
        assert_int_equal(held.st_ino, status.st_ino);
        assert_int_equal(held.st_mode & 07777, 0700);
    }
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *below_file = pj_path_join(folder.path, "file/x");
    assert_int_equal(pj_way_make(below_file, &way, &err), PJ_ERROR_IO);
    assert_int_equal(err->errnum, ENOTDIR);
    pj_error_free(err);
}

/* The group's bits are an access list's mask: they may speak for anybody. */
static void test_access_list(void **state)
{
    (void)state;
    static const unsigned char list[] = {2,    0,    0,    0,    1,    0,    7,    0,    0xff, 0xff, 0xff,
                                         0xff, 2,    0,    7,    0,    0x31, 0xd4, 0,    0,    4,    0,
                                         5,    0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,    7,    0,    0xff,
                                         0xff, 0xff, 0xff, 0x20, 0,    5,    0,    0xff, 0xff, 0xff, 0xff};
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    struct pj_error *err = NULL;
    if (geteuid() != 0)
        skip();
    make(&folder, "listed", 0, 0, 0775);
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "listed");
    if (setxattr(path, "system.posix_acl_access", list, sizeof list, 0) != 0)
        skip(); /* a file system without access lists */
    expect_success(pj_way_walk("", path, PJ_WAY_TO_CACHE, &way, &err), &err);
    assert_int_equal(way.fault, PJ_WAY_WRITABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk), cmocka_unit_test(test_walk_to_parent), cmocka_unit_test(test_other_root),
        cmocka_unit_test(test_make), cmocka_unit_test(test_access_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
