/* SPDX-License-Identifier: Apache-2.0 */
/* The tiny modules, and the stamp that is learned from an entry: of the real driver's, and of damaged ones.
 */
#include "folder.h"

#include "session/engine/probe.h"

#define ENTRY "c/a/920786966c763d"
#define STAMP "Apr 29 202617:12:06"

static void test_make(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct pj_probe first, second, unique, other;
    struct pj_sha256 digest;
    expect_success(pj_probe_make(false, &first, &err), &err);
    expect_success(pj_probe_make(false, &second, &err), &err);
    expect_success(pj_probe_make(true, &unique, &err), &err);
    expect_success(pj_probe_make(true, &other, &err), &err);
    assert_string_equal(first.text, second.text);
    assert_string_not_equal(unique.text, other.text);
    /* It is the same module behind the comment that nobody has seen before. */
    assert_memory_equal(unique.text, "// prejit canary ", 17);
    assert_int_equal(strspn(unique.text + 17, "0123456789abcdef"), 32);
    assert_string_equal(unique.text + 17 + 32, (other.text + 17 + 32));
    assert_string_equal(unique.text + 17 + 33, first.text);
    expect_success(pj_file_read_fd(unique.fd, "probe", 4096, &bytes, &err), &err);
    assert_int_equal(bytes.size, unique.size);
    assert_string_equal(pj_buffer_text(&bytes), unique.text);
    pj_sha256_of(unique.text, unique.size, &digest);
    assert_memory_equal(&digest, &unique.sha256, sizeof digest);
    assert_int_equal(fcntl(unique.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    pj_probe_close(&first);
    pj_probe_close(&second);
    pj_probe_close(&unique);
    pj_probe_close(&other);
    assert_int_equal(other.fd, -1);
    pj_probe_close(&other);
}

static void read_golden(const char *name, struct pj_buffer *bytes)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_FREE char *path = pj_path_join(GOLDEN, name);
    expect_success(pj_file_read(AT_FDCWD, path, 1 << 20, bytes, &err), &err);
}

/* What is learned from `path` below `folder`: the stamp, or "" where the format counts as another one. */
static void expect_learned(const char *folder, const char *path, const struct pj_buffer *image,
                           uint16_t arch_number, const char *stamp)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_session session;
    memset(&session, 0, sizeof session);
    const struct pj_probe probe = {.fd = -1, .text = image->data, .size = image->size};
    expect_success(pj_probe_learn(&session, &probe, folder, path, arch_number, &err), &err);
    assert_int_equal(session.format, stamp[0] ? PJ_FORMAT_KNOWN : PJ_FORMAT_OTHER);
    assert_string_equal(session.stamp ? session.stamp : "", stamp);
    pj_arena_free(&session.arena);
}

static void test_golden(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *path, *image;
        uint16_t arch_number;
        const char *stamp;
    } cases[] = {
        {"plain", ENTRY, "inputs/axpb.ptx", 90, STAMP},
        {"library", ENTRY, "inputs/axpb.ptx", 90, STAMP},
        {"foreign_80", "0/f/936157d6e3da30", "inputs/axpb.ptx", 80, STAMP},
        {"crlf", "b/6/dacea9b89b8ed3", "inputs/axpb_crlf.ptx", 90, STAMP},
        /* Sound, but not the entry of this image, of this GPU, without options. */
        {"plain", ENTRY, "inputs/axpb.ptx", 80, ""},
        {"plain", ENTRY, "inputs/axpb_crlf.ptx", 90, ""},
        {"opt_debug", "3/b/5fee838ec8f74d", "inputs/axpb.ptx", 90, ""},
        {"nvjitlink", "4/d/9686d1f0f9331a", "inputs/axpb.ptx", 90, ""},
        /* Not there, or no entry's name. */
        {"plain", "c/a/920786966c763e", "inputs/axpb.ptx", 90, ""},
        {"plain", "index", "inputs/axpb.ptx", 90, ""},
        {"nul", "../plain/" ENTRY, "inputs/axpb.ptx", 90, ""},
        {"plain", GOLDEN "/plain/" ENTRY, "inputs/axpb.ptx", 90, ""},
        {"plain", "", "inputs/axpb.ptx", 90, ""},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
        PJ_CLEANUP_FREE char *folder = pj_path_join(GOLDEN, cases[i].folder);
        read_golden(cases[i].image, &image);
        expect_learned(folder, cases[i].path, &image, cases[i].arch_number, cases[i].stamp);
    }
}

static void test_damaged(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer entry = {0};
    read_golden("inputs/axpb.ptx", &image);
    read_golden("plain/" ENTRY, &entry);
    folder_write_bytes(&folder, ENTRY, entry.data, entry.size);
    expect_learned(folder.path, ENTRY, &image, 90, STAMP);
    for (size_t size = 0; size < entry.size; size += size < 100 ? 1 : 13) {
        folder_write_bytes(&folder, ENTRY, entry.data, size);
        expect_learned(folder.path, ENTRY, &image, 90, "");
    }
    for (size_t at = 0; at < entry.size; at += at < 100 ? 1 : 13) {
        entry.data[at] ^= 0x20;
        folder_write_bytes(&folder, ENTRY, entry.data, entry.size);
        expect_learned(folder.path, ENTRY, &image, 90, "");
        entry.data[at] ^= 0x20;
    }
    pj_buffer_putc(&entry, 'x');
    folder_write_bytes(&folder, ENTRY, entry.data, entry.size);
    expect_learned(folder.path, ENTRY, &image, 90, "");
}

/* In the entry's place something that must not be waited for or read without end. */
static void test_no_file(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, ENTRY);
    PJ_CLEANUP_FREE char *parent = pj_path_join(folder.path, "c/a");
    read_golden("inputs/axpb.ptx", &image);
    assert_int_equal(pj_directory_create(parent, 0700, NULL), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_learned(folder.path, ENTRY, &image, 90, "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    expect_learned(folder.path, ENTRY, &image, 90, "");
    assert_int_equal(unlink(path), 0);
    folder_write(&folder, ENTRY, "");
    assert_int_equal(truncate(path, INT64_C(1) << 33), 0);
    expect_learned(folder.path, ENTRY, &image, 90, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
