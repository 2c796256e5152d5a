/* SPDX-License-Identifier: Apache-2.0 */
/* PTX that an earlier run prepared: taken where all that it came from is as it was, and nobody else can have
 * written it. */
#include "runs.h"

#include <time.h>

#include "session/prepare/prepare.h"
#include "session/prepare/prepared_file.h"
#include "session/receipt/identity.h"
#include "session/run/outcome.h"

#define PTX_TEXT ".version 9.0\n.target sm_90\n"
#define REQUEST  "source k.cu\nvirtual sm_90\n"

struct kept {
    struct run run;
    struct pj_receipt_file nvrtc;
    struct pj_receipt_input inputs[2];
    struct pj_prepared prepared;
    char *folder;
};

static char *path_of(const struct kept *kept, const char *ending)
{
    struct pj_sha256 digest;
    char hex[PJ_SHA256_HEX], name[PJ_SHA256_HEX + 8];
    pj_sha256_of(REQUEST, strlen(REQUEST), &digest);
    pj_sha256_hex(&digest, hex);
    (void)snprintf(name, sizeof name, "%s.%s", hex, ending);
    char *path = pj_path_join(kept->folder, name);
    assert_non_null(path);
    return path;
}

static void open_store(struct pj_session *session)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    const struct pj_store_options options = {.path = session->location.path,
                                             .limit_bytes = session->location.limit_bytes,
                                             .check_payload = pj_check_payload};
    expect_success(pj_store_open(&options, &session->store, &err), &err);
    struct pj_store_preparation done;
    expect_success(pj_store_prepare(session->store, &done, &err), &err);
}

static void save(struct kept *kept)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    expect_success(pj_prepared_save(&kept->run.session, &kept->prepared, PTX_TEXT, &err), &err);
}

static void make(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    struct pj_session *session = &kept->run.session;
    run_make(&kept->run);
    folder_write(&kept->run.folder, "k.cu", "int a;\n");
    folder_write(&kept->run.folder, "k.h", "int b;\n");
    folder_write(&kept->run.folder, "libnvrtc.so.13", "library");
    kept->inputs[0] = run_describe(&kept->run, &session->arena, "k.cu");
    kept->inputs[1] = run_describe(&kept->run, &session->arena, "k.h");
    kept->nvrtc = run_describe(&kept->run, &session->arena, "libnvrtc.so.13").file;
    session->nvrtc.search = "libnvrtc.so.13\n";
    kept->prepared = (struct pj_prepared){.request = REQUEST,
                                          .compiler_search = "libnvrtc.so.13\n",
                                          .compiler_files = &kept->nvrtc,
                                          .compiler_file_count = 1,
                                          .compiler = {.path = kept->nvrtc.path, .version = "13.0"},
                                          .inputs = kept->inputs,
                                          .input_count = 2,
                                          .ptx_bytes = strlen(PTX_TEXT),
                                          .log = "a warning\n"};
    pj_sha256_of(PTX_TEXT, strlen(PTX_TEXT), &kept->prepared.ptx_sha256);
    kept->folder = pj_path_join(session->location.path, ".prejit/prepared");
    open_store(session);
    save(kept);
}

static void free_kept(struct kept *kept)
{
    pj_store_close(kept->run.session.store, false);
    free(kept->folder);
    run_free(&kept->run);
}
#define CLEANUP_KEPT __attribute__((cleanup(free_kept)))

/* Is it taken, and then the very text? */
static bool is_taken(struct kept *kept)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_prepared found;
    const char *ptx = "not set";
    expect_success(
        pj_prepared_load(&kept->run.session, &kept->run.session.nvrtc, REQUEST, &found, &ptx, &err), &err);
    if (ptx)
        assert_string_equal(ptx, PTX_TEXT);
    if (ptx)
        assert_string_equal(found.log, "a warning\n");
    return ptx != NULL;
}

static void test_kept(void **state)
{
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    assert_true(is_taken(&kept));
    struct pj_prepared found;
    const char *ptx = "not set";
    assert_int_equal(
        pj_prepared_load(&kept.run.session, &kept.run.session.nvrtc, REQUEST "x", &found, &ptx, NULL), 0);
    assert_null(ptx); /* another request */
    assert_int_equal(pj_tree_remove(AT_FDCWD, kept.folder, NULL), 0);
    assert_false(is_taken(&kept));
    save(&kept); /* makes the folder anew */
    assert_true(is_taken(&kept));
}

static void test_inputs(void **state)
{
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    run_touch(&kept.run, "k.h");
    assert_true(is_taken(&kept)); /* another time, the same bytes */
    folder_write(&kept.run.folder, "k.h", "int c;\n");
    run_touch(&kept.run, "k.h");
    assert_false(is_taken(&kept));
    folder_write(&kept.run.folder, "k.h", "int b;\n");
    assert_true(is_taken(&kept));
    folder_write(&kept.run.folder, "k.cu", "int a;\n\n");
    assert_false(is_taken(&kept));
    folder_write(&kept.run.folder, "k.cu", "int a;\n");
    PJ_CLEANUP_FREE char *header = pj_path_join(kept.run.folder.path, "k.h");
    assert_int_equal(unlink(header), 0);
    assert_false(is_taken(&kept));
    assert_int_equal(mkdir(header, 0755), 0);
    assert_false(is_taken(&kept));
}

static void test_nvrtc(void **state)
{
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    kept.run.session.nvrtc.search =
        "/opt/libnvrtc.so.13\nlibnvrtc.so.13\n"; /* another one may be found now */
    assert_false(is_taken(&kept));
    kept.run.session.nvrtc.search = NULL;
    assert_false(is_taken(&kept));
    kept.run.session.nvrtc.search = "libnvrtc.so.13\n";
    assert_true(is_taken(&kept));
    run_touch(&kept.run, "libnvrtc.so.13"); /* a library is not hashed: another time is another one */
    assert_false(is_taken(&kept));
    kept.prepared.compiler_file_count = 0; /* not known which it was */
    save(&kept);
    assert_false(is_taken(&kept));
}

/* Whoever can write them can say what PTX a source has. */
static void test_trust(void **state)
{
    static const struct {
        mode_t mode;
        bool believed;
    } cases[] = {{0600, true}, {0644, true}, {0664, false}, {0646, false}, {0666, false}};
    static const char *const endings[] = {"json", "ptx"};
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    for (size_t k = 0; k < 2; k++) {
        PJ_CLEANUP_FREE char *path = path_of(&kept, endings[k]), *moved = pj_path_join(kept.folder, "moved");
        for (size_t i = 0; i < PJ_COUNT(cases); i++) {
            assert_int_equal(chmod(path, cases[i].mode), 0);
            assert_int_equal(is_taken(&kept), cases[i].believed);
        }
        assert_int_equal(chmod(path, 0644), 0);
        assert_int_equal(rename(path, moved), 0);
        assert_false(is_taken(&kept));
        assert_int_equal(symlink(moved, path), 0);
        assert_false(is_taken(&kept));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0); /* nobody waits for a writer */
        assert_false(is_taken(&kept));
        assert_int_equal(rename(moved, path), 0);
        assert_true(is_taken(&kept));
    }
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    for (size_t k = 0; k < 2; k++) {
        PJ_CLEANUP_FREE char *path = path_of(&kept, endings[k]);
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_false(is_taken(&kept));
        assert_int_equal(chown(path, 0, 0), 0);
    }
    assert_true(is_taken(&kept));
}

static void test_damage(void **state)
{
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    PJ_CLEANUP_FREE char *ptx = path_of(&kept, "ptx"), *record = path_of(&kept, "json");
    assert_int_equal(truncate(ptx, 5), 0); /* cut */
    assert_false(is_taken(&kept));
    assert_int_equal(truncate(ptx, (off_t)strlen(PTX_TEXT)), 0); /* NULs */
    assert_false(is_taken(&kept));
    save(&kept);
    assert_int_equal(truncate(ptx, (off_t)strlen(PTX_TEXT) + 1), 0); /* longer */
    assert_false(is_taken(&kept));
    save(&kept);
    assert_true(is_taken(&kept));
    assert_int_equal(truncate(record, 100), 0);
    assert_false(is_taken(&kept));
    assert_int_equal(truncate(record, INT64_C(1) << 32), 0); /* not read */
    assert_false(is_taken(&kept));
    save(&kept);
    kept.prepared.request = "another"; /* two requests of one digest, as it were */
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    assert_int_equal(pj_prepared_write(&kept.prepared, &text, NULL), 0);
    folder_write_bytes(&kept.run.folder, record + strlen(kept.run.folder.path) + 1, text.data, text.size);
    assert_false(is_taken(&kept));
}

/* The folder may not be a link to somewhere else. */
static void test_folder(void **state)
{
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    struct pj_error *err = NULL;
    char message[1024];
    PJ_CLEANUP_FREE char *elsewhere = pj_path_join(kept.run.folder.path, "elsewhere");
    assert_int_equal(rename(kept.folder, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, kept.folder), 0);
    assert_false(is_taken(&kept));
    int r = pj_prepared_save(&kept.run.session, &kept.prepared, PTX_TEXT, &err);
    assert_int_equal(r, PJ_ERROR_IO);
    (void)snprintf(message, sizeof message, "%s", pj_error_message(err));
    assert_non_null(strstr(message, "prepared"));
    pj_error_clear(&err);
    assert_int_equal(unlink(kept.folder), 0);
    assert_int_equal(rename(elsewhere, kept.folder), 0);
    assert_true(is_taken(&kept));
}

/* What a run that was killed left of its writing goes with the next one that keeps something. */
static void test_left_behind(void **state)
{
    static const char *const names[] = {"a.json.0123456789abcdef", "a.ptx.0123456789abcdef"};
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        PJ_CLEANUP_FREE char *path = pj_path_join(kept.folder, names[i]);
        PJ_CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        save(&kept);
        assert_int_equal(access(path, F_OK), -1);
        assert_true(is_taken(&kept));
    }
}

/* Beyond two thousand the oldest goes, with its PTX. */
static void test_limit(void **state)
{
    enum { KEPT = 2000 };
    (void)state;
    CLEANUP_KEPT struct kept kept;
    make(&kept);
    PJ_CLEANUP_FREE char *ptx = path_of(&kept, "ptx"), *record = path_of(&kept, "json");
    const struct timespec old[2] = {{1400000000, 0}, {1400000000, 0}};
    for (size_t i = 0; i < KEPT - 1; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "cache/.prejit/prepared/%zu.json", i);
        folder_write(&kept.run.folder, name, "");
    }
    assert_int_equal(utimensat(AT_FDCWD, record, old, 0), 0);
    kept.prepared.request = "another";
    save(&kept);
    assert_int_equal(access(record, F_OK), -1);
    assert_int_equal(access(ptx, F_OK), -1);
    assert_false(is_taken(&kept));
}

/* What `run` looks for NVRTC by. */
static const char *search_of(struct run *run)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_session *session = &run->session;
    pj_arena_free(&session->now.arena);
    expect_success(pj_identity_now(session, &err), &err);
    session->nvrtc.search = NULL;
    expect_success(pj_prepare_search(session, &err), &err);
    return session->nvrtc.search;
}

/* Where the loader searches, its variable and its cache tell whether it still finds the same. */
static void test_search(void **state)
{
    (void)state;
    CLEANUP_RUN struct run run;
    run_make(&run);
    struct pj_session *session = &run.session;
    static const char tail[] = "\nLD_LIBRARY_PATH=/a:/b\nld.so.cache 1500000000\n";
    assert_int_equal(unsetenv("CUDA_HOME"), 0);
    assert_int_equal(unsetenv("CUDA_PATH"), 0);
    assert_null(search_of(&run)); /* no module needs it */
    folder_write(&run.folder, "m.yaml", "version: 1\nmodules: [{name: a, source: k.cu}]\n");
    pj_manifest_free(session->manifest);
    assert_int_equal(pj_manifest_load(run.manifest_path, &session->manifest, NULL), 0);
    run_touch(&run, "root/etc/ld.so.cache");
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/a:/b", 1), 0);
    const char *search = search_of(&run);
    assert_memory_equal(search, "libnvrtc.so.13\n", 15);
    assert_string_equal(search + strlen(search) - (sizeof tail - 1), tail);
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    search = search_of(&run);
    assert_null(strstr(search, "LD_LIBRARY_PATH"));
    assert_non_null(strstr(search, "\nld.so.cache 1500000000\n"));
    /* A file by its path is that file. */
    folder_write(&run.folder, "given.so", "");
    PJ_CLEANUP_FREE char *given = pj_path_join(run.folder.path, "given.so");
    run.options.nvrtc = given;
    search = search_of(&run);
    assert_memory_equal(search, given, strlen(given));
    assert_string_equal(search + strlen(given), "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),        cmocka_unit_test(test_inputs), cmocka_unit_test(test_nvrtc),
        cmocka_unit_test(test_trust),       cmocka_unit_test(test_damage), cmocka_unit_test(test_folder),
        cmocka_unit_test(test_left_behind), cmocka_unit_test(test_limit),  cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
