/* SPDX-License-Identifier: Apache-2.0 */
/* Which receipt files are believed: only a regular file of this user or root that nobody else may write. */
#include "runs.h"

#include "session/receipt_file.h"

#define RECEIPT "cache/.prejit/receipt.json"

static void write_receipt(const struct run *run, const char *name)
{
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    assert_int_equal(pj_receipt_write(&run->receipt, &text, NULL), 0);
    folder_write_bytes(&run->folder, name, text.data, text.size);
}

static bool is_believed(const struct run *run)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_receipt *receipt = NULL;
    expect_success(pj_receipt_load(run->session.location.path, run->session.selection_text, &receipt, &err),
                   &err);
    bool found = receipt != NULL;
    pj_receipt_free(receipt);
    return found;
}

static void test_read_back(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    assert_false(is_believed(&run)); /* no folder of prejit's there */
    write_receipt(&run, RECEIPT);
    struct pj_receipt *receipt = NULL;
    assert_int_equal(pj_receipt_load(run.session.location.path, run.session.selection_text, &receipt, NULL),
                     0);
    assert_non_null(receipt);
    assert_string_equal(receipt->jobs[0].row.id, "a@sm_90");
    assert_true(receipt->jobs[0].entries[0].hash == ENTRY_HASH);
    assert_string_equal(receipt->driver_files[0].path, run.driver_path);
    pj_receipt_free(receipt);
    assert_int_equal(pj_tree_remove(AT_FDCWD, run.session.location.path, NULL), 0);
    assert_false(is_believed(&run));
}

static void test_modes(void **state)
{
    static const struct {
        mode_t mode;
        bool believed;
    } cases[] = {{0600, true}, {0644, true}, {0664, false}, {0646, false}, {0666, false}, {0755, true}};
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    write_receipt(&run, RECEIPT);
    PJ_CLEANUP_FREE char *path = pj_path_join(run.folder.path, RECEIPT);
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        assert_int_equal(chmod(path, cases[i].mode), 0);
        assert_int_equal(is_believed(&run), cases[i].believed);
    }
}

static void test_other_owner(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    write_receipt(&run, RECEIPT);
    PJ_CLEANUP_FREE char *path = pj_path_join(run.folder.path, RECEIPT);
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_false(is_believed(&run));
}

static void test_links(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    write_receipt(&run, "elsewhere/receipt.json");
    PJ_CLEANUP_FREE char *file = pj_path_join(run.folder.path, "elsewhere/receipt.json");
    PJ_CLEANUP_FREE char *elsewhere = pj_path_join(run.folder.path, "elsewhere");
    PJ_CLEANUP_FREE char *own = pj_path_join(run.folder.path, "cache/.prejit");
    PJ_CLEANUP_FREE char *path = pj_path_join(run.folder.path, RECEIPT);
    assert_int_equal(symlink(elsewhere, own), 0); /* the folder */
    assert_false(is_believed(&run));
    assert_int_equal(unlink(own), 0);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_int_equal(symlink(file, path), 0); /* the file */
    assert_false(is_believed(&run));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_believed(&run));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(file, path), 0);
    assert_true(is_believed(&run));
    /* The cache itself may be a link. */
    PJ_CLEANUP_FREE char *link = pj_path_join(run.folder.path, "link");
    assert_int_equal(symlink("cache", link), 0);
    struct pj_receipt *receipt = NULL;
    assert_int_equal(pj_receipt_load(link, "", &receipt, NULL), 0);
    assert_non_null(receipt);
    pj_receipt_free(receipt);
}

static void test_contents(void **state)
{
    static const char *const texts[] = {"", "{}", "hello", "{\"schema\": \"prejit-receipt/2\"}", "\xff"};
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    for (size_t i = 0; i < PJ_COUNT(texts); i++) {
        folder_write(&run.folder, RECEIPT, texts[i]);
        assert_false(is_believed(&run));
    }
    PJ_CLEANUP_FREE char *path = pj_path_join(run.folder.path, RECEIPT);
    assert_int_equal(truncate(path, INT64_C(1) << 32), 0); /* not read */
    assert_false(is_believed(&run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back), cmocka_unit_test(test_modes),    cmocka_unit_test(test_other_owner),
        cmocka_unit_test(test_links),     cmocka_unit_test(test_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
