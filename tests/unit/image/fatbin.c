/* SPDX-License-Identifier: Apache-2.0 */
/* Fatbins of nvcc 13.0, whole, cut, damaged, one behind the other, and of the shape that hangs the driver. */
#include "data.h"

#include "image/fatbin.h"

enum { ENTRIES_MAX = 8 };

struct walk {
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entries[ENTRIES_MAX];
    size_t count;
};

/* All entries; the status that ended the walk. */
static int walk_bytes(const void *bytes, size_t size, struct walk *ret_walk, struct pj_error **err)
{
    *ret_walk = (struct walk){0};
    int status = pj_fatbin_start(bytes, size, &ret_walk->fatbin, err);
    if (status < 0)
        return status;
    while (ret_walk->count < ENTRIES_MAX &&
           (status = pj_fatbin_next(&ret_walk->fatbin, &ret_walk->entries[ret_walk->count], err)) > 0)
        ret_walk->count++;
    return status;
}

struct expected {
    enum pj_code_kind kind;
    struct pj_arch arch;
    uint16_t major, minor;
    uint64_t flags;
    enum pj_packing packing;
    bool scrambled;
    size_t header, payload, size, padded, plain;
    const char *options, *name; /* NULL: none */
};

static const struct {
    const char *file;
    size_t count;
    struct expected entries[3];
} files[] = {
    {"link/rdc.fatbin",
     2,
     {{PJ_CODE_CUBIN, {90, 0}, 1, 8, 0x8011, PJ_PACKING_ZSTD, false, 16, 80, 928, 928, 3352, NULL, NULL},
      {PJ_CODE_PTX,
       {90, 0},
       9,
       0,
       0x8011,
       PJ_PACKING_ZSTD,
       false,
       1008,
       1104,
       203,
       208,
       300,
       "--compile-only  ",
       NULL}}},
    {"link/stored.fatbin",
     2,
     {{PJ_CODE_CUBIN, {90, 0}, 1, 8, 0x11, PJ_PACKING_NONE, false, 16, 80, 3352, 3352, 3352, NULL, NULL},
      {PJ_CODE_PTX,
       {90, 0},
       9,
       0,
       0x11,
       PJ_PACKING_NONE,
       false,
       3432,
       3528,
       304,
       304,
       304,
       "--compile-only  ",
       NULL}}},
    {"link/letters.fatbin",
     3,
     {{PJ_CODE_PTX, {80, 0}, 9, 0, 0x8011, PJ_PACKING_ZSTD, false, 16, 96, 195, 200, 300, "", NULL},
      {PJ_CODE_CUBIN,
       {90, 'a'},
       1,
       8,
       0x108011,
       PJ_PACKING_ZSTD,
       false,
       296,
       360,
       867,
       872,
       3568,
       NULL,
       NULL},
      {PJ_CODE_PTX,
       {100, 'f'},
       9,
       0,
       0x208011,
       PJ_PACKING_ZSTD,
       false,
       1232,
       1312,
       204,
       208,
       314,
       "",
       NULL}}},
    {"link/lz4.fatbin",
     1,
     {{PJ_CODE_PTX, {90, 0}, 9, 0, 0x2011, PJ_PACKING_LZ4, false, 16, 96, 240, 240, 300, "", NULL}}},
    {"link/options.fatbin",
     1,
     {{PJ_CODE_PTX,
       {90, 0},
       9,
       0,
       0x8011,
       PJ_PACKING_ZSTD,
       false,
       16,
       144,
       232,
       232,
       349,
       "-O1  -maxrregcount=64 --generate-line-info ",
       "k.cu"}}},
    {"link/lto.fatbin",
     2,
     {{PJ_CODE_PTX,
       {90, 0},
       9,
       0,
       0x8011,
       PJ_PACKING_ZSTD,
       false,
       16,
       112,
       203,
       208,
       300,
       "--compile-only  ",
       NULL},
      {PJ_CODE_LTOIR,
       {100, 'f'},
       1,
       65,
       0x218011,
       PJ_PACKING_ZSTD,
       true,
       320,
       440,
       2061,
       2064,
       2536,
       "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ",
       NULL}}},
    {"link/lto_stored.fatbin",
     1,
     {{PJ_CODE_LTOIR,
       {90, 0},
       1,
       65,
       0x11,
       PJ_PACKING_NONE,
       false,
       16,
       136,
       2024,
       2024,
       2024,
       "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ",
       NULL}}},
};

static void check_text(const char *text, size_t size, const char *expected)
{
    assert_int_equal(text != NULL, expected != NULL);
    assert_int_equal(size, expected ? strlen(expected) : 0);
    if (expected)
        assert_memory_equal(text, expected, size);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct walk walk;
        data_read(files[i].file, &bytes);
        char *memory = data_odd_copy(bytes.data, bytes.size);
        assert_int_equal(walk_bytes(memory + 1, bytes.size, &walk, NULL), 0);
        assert_int_equal(walk.count, files[i].count);
        assert_int_equal(walk.fatbin.containers, 1);
        assert_int_equal(walk.fatbin.at, bytes.size);
        for (size_t k = 0; k < walk.count; k++) {
            const struct pj_fatbin_entry *entry = &walk.entries[k];
            const struct expected *expected = &files[i].entries[k];
            assert_int_equal(entry->kind, expected->kind);
            assert_int_equal(pj_arch_compare(entry->arch, expected->arch), 0);
            assert_int_equal(entry->major, expected->major);
            assert_int_equal(entry->minor, expected->minor);
            assert_int_equal(entry->flags, expected->flags);
            assert_int_equal(entry->packing, expected->packing);
            assert_int_equal(entry->scrambled, expected->scrambled);
            assert_int_equal(entry->header_offset, expected->header);
            assert_int_equal(entry->payload_offset, expected->payload);
            assert_int_equal(entry->payload_size, expected->size);
            assert_int_equal(entry->padded_size, expected->padded);
            assert_int_equal(entry->plain_size, expected->plain);
            check_text(entry->options, entry->options_size, expected->options);
            check_text(entry->name, entry->name_size, expected->name);
            assert_false(entry->bad_shape);
        }
        free(memory);
    }
}

/* Every shorter file is refused, and nothing behind its end is read. */
static void test_cut(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read("link/rdc.fatbin", &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct walk walk;
        char *memory = data_odd_copy(bytes.data, size);
        assert_int_equal(walk_bytes(memory + 1, size, &walk, &error), PJ_ERROR_FORMAT);
        assert_non_null(strstr(pj_error_message(error), size < 4 ? "no fatbin" : "cut fatbin"));
        free(memory);
    }
}

/* Offsets into the entry's header, which starts at byte 16 of the file. */
enum {
    VERSION_AT = 4,
    HEADER_AT = 6,
    LENGTH_AT = 8,
    ENTRY = 16,
    KIND_AT = ENTRY,
    ENTRY_HEADER_AT = ENTRY + 4,
    PADDED_AT = ENTRY + 8,
    PACKED_AT = ENTRY + 16,
    OPTIONS_AT = ENTRY + 20,
    ARCH_AT = ENTRY + 28,
    NAME_SIZE_AT = ENTRY + 36,
    FLAGS_AT = ENTRY + 40,
    OPTIONS_SIZE_AT = ENTRY + 76,
};

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *message;
    } rows[] = {
        {0, 1, 'x', "no fatbin: it does not start with 50 ed 55 ba"},
        {VERSION_AT, 2, 2,
         "fatbin layout not known: the container at byte 0 has version 2 and a header of 16 bytes, not 1 and "
         "16"},
        {HEADER_AT, 2, 24,
         "fatbin layout not known: the container at byte 0 has version 1 and a header of 24 bytes, not 1 and "
         "16"},
        {LENGTH_AT, 8, 361,
         "cut fatbin: the container at byte 0 is 361 bytes long, and 360 follow its header"},
        {LENGTH_AT, 8, UINT64_MAX,
         "cut fatbin: the container at byte 0 is 18446744073709551615 bytes long, and 360 follow its header"},
        {LENGTH_AT, 8, 60, "damaged fatbin: 60 bytes at byte 16, where an entry has a header of at least 64"},
        {ENTRY_HEADER_AT, 4, 63,
         "damaged fatbin: the entry at byte 16 has a header of 63 bytes, not 64 to 360"},
        {ENTRY_HEADER_AT, 4, 361,
         "damaged fatbin: the entry at byte 16 has a header of 361 bytes, not 64 to 360"},
        {PADDED_AT, 8, 233, "damaged fatbin: the entry at byte 16 has 233 bytes, and its container 232"},
        {PADDED_AT, 8, UINT64_MAX,
         "damaged fatbin: the entry at byte 16 has 18446744073709551615 bytes, and its container 232"},
        {PACKED_AT, 4, 233, "damaged fatbin: the entry at byte 16 has 233 packed bytes in 232"},
        {NAME_SIZE_AT, 4, 65,
         "damaged fatbin: the entry at byte 16 has its name of 65 bytes at byte 64 of a header of 128 bytes"},
        {OPTIONS_SIZE_AT, 4, 49,
         "damaged fatbin: the entry at byte 16 has its options of 49 bytes at byte 80 of a header of 128 "
         "bytes"},
        {ARCH_AT, 4, 65536,
         "damaged fatbin: the entry at byte 16 is for architecture 65536, and 65535 is the highest that "
         "could "
         "be"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct walk walk;
        data_read("link/options.fatbin", &bytes);
        data_set(&bytes, rows[i].at, rows[i].size, rows[i].value);
        assert_int_equal(walk_bytes(bytes.data, bytes.size, &walk, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(walk.count, 0);
    }
}

/* What this version does not know is said to be unknown. */
static void test_unknown(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct walk walk;
    data_read("link/options.fatbin", &bytes);
    data_set(&bytes, KIND_AT, 2, 16);
    data_set(&bytes, FLAGS_AT, 8, 0xa011);
    data_set(&bytes, OPTIONS_AT, 4, 121); /* its two numbers would not fit */
    assert_int_equal(walk_bytes(bytes.data, bytes.size, &walk, NULL), 0);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.entries[0].kind, PJ_CODE_OTHER);
    assert_int_equal(walk.entries[0].kind_number, 16);
    assert_int_equal(walk.entries[0].packing, PJ_PACKING_OTHER);
    assert_null(walk.entries[0].options);
    data_set(&bytes, OPTIONS_AT, 4, 24); /* among the fixed fields */
    assert_int_equal(walk_bytes(bytes.data, bytes.size, &walk, NULL), 0);
    assert_null(walk.entries[0].options);
}

/* Packed, and the exact size is not recorded: it is not known to be less than the padded one. */
static void test_no_exact_size(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct walk walk;
    data_read("link/rdc.fatbin", &bytes);
    data_set(&bytes, 1008 + 16, 4, 0);
    assert_int_equal(walk_bytes(bytes.data, bytes.size, &walk, NULL), 0);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.entries[1].payload_size, 208);
    assert_int_equal(walk.entries[1].plain_size, 300);
}

/* Containers one behind the other, with NULs between them, as in an ELF section; then something else. */
static void test_several(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer one = {0}, all = {0};
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    static const char empty[16] = {0x50, (char)0xed, 0x55, (char)0xba, 1, 0, 16};
    struct walk walk;
    data_read("link/lz4.fatbin", &one);
    pj_buffer_append(&all, empty, sizeof empty);
    pj_buffer_append(&all, one.data, one.size);
    pj_buffer_append(&all, "\0\0\0\0\0\0\0\0", 8);
    pj_buffer_append(&all, one.data, one.size);
    pj_buffer_append(&all, "\0\0\0\0", 4);
    assert_int_equal(walk_bytes(all.data, all.size, &walk, NULL), 0);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.fatbin.containers, 3);
    assert_int_equal(walk.entries[0].header_offset, 32);
    assert_int_equal(walk.entries[1].header_offset, 376);
    assert_int_equal(walk.fatbin.at, all.size);
    assert_int_equal(pj_fatbin_next(&walk.fatbin, &walk.entries[0], NULL), 0);

    pj_buffer_puts(&all, "tail");
    assert_int_equal(walk_bytes(all.data, all.size, &walk, NULL), 0);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.fatbin.at, all.size - 4);

    pj_buffer_append(&all, one.data, 12);
    data_set(&all, all.size - 16, 4, 0);
    assert_int_equal(walk_bytes(all.data, all.size, &walk, &error), PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(error),
                        "cut fatbin: the container at byte 704 has 12 bytes of its header of 16");
    assert_int_equal(walk.count, 2);
}

/* Appends a container of PTX entries of the sizes given, each followed by so many NULs. */
static void put_container(struct pj_buffer *bytes, const size_t (*entries)[2], size_t count)
{
    size_t length = 0, at = bytes->size;
    for (size_t i = 0; i < count; i++)
        length += 64 + entries[i][0] + entries[i][1];
    for (size_t i = 0; i < 16 + length; i++)
        pj_buffer_putc(bytes, '\0');
    data_set(bytes, at, 4, 0xba55ed50);
    data_set(bytes, at + VERSION_AT, 2, 1);
    data_set(bytes, at + HEADER_AT, 2, 16);
    data_set(bytes, at + LENGTH_AT, 8, length);
    at += 16;
    for (size_t i = 0; i < count; at += 64 + entries[i][0] + entries[i][1], i++) {
        data_set(bytes, at, 2, 1);
        data_set(bytes, at + 4, 4, 64);
        data_set(bytes, at + 8, 8, entries[i][0]);
        data_set(bytes, at + 28, 4, 90);
        memset(bytes->data + at + 64, 'p', entries[i][0]);
    }
}

/* A size that is no multiple of 8 with padding behind it inside the container hangs the driver [14]. */
static void test_bad_shape(void **state)
{
    (void)state;
    static const struct {
        size_t entries[2][2], count;
        bool bad[2];
    } rows[] = {
        {{{13, 0}}, 1, {false}}, /* exact, nothing behind it: works */
        {{{16, 0}}, 1, {false}}, /* padded inside the size: works */
        {{{16, 8}}, 1, {false}}, /* padding, but a good size */
        {{{13, 3}}, 1, {true}},
        {{{13, 1}}, 1, {true}},
        {{{13, 99}}, 1, {true}},
        {{{13, 3}, {16, 0}}, 2, {true, false}}, /* the next one is aligned */
        {{{13, 0}, {16, 0}}, 2, {true, false}}, /* and here it is not */
        {{{16, 0}, {13, 3}}, 2, {false, true}},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct walk walk;
        put_container(&bytes, rows[i].entries, rows[i].count);
        assert_int_equal(walk_bytes(bytes.data, bytes.size, &walk, NULL), 0);
        assert_int_equal(walk.count, rows[i].count);
        assert_int_equal(walk.fatbin.at, bytes.size);
        for (size_t k = 0; k < walk.count; k++) {
            assert_int_equal(walk.entries[k].bad_shape, rows[i].bad[k]);
            assert_int_equal(walk.entries[k].payload_size, rows[i].entries[k][0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_several),       cmocka_unit_test(test_bad_shape),
        cmocka_unit_test(test_no_exact_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
