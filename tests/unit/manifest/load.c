/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests from files and from standard input, and what is no manifest file. */
#include "folder.h"

#include <errno.h>

#include "yaml/yaml.h"

static void path_of(const struct folder *folder, const char *name, char ret_path[600])
{
    int length = snprintf(ret_path, 600, "%s/%s", folder->path, name);
    assert_true(length > 0 && length < 600);
}

static void a_file_is_loaded_from_its_folder(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "m.yaml", HEAD "- {name: m, ptx: 'k/*.ptx'}\n- {name: n, ptx: n.ptx}\n");
    folder_write(&folder, "k/a.ptx", "");
    char path[600], image[600];
    path_of(&folder, "m.yaml", path);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
    assert_int_equal(pj_manifest_load(path, &manifest, &err), 0);
    assert_string_equal(manifest->name, path);
    assert_string_equal(manifest->directory, folder.path);
    assert_int_equal(manifest->module_count, 2);
    path_of(&folder, "k/a.ptx", image);
    assert_string_equal(manifest->modules[0].path, image);
    path_of(&folder, "n.ptx", image);
    assert_string_equal(manifest->modules[1].path, image);

    /* By its bare name, paths stay as they are written. */
    PJ_CLEANUP_FREE char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(folder.path), 0);
    PJ_CLEANUP_MANIFEST struct pj_manifest *bare = NULL;
    int r = pj_manifest_load("m.yaml", &bare, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(r, 0);
    assert_string_equal(bare->directory, ".");
    assert_string_equal(bare->modules[0].path, "k/a.ptx");
    assert_string_equal(bare->modules[0].name, "m/a");
}

/* In `message`, <> stands for the path; `errnum` as the error has it. */
static void expect_unloadable(const char *path, int errnum, const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer expected = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    put_path(&expected, message, path);
    assert_int_equal(pj_manifest_load(path, &manifest, &err), PJ_ERROR_MANIFEST);
    assert_string_equal(err->message, pj_buffer_text(&expected));
    assert_int_equal(err->code, PJ_ERROR_MANIFEST);
    assert_int_equal(err->errnum, errnum);
    assert_null(manifest);
    assert_int_equal(pj_manifest_load(path, &manifest, NULL), PJ_ERROR_MANIFEST);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "m.yaml", "version: 2\n");
    folder_write(&folder, "empty.yaml", "");
    char path[600];
    path_of(&folder, "none.yaml", path);
    expect_unloadable(
        path, ENOENT,
        "cannot read the manifest: cannot open <>: No such file or directory: give the path of a "
        "manifest, or `-` for standard input");
    path_of(&folder, "m.yaml/m.yaml", path);
    expect_unloadable(path, ENOTDIR, "cannot read the manifest: cannot open <>: Not a directory");
    expect_unloadable(
        folder.path, EINVAL,
        "cannot read the manifest: <> is a directory, not a regular file: give the file itself, or pipe "
        "it in and give `-`");
    path_of(&folder, "fifo", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_unloadable(
        path, EINVAL,
        "cannot read the manifest: <> is a FIFO, not a regular file: give the file itself, or pipe it in "
        "and give `-`");
    expect_unloadable(
        "/dev/null", EINVAL,
        "cannot read the manifest: <> is a device, not a regular file: give the file itself, or pipe it "
        "in and give `-`");
    path_of(&folder, "big.yaml", path);
    folder_write(&folder, "big.yaml", "");
    assert_int_equal(truncate(path, PJ_YAML_MAX_BYTES + 1), 0);
    expect_unloadable(
        path, EFBIG,
        "cannot read the manifest: <> has 64000001 bytes, more than the 64000000 allowed (64 MB): split "
        "the manifest");
    path_of(&folder, "empty.yaml", path);
    expect_unloadable(path, 0,
                      "<>:1:1: the manifest is empty; it needs at least `version: 1` and `modules:`");
}

/* Puts `fd` in standard input's place, loads "-", and puts it back. */
static int load_from(int fd, struct pj_manifest **ret_manifest, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_true(saved >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    int r = pj_manifest_load("-", ret_manifest, err);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    return r;
}

static void standard_input_is_read_to_its_end(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], WHOLE, sizeof WHOLE - 1), sizeof WHOLE - 1);
    assert_int_equal(close(ends[1]), 0);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
    assert_int_equal(load_from(ends[0], &manifest, &err), 0);
    assert_int_equal(close(ends[0]), 0);
    assert_string_equal(manifest->name, "-");
    assert_string_equal(manifest->directory, ".");
    assert_string_equal(manifest->modules[0].path, "a.ptx");
}

static void endless_standard_input_is_cut_off(void **state)
{
    (void)state;
    PJ_CLEANUP_CLOSE int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    assert_int_equal(load_from(zero, &manifest, &err), PJ_ERROR_MANIFEST);
    assert_string_equal(err->message,
                        "<stdin>:1:1: standard input has more than the 64000000 bytes (64 MB) allowed: "
                        "split the manifest");
}

static void a_directory_as_standard_input_is_refused(void **state)
{
    (void)state;
    PJ_CLEANUP_CLOSE int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_manifest *manifest = NULL;
    assert_int_equal(load_from(root, &manifest, &err), PJ_ERROR_MANIFEST);
    assert_string_equal(err->message, "cannot read the manifest from standard input: Is a directory");
    assert_int_equal(err->errnum, EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_loaded_from_its_folder),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(standard_input_is_read_to_its_end),
        cmocka_unit_test(endless_standard_input_is_cut_off),
        cmocka_unit_test(a_directory_as_standard_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
