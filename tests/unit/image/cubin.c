/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins of the driver and of ptxas, whole, cut and changed. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "image/cubin.h"

static void read_file(const char *name, struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(TEST_DATA, name);
    assert_non_null(path);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, NULL), 0);
}

static const struct {
    const char *name;
    uint16_t number;
    int relocatable;
} files[] = {
    {"driver_sm_80.cubin", 80, 0},
    {"driver_sm_90.cubin", 90, 0},
    {"driver_sm_103.cubin", 103, 0},
    {"driver_sm_121.cubin", 121, 0},
    {"driver_sm_80_relocatable.cubin", 80, 1},
    {"driver_sm_90_relocatable.cubin", 90, 1},
    {"ptxas_sm_75.cubin", 75, 0},
    {"ptxas_sm_80.cubin", 80, 0},
    {"ptxas_sm_86.cubin", 86, 0},
    {"ptxas_sm_87.cubin", 87, 0},
    {"ptxas_sm_88.cubin", 88, 0},
    {"ptxas_sm_89.cubin", 89, 0},
    {"ptxas_sm_90_relocatable_memory.cubin", 90, 1}, /* .nv.shared and .nv.global have no bytes in it */
    {"ptxas_sm_90a.cubin", 90, 0},                   /* letters are not recorded */
    {"ptxas_sm_100.cubin", 100, 0},
    {"ptxas_sm_100f.cubin", 100, 0},
    {"ptxas_sm_100_relocatable.cubin", 100, 1},
    {"ptxas_sm_103a.cubin", 103, 0},
    {"ptxas_sm_110.cubin", 110, 0},
    {"ptxas_sm_120.cubin", 120, 0},
    {"ptxas_sm_121f.cubin", 121, 0},
};

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_cubin cubin = {0};
        read_file(files[i].name, &bytes);
        assert_int_equal(pj_cubin_read(bytes.data, bytes.size, &cubin, NULL), 0);
        assert_int_equal(cubin.arch_number, files[i].number);
        assert_int_equal(cubin.relocatable, files[i].relocatable);
    }
}

/* Every shorter file is refused, and nothing behind its end is read; payloads lie unaligned. */
static void test_cut(void **state)
{
    (void)state;
    static const char *const names[] = {"driver_sm_90.cubin", "driver_sm_90_relocatable.cubin",
                                        "ptxas_sm_120.cubin"};
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        read_file(names[i], &bytes);
        for (size_t size = 0; size < bytes.size; size += size < 200 || size + 200 > bytes.size ? 1 : 97) {
            char *memory = malloc(size + 1);
            assert_non_null(memory);
            memcpy(memory + 1, bytes.data, size);
            struct pj_cubin cubin = {.arch_number = 7};
            PJ_CLEANUP_ERROR struct pj_error *error = NULL;
            if (pj_cubin_read(memory + 1, size, &cubin, &error) != PJ_ERROR_FORMAT)
                fail_msg("%s cut to %zu bytes passed", names[i], size);
            assert_non_null(strstr(pj_error_message(error), size < 4 ? "no cubin" : "cut cubin"));
            assert_int_equal(cubin.arch_number, 7);
            free(memory);
        }
    }
}

enum {
    CLASS_AT = 4,
    ABI_AT = 7,
    TYPE_AT = 16,
    MACHINE_AT = 18,
    SHOFF_AT = 40,
    FLAGS_AT = 48,
    SHENTSIZE_AT = 58,
    PHENTSIZE_AT = 54,
    PHNUM_AT = 56,
    SHNUM_AT = 60,
    PHOFF_AT = 32
};

struct change {
    size_t at, size;
    uint64_t value;
};

static int read_changed(const char *name, const struct change *changes, size_t count,
                        struct pj_cubin *ret_cubin, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    read_file(name, &bytes);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < changes[i].size; k++)
            bytes.data[changes[i].at + k] = (char)(changes[i].value >> (8 * k) & 0xff);
    }
    return pj_cubin_read(bytes.data, bytes.size, ret_cubin, err);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        struct change changes[2];
        size_t count;
        const char *message;
    } rows[] = {
        {{{0, 1, 'x'}}, 1, "no cubin: it does not start as an ELF file"},
        {{{CLASS_AT, 1, 1}},
         1,
         "cubin layout not known: ELF class 1, byte order 1, not 64-bit little-endian"},
        {{{MACHINE_AT, 2, 62}}, 1, "no cubin: an ELF file for machine 62, not for CUDA (190)"},
        {{{TYPE_AT, 2, 3}}, 1, "cubin layout not known: ELF type 3, neither executable nor relocatable"},
        {{{ABI_AT, 1, 0x42}}, 1, "cubin layout not known: ABI byte 0x42, not 0x33 or 0x41"},
        {{{FLAGS_AT, 4, 0x06000004}},
         1,
         "cubin layout not known: flags 0x06000004 hold no architecture where ABI 0x41 has it"},
        {{{ABI_AT, 1, 0x33}},
         1,
         "cubin layout not known: flags 0x06005a04 hold no architecture where ABI 0x33 has it"},
        {{{SHOFF_AT, 8, 0}}, 1, "damaged cubin: no section headers"},
        {{{SHENTSIZE_AT, 2, 40}}, 1, "damaged cubin: no section headers"},
        {{{SHNUM_AT, 2, 0}}, 1, "damaged cubin: no section headers"},
        {{{SHNUM_AT, 2, 60000}}, 1, "cut cubin: 60000 section headers at byte 2592 of 3832"},
        {{{SHOFF_AT, 8, UINT64_MAX}}, 1, "cut cubin: section headers at byte 18446744073709551615 of 3832"},
        /* The first section's size stands for the count, and is too large. */
        {{{SHNUM_AT, 2, 0}, {2592 + 32, 8, UINT64_MAX}},
         2,
         "cut cubin: 18446744073709551615 section headers at byte 2592 of 3832"},
        {{{2592 + 64 + 32, 8, UINT64_MAX}}, 1, "cut cubin: section 1 ends behind byte 3832, the last"},
        {{{PHNUM_AT, 2, 0}}, 1, "damaged cubin: executable, but no program headers"},
        {{{PHNUM_AT, 2, 6}}, 1, "cut cubin: 6 program headers at byte 3552 of 3832"},
        {{{PHENTSIZE_AT, 2, 32}}, 1, "damaged cubin: program headers of 32 bytes, not 56"},
        {{{PHOFF_AT, 8, UINT64_MAX - 8}},
         1,
         "cut cubin: 5 program headers at byte 18446744073709551607 of 3832"},
        {{{3552 + 56 + 32, 8, 4000}}, 1, "cut cubin: segment 1 ends behind byte 3832, the last"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        struct pj_cubin cubin = {.arch_number = 7};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        assert_int_equal(read_changed("driver_sm_90.cubin", rows[i].changes, rows[i].count, &cubin, &error),
                         PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(cubin.arch_number, 7);
    }
}

/* Up to CUDA 12: another ABI byte, and the number in the low byte of the flags. */
static void test_old_layout(void **state)
{
    (void)state;
    static const struct {
        uint64_t flags;
        uint16_t number;
    } rows[] = {{0x005a055a, 90}, {0x00500550, 80}, {0x00780578, 120}};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        const struct change changes[] = {{ABI_AT, 1, 0x33}, {FLAGS_AT, 4, rows[i].flags}, {20, 4, 0x80}};
        struct pj_cubin cubin = {0};
        assert_int_equal(read_changed("driver_sm_90.cubin", changes, PJ_COUNT(changes), &cubin, NULL), 0);
        assert_int_equal(cubin.arch_number, rows[i].number);
        assert_int_equal(cubin.relocatable, 0);
    }
}

/* Files of 65,280 sections and more keep the count in the first section header. */
static void test_many_sections(void **state)
{
    (void)state;
    const struct change changes[] = {{SHNUM_AT, 2, 0}, {2592 + 32, 8, 15}};
    struct pj_cubin cubin = {0};
    assert_int_equal(read_changed("driver_sm_90.cubin", changes, PJ_COUNT(changes), &cubin, NULL), 0);
    assert_int_equal(cubin.arch_number, 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_old_layout),
        cmocka_unit_test(test_many_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
