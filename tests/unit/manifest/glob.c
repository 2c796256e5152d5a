/* SPDX-License-Identifier: Apache-2.0 */
/* Globs in `ptx:`: which files, in which order, under which names, and what is refused. */
#include "folder.h"

/* Jobs as "name=path name=path", paths relative to the folder. */
static void list_jobs(const struct folder *folder, const struct pj_manifest *manifest, struct pj_buffer *list)
{
    size_t length = strlen(folder->path) + 1;
    for (size_t i = 0; i < manifest->module_count; i++) {
        const struct pj_module *module = &manifest->modules[i];
        assert_memory_equal(module->path, folder->path, length - 1);
        pj_buffer_printf(list, "%s%s=%s", i == 0 ? "" : " ", module->name, module->path + length);
    }
}

static void expect_jobs(const struct folder *folder, const char *pattern, const char *jobs)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, list = {0};
    pj_buffer_printf(&text, HEAD "- {name: m, ptx: '%s'}\n", pattern);
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = parse_in(pj_buffer_text(&text), folder->path, false);
    list_jobs(folder, manifest, &list);
    assert_string_equal(pj_buffer_text(&list), jobs);
}

/* In `message`, <> stands for the folder. */
static void expect_no_jobs(const struct folder *folder, const char *modules, const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0}, expected = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    pj_buffer_printf(&text, HEAD "%s\n", modules);
    put_path(&expected, message, folder->path);
    int r = pj_manifest_parse(pj_buffer_text(&text), text.size, "f", folder->path, false, &manifest, &err);
    assert_string_equal(r == 0 ? "accepted" : err->message, pj_buffer_text(&expected));
    assert_int_equal(r, PJ_ERROR_MANIFEST);
}

static void files_come_in_bytewise_order(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    static const char *const names[] = {"b.ptx",   "a.ptx",  "B.ptx", "a-1.ptx", "a_1.ptx",
                                        "a10.ptx", "a9.ptx", "é.ptx", ".h.ptx",  "c.cubin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write(&folder, names[i], "");
    expect_jobs(
        &folder, "*.ptx",
        "m/B=B.ptx m/a-1=a-1.ptx m/a=a.ptx m/a10=a10.ptx m/a9=a9.ptx m/a_1=a_1.ptx m/b=b.ptx m/é=é.ptx");
    expect_jobs(&folder, "?.ptx", "m/B=B.ptx m/a=a.ptx m/b=b.ptx");
    expect_jobs(&folder, "[ab].ptx", "m/a=a.ptx m/b=b.ptx");
    expect_jobs(&folder, "a?.*", "m/a9=a9.ptx"); /* one file: a glob all the same */
    expect_jobs(&folder, ".*.ptx", "m/.h=.h.ptx");
}

static void equal_stems_get_as_much_path_as_they_need(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    static const char *const names[] = {"k/x/1/a.ptx", "k/x/1/b.ptx", "k/x/2/a.ptx",
                                        "k/y/1/a.ptx", "k/y/1/c.ptx", "k/y/1/c.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        folder_write(&folder, names[i], "");
    expect_jobs(&folder, "k/x/*/*.ptx", "m/1/a=k/x/1/a.ptx m/b=k/x/1/b.ptx m/2/a=k/x/2/a.ptx");
    expect_jobs(&folder, "k/*/*/?.ptx",
                "m/x/1/a=k/x/1/a.ptx m/b=k/x/1/b.ptx m/2/a=k/x/2/a.ptx m/y/1/a=k/y/1/a.ptx m/c=k/y/1/c.ptx");
    expect_jobs(&folder, "k/y/1/c.*", "m/c.ptx=k/y/1/c.ptx m/c.txt=k/y/1/c.txt");
    expect_jobs(&folder, "k/y/*/c.*", "m/1/c.ptx=k/y/1/c.ptx m/1/c.txt=k/y/1/c.txt");
}

static void a_file_of_that_very_name_is_meant(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "k[1].ptx", "");
    folder_write(&folder, "k1.ptx", "");
    folder_write(&folder, "*.ptx", "");
    expect_jobs(&folder, "k[1].ptx", "m=k[1].ptx");
    expect_jobs(&folder, "*.ptx", "m=*.ptx");
    expect_jobs(&folder, "k?.ptx", "m/k1=k1.ptx");
}

static void folders_may_have_any_name(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "[a] \\*?/k/b.ptx", "");
    folder_write(&folder, "[a] \\*?/k/c.ptx", "");
    folder_write(&folder, "a \\x/k/d.ptx", "");
    struct folder odd = folder;
    odd.path[0] = '\0';
    (void)snprintf(odd.path, sizeof odd.path, "%.400s/[a] \\*?", folder.path);
    expect_jobs(&odd, "k/?.ptx", "m/b=k/b.ptx m/c=k/c.ptx");
    expect_jobs(&odd, "*/b.*", "m/b=k/b.ptx");
    expect_jobs(&folder, "a \\x/k/*.ptx", "m/d=a \\x/k/d.ptx"); /* a backslash is one */
    expect_no_jobs(
        &folder, "- {name: m, ptx: '\\*.ptx'}",
        "f:3:18: `ptx`: no file matches `<>/\\*.ptx`: check the pattern, and whether the files are made by "
        "now");
}

static void what_is_no_set_of_files_is_refused(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "k/a.ptx", "");
    folder_write(&folder, "k/b@c.ptx", "");
    folder_write(&folder, "k/sub/d.ptx", "");
    expect_no_jobs(
        &folder, "- {name: m, ptx: 'none/*.ptx'}",
        "f:3:18: `ptx`: no file matches `<>/none/*.ptx`: check the pattern, and whether the files are made "
        "by now");
    expect_no_jobs(
        &folder, "- {name: m, ptx: 'k/*.ptx'}",
        "f:3:18: `ptx`: the glob matches <>/k/b@c.ptx, and the name `m/b@c` made from it holds `@`, which "
        "stands between module and target in reports: leave it out");
    expect_no_jobs(
        &folder,
        "- {name: m, ptx: 'k/a*', sha256: "
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}",
        "f:3:26: `sha256` pins one file, and `ptx` is the glob `k/a*`: name one file, or remove `sha256`");
    expect_no_jobs(
        &folder, "- {name: m/a, ptx: k/a.ptx}\n- {name: m, ptx: 'k/a*'}",
        "f:4:10: `name`: `m/a` (for <>/k/a.ptx) is also a name of the module at line 3; names are unique: "
        "rename one of the two modules");
    expect_no_jobs(
        &folder, "- {name: m, ptx: 'k/a*'}\n- {name: m, ptx: 'k/[a].ptx'}",
        "f:4:10: `name`: `m/a` (for <>/k/a.ptx) is also a name of the module at line 3; names are unique: "
        "rename one of the two modules");
}

static void an_unreadable_folder_is_no_empty_one(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "k/a/x.ptx", "");
    folder_write(&folder, "k/b/x.ptx", "");
    char closed[600];
    (void)snprintf(closed, sizeof closed, "%s/k/b", folder.path);
    assert_int_equal(chmod(folder.path, 0755), 0);
    assert_int_equal(chmod(closed, 0), 0);
    const uid_t user = geteuid(), nobody = 65534;
    if (user == 0) /* root reads everything */
        assert_int_equal(seteuid(nobody), 0);
    expect_no_jobs(&folder, "- {name: m, ptx: 'k/*/*.ptx'}",
                   "f:3:18: `ptx`: cannot read a folder of the glob `<>/k/*/*.ptx`: Permission denied");
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(chmod(closed, 0755), 0);
}

/* Names are made unique by sorting; compared pairwise this would take minutes. */
static void ten_thousand_files_are_quick(void **state)
{
    (void)state;
    enum { FILES = 10000 };
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a/k0.ptx", "");
    folder_write(&folder, "b/k0.ptx", "");
    char path[600];
    for (int i = 1; i < FILES / 2; i++) {
        for (int k = 0; k < 2; k++) {
            (void)snprintf(path, sizeof path, "%s/%s/k%d.ptx", folder.path, k == 0 ? "a" : "b", i);
            PJ_CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
            assert_true(fd >= 0);
        }
    }
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest =
        parse_in(HEAD "- {name: m, ptx: '?/*.ptx'}\n", folder.path, false);
    assert_int_equal(manifest->module_count, FILES);
    assert_string_equal(manifest->modules[0].name, "m/a/k0");
    assert_string_equal(manifest->modules[FILES - 1].name, "m/b/k999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_in_bytewise_order),
        cmocka_unit_test(equal_stems_get_as_much_path_as_they_need),
        cmocka_unit_test(a_file_of_that_very_name_is_meant),
        cmocka_unit_test(folders_may_have_any_name),
        cmocka_unit_test(what_is_no_set_of_files_is_refused),
        cmocka_unit_test(an_unreadable_folder_is_no_empty_one),
        cmocka_unit_test(ten_thousand_files_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
