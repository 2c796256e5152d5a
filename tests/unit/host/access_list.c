/* SPDX-License-Identifier: Apache-2.0 */
/* Access lists: the kernel's rule over lists made up byte by byte, and a real one on a real file. */
#include "programs.h"

#include <errno.h>
#include <sys/xattr.h>

#include "host/access_list.h"

enum { USER_OBJ = 0x01, USER = 0x02, GROUP_OBJ = 0x04, GROUP = 0x08, MASK = 0x10, OTHER = 0x20 };

struct list {
    unsigned char bytes[100];
    size_t size;
};

static struct list start(void)
{
    return (struct list){.bytes = {2, 0, 0, 0}, .size = 4};
}

static void add(struct list *list, unsigned tag, unsigned permissions, unsigned id)
{
    const unsigned char entry[8] = {(unsigned char)tag,         0,
                                    (unsigned char)permissions, 0,
                                    (unsigned char)id,          (unsigned char)(id >> 8),
                                    (unsigned char)(id >> 16),  (unsigned char)(id >> 24)};
    memcpy(list->bytes + list->size, entry, sizeof entry);
    list->size += sizeof entry;
}

static bool allows(const struct list *list, const struct pj_program *program, const struct stat *status,
                   unsigned wanted)
{
    bool allowed = false;
    assert_true(pj_access_list_allows(list->bytes, list->size, program, status, wanted, &allowed));
    return allowed;
}

static void test_rule(void **state)
{
    (void)state;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    const struct stat status = {.st_uid = 1, .st_gid = 2, .st_mode = S_IFREG | 0664};
    struct list list = start();
    program_make(&program, (const char *const[]){"A=b", NULL});
    add(&list, USER_OBJ, 6, 0xffffffff);
    add(&list, USER, 7, 1000);
    add(&list, GROUP_OBJ, 4, 0xffffffff);
    add(&list, GROUP, 2, 77);
    add(&list, MASK, 6, 0xffffffff);
    add(&list, OTHER, 4, 0xffffffff);
    assert_true(allows(&list, &program, &status, PJ_MAY_READ | PJ_MAY_WRITE));
    assert_false(allows(&list, &program, &status, PJ_MAY_PASS)); /* the mask */
    program.uid = 1001;
    assert_true(allows(&list, &program, &status, PJ_MAY_READ));
    assert_false(allows(&list, &program, &status, PJ_MAY_WRITE));
    program.gid = 77; /* a group that matches keeps the others' bits out */
    assert_true(allows(&list, &program, &status, PJ_MAY_WRITE));
    assert_false(allows(&list, &program, &status, PJ_MAY_READ));
    program.gid = 2;
    assert_true(allows(&list, &program, &status, PJ_MAY_READ));
    program.uid = 1;
    assert_true(allows(&list, &program, &status, PJ_MAY_READ | PJ_MAY_WRITE));
}

static void test_no_list(void **state)
{
    (void)state;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    const struct stat status = {.st_uid = 1};
    bool allowed;
    program_make(&program, (const char *const[]){"A=b", NULL});
    assert_false(pj_access_list_allows("\2\0\0", 3, &program, &status, PJ_MAY_READ, &allowed));
    assert_false(pj_access_list_allows("\3\0\0\0", 4, &program, &status, PJ_MAY_READ, &allowed));
    assert_false(pj_access_list_allows("\2\0\0\0\1\0\7", 7, &program, &status, PJ_MAY_READ, &allowed));
}

static void test_file(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_PROGRAM struct pj_program program;
    struct stat status;
    struct list list = start();
    folder_make(&folder);
    folder_write(&folder, "index", "");
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "index");
    program_make(&program, (const char *const[]){"A=b", NULL});
    program.uid = program.gid = 54321;
    assert_int_equal(stat(path, &status), 0);
    assert_false(pj_program_may(&program, path, &status, PJ_MAY_READ | PJ_MAY_WRITE));
    add(&list, USER_OBJ, 6, 0xffffffff);
    add(&list, USER, 6, 54321);
    add(&list, GROUP_OBJ, 4, 0xffffffff);
    add(&list, MASK, 6, 0xffffffff);
    add(&list, OTHER, 4, 0xffffffff);
    if (setxattr(path, "system.posix_acl_access", list.bytes, list.size, 0) != 0 && errno == ENOTSUP)
        skip(); /* the file system has none */
    assert_int_equal(stat(path, &status), 0);
    assert_true(pj_program_may(&program, path, &status, PJ_MAY_READ | PJ_MAY_WRITE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_no_list),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
