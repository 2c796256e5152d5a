/* SPDX-License-Identifier: Apache-2.0 */
/* Fatbins that prejit writes: read back by prejit, and held against those of NVIDIA's fatbinary where it is
 * installed; and what of a fatbin's PTX stands in a key. */
#include "data.h"

#include <stdio.h>
#include <unistd.h>

#include "image/fatbin_key.h"
#include "image/fatbin_write.h"

/* What the real driver made. */
#define GOLDEN "../driver/golden/"

/* As fatbinary leaves PTX: without indentation and comments, so that it takes this as it is. */
static const char kernel[] = ".version 6.4\n"
                             ".target sm_75\n"
                             ".address_size 64\n"
                             ".visible .entry axpb(\n"
                             ".param .u64 axpb_param_0,\n"
                             ".param .u32 axpb_param_1\n"
                             ")\n"
                             "{\n"
                             ".reg .b32 %r<4>;\n"
                             "ld.param.u32 %r1, [axpb_param_1];\n"
                             "mad.lo.s32 %r2, %r1, 3, 1;\n"
                             "mad.lo.s32 %r3, %r2, 3, 1;\n"
                             "ret;\n"
                             "}\n";

static const struct packing_case {
    enum pj_packing packing;
    uint64_t flags;
    const char *mode; /* of fatbinary */
} packings[] = {
    {PJ_PACKING_NONE, 0x11, "none"},
    {PJ_PACKING_LZ4, 0x2011, "speed"},
    {PJ_PACKING_ZSTD, 0x8011, "balance"},
};

static void write_text(const char *text, size_t size, enum pj_packing packing, struct pj_buffer *ret_bytes)
{
    const struct pj_fatbin_ptx ptx = {
        .text = text, .size = size, .arch = 75, .version = {6, 4}, .packing = packing};
    assert_int_equal(pj_fatbin_write(&ptx, ret_bytes, NULL), 0);
}

/* The only entry. */
static void read_entry(const struct pj_buffer *bytes, struct pj_fatbin *ret_fatbin,
                       struct pj_fatbin_entry *ret_entry)
{
    struct pj_fatbin_entry more;
    assert_int_equal(pj_fatbin_start(bytes->data, bytes->size, ret_fatbin, NULL), 0);
    assert_int_equal(pj_fatbin_next(ret_fatbin, ret_entry, NULL), 1);
    assert_int_equal(pj_fatbin_next(ret_fatbin, &more, NULL), 0);
    assert_int_equal(ret_fatbin->at, bytes->size);
}

static void read_key_image(const struct pj_buffer *bytes, struct pj_buffer *ret_image)
{
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    read_entry(bytes, &fatbin, &entry);
    assert_int_equal(pj_fatbin_key_image(&fatbin, &entry, ret_image, NULL), 0);
}

static void check_round_trip(const struct packing_case *of, const char *text, size_t size)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    bool packed = of->packing != PJ_PACKING_NONE;
    write_text(text, size, of->packing, &bytes);
    read_entry(&bytes, &fatbin, &entry);
    assert_int_equal(entry.kind, PJ_CODE_PTX);
    assert_int_equal(entry.arch.number, 75);
    assert_int_equal(entry.arch.letter, 0);
    assert_int_equal(entry.major, 6);
    assert_int_equal(entry.minor, 4);
    assert_int_equal(entry.packing, of->packing);
    assert_int_equal(entry.flags, of->flags);
    assert_int_equal(entry.payload_offset, 96);
    assert_int_equal(entry.padded_size % 8, 0);
    assert_int_equal(entry.padded_size, (entry.payload_size + 7) / 8 * 8);
    assert_int_equal(entry.plain_size, packed ? size + 1 : entry.payload_size);
    assert_int_equal(entry.options_size, 0);
    assert_non_null(entry.options);
    assert_null(entry.name);
    assert_false(entry.bad_shape);
    assert_int_equal(pj_fatbin_key_image(&fatbin, &entry, &image, NULL), 0);
    /* [3]: stored, the NULs that pad it; packed, its own NUL and one more. */
    size_t expected = packed ? size + 2 : (size + 1 + 7) / 8 * 8;
    assert_int_equal(image.size, expected);
    assert_memory_equal(image.data, text, size);
    for (size_t i = size; i < expected; i++)
        assert_int_equal(image.data[i], 0);
}

static void test_round_trip(void **state)
{
    (void)state;
    enum { LARGE = 100000 };
    char *large = malloc(LARGE);
    assert_non_null(large);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('!' + (i * i / 7) % 90); /* the same again at times */
    for (size_t i = 0; i < PJ_COUNT(packings); i++) {
        for (size_t size = 1; size <= 64; size++)
            check_round_trip(&packings[i], kernel, size);
        check_round_trip(&packings[i], kernel, sizeof kernel - 1);
        check_round_trip(&packings[i], large, LARGE);
    }
    free(large);
}

static void test_appended(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    pj_buffer_puts(&bytes, "before");
    write_text(kernel, sizeof kernel - 1, PJ_PACKING_NONE, &bytes);
    assert_memory_equal(bytes.data, "before\x50\xed\x55\xba", 10);
}

static void test_packed_is_smaller(void **state)
{
    (void)state;
    size_t sizes[3];
    for (size_t i = 0; i < PJ_COUNT(packings); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        write_text(kernel, sizeof kernel - 1, packings[i].packing, &bytes);
        sizes[i] = bytes.size;
    }
    assert_true(sizes[1] < sizes[0]);
    assert_true(sizes[2] < sizes[1]);
}

static void assert_refused(struct pj_fatbin_ptx ptx, int code, const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_fatbin_write(&ptx, &bytes, &err), code);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(bytes.size, 0);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused((struct pj_fatbin_ptx){.text = ""}, PJ_ERROR_FORMAT,
                   "PTX of 0 bytes does not go into a fatbin: allowed are 1 to 67108864");
    assert_refused((struct pj_fatbin_ptx){.text = "", .size = 67108865}, PJ_ERROR_FORMAT,
                   "PTX of 67108865 bytes does not go into a fatbin: allowed are 1 to 67108864");
    assert_refused((struct pj_fatbin_ptx){.text = "ab\0", .size = 3}, PJ_ERROR_FORMAT,
                   "PTX with a NUL does not go into a fatbin: there is one at byte 2");
    assert_refused((struct pj_fatbin_ptx){.text = "ab", .size = 2, .packing = PJ_PACKING_OTHER},
                   PJ_ERROR_INTERNAL, "packing 3 of a fatbin is not known");
}

/* The key's part of the PTX in a file that nvcc made. */
static void check_file(const char *name, size_t skip, size_t expected)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    data_read(name, &bytes);
    assert_int_equal(pj_fatbin_start(bytes.data, bytes.size, &fatbin, NULL), 0);
    for (size_t i = 0; i <= skip; i++)
        assert_int_equal(pj_fatbin_next(&fatbin, &entry, NULL), 1);
    assert_int_equal(pj_fatbin_key_image(&fatbin, &entry, &image, NULL), 0);
    assert_int_equal(image.size, expected);
    assert_int_equal(strlen(image.data), 299);
    assert_non_null(strstr(image.data, "\n.version 9.0\n.target sm_90\n"));
}

static void test_key_of_nvcc(void **state)
{
    (void)state;
    check_file("link/stored.fatbin", 1, 304);
    check_file("link/rdc.fatbin", 1, 301);
    check_file("link/lz4.fatbin", 0, 301);
}

/* What the driver itself put into the key of an entry that it made of a fatbin. */
static void check_entry(const char *name, size_t skip, const char *entry_file)
{
    static const char before[] = "HOST64sm_90", behind[] = " \177ELF";
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer file = {0};
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    data_read(name, &bytes);
    data_read(entry_file, &file);
    assert_int_equal(pj_fatbin_start(bytes.data, bytes.size, &fatbin, NULL), 0);
    for (size_t i = 0; i <= skip; i++)
        assert_int_equal(pj_fatbin_next(&fatbin, &entry, NULL), 1);
    assert_int_equal(pj_fatbin_key_image(&fatbin, &entry, &image, NULL), 0);
    pj_buffer_append(&image, behind, sizeof behind - 1);
    const char *at = memmem(file.data, file.size, before, sizeof before - 1);
    assert_non_null(at);
    at += sizeof before - 1;
    assert_true(image.size <= file.size - (size_t)(at - file.data));
    assert_memory_equal(at, image.data, image.size);
}

static void test_key_of_driver(void **state)
{
    (void)state;
    check_entry(GOLDEN "inputs/axpb.none.fatbin", 0, GOLDEN "fat_none/d/8/3265279ca39f5c");
    check_entry(GOLDEN "inputs/axpb.speed.fatbin", 0, GOLDEN "fat_speed/d/8/3265279ca39f5c");
    check_entry(GOLDEN "inputs/axpb.size.fatbin", 0, GOLDEN "fat_size/d/8/3265279ca39f5c");
    check_entry(GOLDEN "inputs/axpb.balance.fatbin", 0, GOLDEN "fat_balance/d/8/3265279ca39f5c");
    check_entry(GOLDEN "inputs/axpb.two_ptx.fatbin", 1, GOLDEN "fat_two_ptx/a/c/23459752040f37");
}

/* Where an entry's numbers lie in what is written. */
enum { KIND = 16, PACKED_SIZE = 16 + 16, FLAGS = 16 + 40, PLAIN_SIZE = 16 + 56, PAYLOAD = 96 };

static void assert_no_key(enum pj_packing packing, size_t at, size_t size, uint64_t value,
                          const char *message)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    write_text(kernel, sizeof kernel - 1, packing, &bytes);
    data_set(&bytes, at, size, value);
    read_entry(&bytes, &fatbin, &entry);
    pj_buffer_puts(&image, "x");
    assert_int_equal(pj_fatbin_key_image(&fatbin, &entry, &image, &err), PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(err), message);
    assert_int_equal(image.size, 1);
}

static void test_no_key(void **state)
{
    (void)state;
    static const char wrong_size[] =
        "the fatbin's entry at byte 16 does not unpack to the size that it records";
    assert_no_key(PJ_PACKING_NONE, KIND, 2, 2, "the fatbin's entry at byte 16 is no PTX");
    assert_no_key(PJ_PACKING_NONE, FLAGS, 8, 0xa011,
                  "the fatbin's entry at byte 16 is packed in a way that is not known");
    assert_no_key(PJ_PACKING_ZSTD, FLAGS, 8, 0x18011,
                  "the fatbin's entry at byte 16 is packed in a way that is not known");
    for (size_t i = 1; i < PJ_COUNT(packings); i++) {
        enum pj_packing packing = packings[i].packing;
        assert_no_key(packing, PLAIN_SIZE, 8, sizeof kernel + 1, wrong_size);
        assert_no_key(packing, PLAIN_SIZE, 8, sizeof kernel - 1, wrong_size);
        assert_no_key(packing, PLAIN_SIZE, 8, 0, wrong_size);
        assert_no_key(packing, PACKED_SIZE, 4, 8, wrong_size);
        assert_no_key(packing, PAYLOAD, 4, UINT32_MAX, wrong_size);
        assert_no_key(packing, PLAIN_SIZE, 8, (UINT64_C(1) << 30) + 1,
                      "the fatbin's entry at byte 16 unpacks to more than 1 GiB, the most that prejit reads");
    }
    assert_no_key(PJ_PACKING_LZ4, PLAIN_SIZE, 8, UINT64_C(1) << 30,
                  "the fatbin's entry at byte 16 cannot unpack to the size that it records");
}

/* A tool of the CUDA toolkit; the test is skipped where it is not installed. */
static void find_tool(const char *name, char path[256])
{
    const char *home = getenv("CUDA_HOME");
    (void)snprintf(path, 256, "%s/bin/%s", home ? home : "/usr/local/cuda", name);
    if (access(path, X_OK) == 0)
        return;
    print_message("there is no %s\n", path);
    skip();
}

static void make_folder(char folder[64])
{
    (void)snprintf(folder, 64, "/tmp/prejit-fatbin-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void write_file(const char *folder, const char *name, const char *bytes, size_t size)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(folder, name);
    assert_non_null(path);
    assert_int_equal(pj_file_replace(AT_FDCWD, path, bytes, size, 0600, NULL), 0);
}

static void run_in(const char *folder, const char *command)
{
    char line[1024];
    (void)snprintf(line, sizeof line, "cd %s && %s", folder, command);
    if (system(line) != 0) /* NOLINT(cert-env33-c,concurrency-mt-unsafe): its own words, alone */
        fail_msg("%s", line);
}

static void make_by_fatbinary(const char *tool, const char *folder, const char *mode,
                              struct pj_buffer *ret_bytes)
{
    char command[600];
    PJ_CLEANUP_FREE char *made = pj_path_join(folder, "made.fatbin");
    assert_non_null(made);
    (void)snprintf(command, sizeof command,
                   "%s --64 --create=made.fatbin --compress-mode=%s --image3=kind=ptx,sm=75,file=k.ptx", tool,
                   mode);
    run_in(folder, command);
    assert_int_equal(pj_file_read(AT_FDCWD, made, 1 << 20, ret_bytes, NULL), 0);
}

/* Stored, every byte; packed, all but the payload and its size, since packers differ; and the key always. */
static void check_against(const struct packing_case *of, struct pj_buffer *theirs)
{
    PJ_CLEANUP_BUFFER struct pj_buffer ours = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer our_key = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer their_key = {0};
    write_text(kernel, sizeof kernel - 1, of->packing, &ours);
    read_key_image(&ours, &our_key);
    read_key_image(theirs, &their_key);
    assert_int_equal(our_key.size, their_key.size);
    assert_memory_equal(our_key.data, their_key.data, our_key.size);
    if (of->packing == PJ_PACKING_NONE) {
        assert_int_equal(ours.size, theirs->size);
    } else {
        struct pj_buffer *both[] = {&ours, theirs};
        for (size_t i = 0; i < PJ_COUNT(both); i++) {
            data_set(both[i], 8, 8, 0);       /* the container's size */
            data_set(both[i], 16 + 8, 12, 0); /* padded and packed size */
        }
    }
    assert_memory_equal(ours.data, theirs->data, of->packing == PJ_PACKING_NONE ? ours.size : PAYLOAD);
}

static void test_as_fatbinary(void **state)
{
    (void)state;
    char tool[256], folder[64];
    find_tool("fatbinary", tool);
    make_folder(folder);
    write_file(folder, "k.ptx", kernel, sizeof kernel - 1);
    for (size_t i = 0; i < PJ_COUNT(packings); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer theirs = {0};
        make_by_fatbinary(tool, folder, packings[i].mode, &theirs);
        check_against(&packings[i], &theirs);
    }
    assert_int_equal(pj_tree_remove(AT_FDCWD, folder, NULL), 0);
}

static void test_cuobjdump(void **state)
{
    (void)state;
    char tool[256], folder[64], command[600];
    find_tool("cuobjdump", tool);
    make_folder(folder);
    (void)snprintf(command, sizeof command, "%s --dump-ptx k.fatbin > dumped", tool);
    for (size_t i = 0; i < PJ_COUNT(packings); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer dumped = {0};
        PJ_CLEANUP_FREE char *path = pj_path_join(folder, "dumped");
        write_text(kernel, sizeof kernel - 1, packings[i].packing, &bytes);
        write_file(folder, "k.fatbin", bytes.data, bytes.size);
        run_in(folder, command);
        assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &dumped, NULL), 0);
        assert_non_null(strstr(dumped.data, kernel));
    }
    assert_int_equal(pj_tree_remove(AT_FDCWD, folder, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_appended),
        cmocka_unit_test(test_packed_is_smaller),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_key_of_nvcc),
        cmocka_unit_test(test_key_of_driver),
        cmocka_unit_test(test_no_key),
        cmocka_unit_test(test_as_fatbinary),
        cmocka_unit_test(test_cuobjdump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
