/* SPDX-License-Identifier: Apache-2.0 */
/* Entries put together from an image and a payload: the driver's own files come out, byte for byte. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "cache/assemble.h"
#include "cache/format.h"
#include "cache/snapshot.h"
#include "fixture.h"

/* Caches of the driver; what plain PTX went into has its input's name, else the image is not that of PTX. */
static const struct {
    const char *folder;
    size_t entries;
    const char *inputs[2]; /* of which each entry has one */
} caches[] = {
    {"plain", 1, {"axpb.ptx"}},      {"library", 1, {"axpb.ptx"}},
    {"nul", 1, {"axpb_nul.ptx"}},    {"crlf", 1, {"axpb_crlf.ptx"}},
    {"nonl", 1, {"axpb_nonl.ptx"}},  {"sm90a", 1, {"axpb_90a.ptx"}},
    {"foreign_80", 1, {"axpb.ptx"}}, {"foreign_100", 1, {"axpb.ptx"}},
    {"opt_all", 1, {"axpb.ptx"}},    {"opt_bounds", 1, {"axpb.ptx"}},
    {"opt_debug", 1, {"axpb.ptx"}},  {"opt_gmax", 1, {"axpb.ptx"}},
    {"opt_split", 1, {"axpb.ptx"}},  {"link", 2, {"link_a.ptx", "link_b.ptx"}},
    {"link_opt", 1, {"axpb.ptx"}},   {"fat_none", 1, {NULL}},
    {"fat_two_ptx_86", 1, {NULL}},
};

static void read_data(const char *folder, const char *name, struct pj_buffer *ret_bytes)
{
    char path[512];
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    (void)snprintf(path, sizeof path, "%s/%s/%s", CACHE_DATA, folder, name);
    if (pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, &err) < 0)
        fail_msg("%s", pj_error_message(err));
}

/* An entry of the driver, taken apart. */
struct taken {
    struct pj_buffer file;
    struct pj_cache_key key;
    char options[256];
    const char *payload;
    size_t payload_size;
};

static void take(const char *folder, uint64_t hash, struct taken *ret_taken)
{
    char name[PJ_ENTRY_PATH_TEXT];
    struct pj_entry_header header;
    *ret_taken = (struct taken){.file = {.data = NULL}};
    read_data(folder, pj_entry_path(hash, name), &ret_taken->file);
    pj_entry_header_read((const unsigned char *)ret_taken->file.data, &header);
    const char *key = ret_taken->file.data + PJ_ENTRY_HEADER_BYTES;
    assert_int_equal(pj_cache_key_read(key, header.key_bytes, &ret_taken->key, NULL), 0);
    assert_true(ret_taken->key.options_size < sizeof ret_taken->options);
    memcpy(ret_taken->options, ret_taken->key.options, ret_taken->key.options_size);
    ret_taken->payload = key + header.key_bytes;
    ret_taken->payload_size = header.payload_bytes;
}

static void expect_file(const struct pj_buffer *file, uint64_t hash, const struct taken *taken,
                        uint64_t taken_hash)
{
    assert_int_equal(hash, taken_hash);
    assert_int_equal(file->size, 2 + taken->file.size);
    assert_memory_equal(file->data, "ab", 2); /* it is appended */
    assert_memory_equal(file->data + 2, taken->file.data, taken->file.size);
}

/* The program's own file, not the key's image: what it has behind a NUL is not part of the key. */
static bool assembles_from_input(const struct taken *taken, const char *input, uint64_t taken_hash)
{
    PJ_CLEANUP_BUFFER struct pj_buffer image = {.data = NULL}, file = {.data = NULL};
    uint64_t hash = 0;
    read_data("inputs", input, &image);
    pj_buffer_puts(&file, "ab");
    assert_int_equal(pj_entry_assemble(taken->key.stamp, taken->key.arch_number, image.data, image.size,
                                       taken->options, taken->payload, taken->payload_size, &file, &hash,
                                       NULL),
                     0);
    if (hash != taken_hash)
        return false;
    expect_file(&file, hash, taken, taken_hash);
    return true;
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(caches); i++) {
        struct pj_snapshot snapshot;
        PJ_CLEANUP_FREE char *path = pj_path_join(CACHE_DATA, caches[i].folder);
        assert_int_equal(pj_snapshot_take(path, &snapshot, NULL), 0);
        assert_int_equal(snapshot.count, caches[i].entries);
        for (size_t k = 0; k < snapshot.count; k++) {
            uint64_t taken_hash = snapshot.entries[k].hash, hash = 0;
            PJ_CLEANUP_BUFFER struct pj_buffer file = {.data = NULL};
            struct taken taken;
            take(caches[i].folder, taken_hash, &taken);
            assert_string_equal(taken.key.stamp, STAMP);
            pj_buffer_puts(&file, "ab");
            assert_int_equal(pj_entry_assemble_exact(taken.key.stamp, taken.key.arch_number, taken.key.image,
                                                     taken.key.image_size, taken.options, taken.payload,
                                                     taken.payload_size, &file, &hash, NULL),
                             0);
            expect_file(&file, hash, &taken, taken_hash);
            bool found = !caches[i].inputs[0];
            for (size_t n = 0; n < 2 && caches[i].inputs[n] && !found; n++)
                found = assembles_from_input(&taken, caches[i].inputs[n], taken_hash);
            if (!found)
                fail_msg("%s: none of its inputs gives the entry", caches[i].folder);
            pj_buffer_free(&taken.file);
        }
        pj_snapshot_free(&snapshot);
    }
}

/* What the store asks of an entry, the assembled one has; the name and the key go together. */
static void test_names(void **state)
{
    static const char ptx[] = ".version 9.0\n.target sm_90\n";
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer file = {.data = NULL};
    uint64_t hash = 0;
    assert_int_equal(
        pj_entry_assemble(STAMP, 90, ptx, sizeof ptx - 1, "-c -O2", "cubin", 5, &file, &hash, NULL), 0);
    assert_int_equal(hash, pj_cache_key_hash(STAMP, 90, ptx, sizeof ptx - 1, "-c -O2"));
    assert_int_equal(file.size, 28 + sizeof STAMP - 1 + 11 + sizeof ptx + 7 + 5);
    assert_memory_equal(file.data + file.size - 5, "cubin", 5);
    assert_int_equal(pj_entry_assemble(STAMP, 90, NULL, 0, "", "cubin", 5, &file, &hash, NULL), 0);
    assert_int_equal(hash, pj_cache_key_hash(STAMP, 90, NULL, 0, ""));
}

#define LONG_STAMP "0123456789012345678901234567890123456789012345678901234567890123"

static void test_refused(void **state)
{
    static const struct {
        const char *stamp;
        uint16_t arch_number;
        const char *image, *options;
        size_t payload_size;
        const char *message;
    } wrong[] = {
        {"", 90, "x", "", 1, "a build stamp has 1 to 63 characters, this one none"},
        {LONG_STAMP, 90, "x", "", 1, "a build stamp has 1 to 63 characters, this one more"},
        {"a\nb", 90, "x", "", 1, "the key's build stamp holds the byte 0x0a"},
        {"aHOST64sm_80b", 90, "x", "", 1,
         "the key does not read back as the stamp \"aHOST64sm_80b\", architecture 90, an image of 2 bytes "
         "and "
         "the options \"\""},
        {STAMP, 0, "x", "", 1, "the key names no architecture behind \"HOST64sm_\""},
        {STAMP, 90, "5x", "-c", 1,
         "the key does not read back as the stamp \"" STAMP
         "\", architecture 90, an image of 3 bytes and the "
         "options \"-c\""},
        {STAMP, 90, "x", "", 0, "the driver believes no entry without a payload"},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(wrong); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer file = {.data = NULL};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        uint64_t hash = 7;
        pj_buffer_puts(&file, "ab");
        assert_int_equal(pj_entry_assemble(wrong[i].stamp, wrong[i].arch_number, wrong[i].image,
                                           strlen(wrong[i].image), wrong[i].options, "p",
                                           wrong[i].payload_size, &file, &hash, &err),
                         PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(err), wrong[i].message);
        assert_int_equal(hash, 7);
        assert_string_equal(pj_buffer_text(&file), "ab");
        assert_int_equal(file.size, 2);
    }
    /* An image that is not what lies in keys: its NUL is missing. */
    PJ_CLEANUP_BUFFER struct pj_buffer file = {.data = NULL};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    uint64_t hash = 7;
    assert_int_equal(pj_entry_assemble_exact(STAMP, 90, "x", 1, "", "p", 1, &file, &hash, &err),
                     PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(err), "the key's image does not end in a NUL and a space");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
