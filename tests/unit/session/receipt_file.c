/* SPDX-License-Identifier: Apache-2.0 */
/* Which receipt files are believed: only a regular file of this user or root that nobody else may write. What
 * is kept of a run, and which run is too large for that. */
#include "runs.h"

#include "session/frame/closing.h"
#include "session/receipt/file.h"
#include "session/run/outcome.h"

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
    static const char *const texts[] = {"", "{}", "hello", "{\"schema\": \"prejit-receipt/4\"}", "\xff"};
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

struct visits {
    size_t count, most;
};

static int count_visit(void *context, const struct pj_receipt *receipt, struct pj_error **err)
{
    struct visits *visits = context;
    assert_string_equal(receipt->jobs[0].row.id, "a@sm_90");
    return ++visits->count < visits->most ? 0 : pj_error_set(err, PJ_ERROR_USAGE, "enough");
}

static void test_all_of_them(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct visits visits = {.most = 9};
    run_make(&run);
    const char *cache = run.session.location.path;
    expect_success(pj_receipt_each(cache, count_visit, &visits, &err),
                   &err); /* no folder of prejit's there */
    write_receipt(&run, RECEIPT);
    write_receipt(&run, "cache/.prejit/receipt-0123456789abcdef.json");
    write_receipt(&run, "cache/.prejit/receipt-ffffffffffffffff.json");
    write_receipt(&run, "cache/.prejit/receipt.json.0123"); /* of a run that was killed */
    write_receipt(&run, "cache/.prejit/other.json");
    PJ_CLEANUP_FREE char *path = pj_path_join(run.folder.path, "cache/.prejit/receipt-ffffffffffffffff.json");
    assert_int_equal(chmod(path, 0666), 0);
    expect_success(pj_receipt_each(cache, count_visit, &visits, &err), &err);
    assert_int_equal(visits.count, 2);
    visits = (struct visits){.most = 1};
    assert_int_equal(pj_receipt_each(cache, count_visit, &visits, &err), PJ_ERROR_USAGE);
    assert_string_equal(pj_error_message(err), "enough");
}

/* Three jobs without a driver: the files of two are the same, the third saw one of them differently. */
struct finished {
    struct run run;
    struct pj_plan_file files[5];
    struct pj_job jobs[3];
    struct pj_plan plan;
    struct pj_outcome outcomes[3];
};

static void finish(struct finished *finished)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_session *session = &finished->run.session;
    struct pj_store_preparation done;
    run_make(&finished->run);
    const struct pj_store_options options = {.path = session->location.path,
                                             .limit_bytes = session->location.limit_bytes,
                                             .check_payload = pj_check_payload};
    expect_success(pj_store_open(&options, &session->store, &err), &err);
    expect_success(pj_store_prepare(session->store, &done, &err), &err);
    struct pj_plan_file *files = finished->files;
    files[0] = (struct pj_plan_file){.path = "/k/b.cu", .sha256 = {{1}}, .named = true};
    files[1] = (struct pj_plan_file){.path = "/k/a.h", .sha256 = {{2}}};
    files[2] = files[0]; /* read once more, by another job's worker */
    files[3] = files[1];
    files[3].sha256.bytes[0] = 3; /* edited between the two */
    files[4] = (struct pj_plan_file){.path = "/k/0.h", .absent = true};
    for (size_t i = 0; i < PJ_COUNT(finished->jobs); i++) {
        finished->jobs[i] = (struct pj_job){.id = "b@sm_90",
                                            .name = "b",
                                            .target = 90,
                                            .files = i < 2 ? files : files + 2,
                                            .file_count = i < 2 ? 2 : 3};
        finished->outcomes[i] = (struct pj_outcome){.verdict = PJ_VERDICT_STORED};
    }
    finished->plan = (struct pj_plan){.jobs = finished->jobs, .job_count = PJ_COUNT(finished->jobs)};
    session->plan = &finished->plan;
    session->outcomes = finished->outcomes;
}

static void release(struct finished *finished)
{
    finished->run.session.plan = NULL;
    pj_store_close(finished->run.session.store, false);
    free(finished->run.session.notes);
    run_free(&finished->run);
}

static void test_each_file_once(void **state)
{
    static const struct {
        const char *path;
        uint8_t digest;
        bool named, absent;
    } expected[] = {{"/k/0.h", 0, false, true},
                    {"/k/a.h", 2, false, false},
                    {"/k/a.h", 3, false, false},
                    {"/k/b.cu", 1, true, false}};
    static const uint32_t positions[3][3] = {{3, 1}, {3, 1}, {3, 2, 0}};
    (void)state;
    __attribute__((cleanup(release))) struct finished finished;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_receipt *receipt = NULL;
    finish(&finished);
    struct pj_session *session = &finished.run.session;
    expect_success(pj_closing_save_receipt(session, &err), &err);
    expect_success(pj_receipt_load(session->location.path, session->selection_text, &receipt, &err), &err);
    assert_non_null(receipt);
    assert_int_equal(receipt->input_count, PJ_COUNT(expected));
    for (size_t i = 0; i < PJ_COUNT(expected); i++) {
        assert_string_equal(receipt->inputs[i].file.path, expected[i].path);
        assert_int_equal(receipt->inputs[i].sha256.bytes[0], expected[i].digest);
        assert_int_equal(receipt->inputs[i].named, expected[i].named);
        assert_int_equal(receipt->inputs[i].absent, expected[i].absent);
    }
    assert_int_equal(receipt->job_count, 3);
    for (size_t i = 0; i < receipt->job_count; i++) {
        assert_int_equal(receipt->jobs[i].input_count, finished.jobs[i].file_count);
        for (size_t k = 0; k < receipt->jobs[i].input_count; k++)
            assert_int_equal(receipt->jobs[i].inputs[k], positions[i][k]);
    }
    pj_receipt_free(receipt);
}

/* The receipt is about the entry that was proven, whatever lies there when it is written. */
static void test_checksums(void **state)
{
    enum { SEEN_BEFORE_THE_PROOF = 4711 };
    (void)state;
    __attribute__((cleanup(release))) struct finished finished;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    finish(&finished);
    struct pj_session *session = &finished.run.session;
    const struct pj_receipt_entry *there = &finished.run.entry;
    struct pj_outcome_entry entry = {.hash = ENTRY_HASH,
                                     .file_bytes = there->size_bytes,
                                     .mtime_seconds = there->mtime_seconds,
                                     .checksum = SEEN_BEFORE_THE_PROOF};
    struct pj_receipt *receipt = NULL;
    finished.outcomes[0].entries = &entry;
    finished.outcomes[0].entry_count = 1;
    expect_success(pj_closing_save_receipt(session, &err), &err);
    expect_success(pj_receipt_load(session->location.path, session->selection_text, &receipt, &err), &err);
    assert_non_null(receipt);
    assert_int_equal(receipt->jobs[0].entry_count, 1);
    assert_int_equal(receipt->jobs[0].entries[0].checksum, SEEN_BEFORE_THE_PROOF);
    pj_receipt_free(receipt);
}

static void test_too_large(void **state)
{
    (void)state;
    __attribute__((cleanup(release))) struct finished finished;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    finish(&finished);
    struct pj_session *session = &finished.run.session;
    expect_success(pj_closing_save_receipt(session, &err), &err);
    assert_int_equal(session->note_count, 0);
    PJ_CLEANUP_FREE char *path = pj_path_join(session->location.path, ".prejit/receipt.json");
    assert_int_equal(access(path, F_OK), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    /* The largest that is kept, and one byte more: `"log":null` becomes `"log":"xx..."`. */
    size_t size = (size_t)PJ_RECEIPT_MAX_BYTES - (size_t)status.st_size + strlen("null") - strlen("\"\"");
    PJ_CLEANUP_FREE char *log = malloc(size + 2);
    assert_non_null(log);
    memset(log, 'x', size + 1);
    log[size + 1] = '\0';
    finished.outcomes[0].log = log + 1;
    expect_success(pj_closing_save_receipt(session, &err), &err);
    assert_int_equal(session->note_count, 0);
    assert_true(is_believed(&finished.run));
    finished.outcomes[0].log = log;
    expect_success(pj_closing_save_receipt(session, &err), &err);
    assert_int_equal(session->note_count, 1);
    PJ_CLEANUP_FREE char *expected = NULL;
    assert_true(
        asprintf(&expected,
                 "writing the receipt of %s: it would have 67108865 bytes, at most 67108864 are kept; "
                 "the next run proves everything again",
                 session->location.path) > 0);
    assert_string_equal(session->notes[0], expected);
    assert_int_not_equal(access(path, F_OK), 0); /* nor an earlier one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back),      cmocka_unit_test(test_modes),
        cmocka_unit_test(test_other_owner),    cmocka_unit_test(test_links),
        cmocka_unit_test(test_contents),       cmocka_unit_test(test_all_of_them),
        cmocka_unit_test(test_each_file_once), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
