/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of ELF files for a CPU, whole, cut and changed. */
#include "data.h"

#include <elf.h>

#include "image/object.h"

/* The size of the section `name`, 0 where there is none; the status that ended the walk. */
static int find(const void *bytes, size_t size, const char *name, size_t *ret_size, struct pj_error **err)
{
    struct pj_object object;
    struct pj_section section;
    *ret_size = 0;
    int status = pj_object_start(bytes, size, &object, err);
    while (status >= 0 && (status = pj_object_next(&object, &section, err)) > 0) {
        if (strcmp(section.name, name) == 0)
            *ret_size = section.size;
    }
    return status;
}

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *section;
        size_t size;
    } rows[] = {
        {"link/rdc.o", "__nv_relfatbin", 0x520}, {"link/rdc.o", ".nv_fatbin", 0},
        {"link/whole.o", ".nv_fatbin", 0x130},   {"link/host.o", ".data", 0}, /* empty: passed over */
        {"link/host.o", ".symtab", 72},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        struct pj_object object;
        size_t size = 7;
        data_read(rows[i].file, &bytes);
        char *memory = data_odd_copy(bytes.data, bytes.size);
        assert_int_equal(find(memory + 1, bytes.size, rows[i].section, &size, NULL), 0);
        if (size != rows[i].size)
            fail_msg("%s: %s has %zu bytes", rows[i].file, rows[i].section, size);
        assert_int_equal(pj_object_start(memory + 1, bytes.size, &object, NULL), 0);
        assert_true(object.relocatable);
        free(memory);
    }
}

/* Every shorter file is refused, for the section headers lie at its end. */
static void test_cut(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    data_read("link/host.o", &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        size_t found;
        char *memory = data_odd_copy(bytes.data, size);
        assert_int_equal(find(memory + 1, size, "x", &found, &error), PJ_ERROR_FORMAT);
        assert_non_null(strstr(pj_error_message(error), size < 4 ? "no ELF file" : "cut ELF file"));
        free(memory);
    }
}

static size_t section_field(const struct pj_buffer *bytes, unsigned index, size_t field)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes->data, sizeof header);
    return header.e_shoff + index * sizeof(Elf64_Shdr) + field;
}

enum { CLASS_AT = 4, TYPE_AT = 16, SHOFF_AT = 40, SHENTSIZE_AT = 58, SHNUM_AT = 60, SHSTRNDX_AT = 62 };

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *message;
    } rows[] = {
        {CLASS_AT, 1, 1, "an ELF file of class 1 and byte order 1, not 64-bit little-endian (2 and 1)"},
        {CLASS_AT + 1, 1, 2, "an ELF file of class 2 and byte order 2, not 64-bit little-endian (2 and 1)"},
        {TYPE_AT, 2, 4,
         "an ELF file of type 4, neither an object (1) nor a program or shared library (2, 3)"},
        {SHENTSIZE_AT, 2, 40, "cut ELF file: section headers of 40 bytes at byte 264 of 840"},
        {SHOFF_AT, 8, UINT64_MAX,
         "cut ELF file: section headers of 64 bytes at byte 18446744073709551615 of 840"},
        {SHNUM_AT, 2, 10, "cut ELF file: 10 section headers at byte 264 of 840"},
        {SHSTRNDX_AT, 2, 9, "damaged ELF file: section 9 of 9 should hold the names"},
        {SHSTRNDX_AT, 2, 0xffff, NULL}, /* in section 0's link, which is 0: sections without names */
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        size_t size;
        data_read("link/host.o", &bytes);
        data_set(&bytes, rows[i].at, rows[i].size, rows[i].value);
        int status = find(bytes.data, bytes.size, ".symtab", &size, &error);
        assert_int_equal(status, rows[i].message ? PJ_ERROR_FORMAT : 0);
        assert_int_equal(size, 0);
        if (rows[i].message)
            assert_string_equal(pj_error_message(error), rows[i].message);
    }
}

static void test_bad_sections(void **state)
{
    (void)state;
    static const struct {
        unsigned section;
        size_t field, size;
        uint64_t value;
        const char *message;
    } rows[] = {
        {8, offsetof(Elf64_Shdr, sh_offset), 8, 841, "cut ELF file: section names at byte 841 of 840"},
        {8, offsetof(Elf64_Shdr, sh_type), 4, SHT_NOBITS, "cut ELF file: section names at byte 189 of 840"},
        {4, offsetof(Elf64_Shdr, sh_size), 8, UINT64_MAX,
         "cut ELF file: section 4 has 18446744073709551615 bytes at byte 64 of 840"},
        {6, offsetof(Elf64_Shdr, sh_name), 4, 5000,
         "damaged ELF file: the name of section 6 is not in the table of names"},
        {8, offsetof(Elf64_Shdr, sh_size), 8, 3,
         "damaged ELF file: the name of section 4 is not in the table of names"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        size_t size;
        data_read("link/host.o", &bytes);
        data_set(&bytes, section_field(&bytes, rows[i].section, rows[i].field), rows[i].size, rows[i].value);
        assert_int_equal(find(bytes.data, bytes.size, "x", &size, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
    }
}

/* What a header of type NULL says means nothing. */
static void test_null_section(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    size_t size;
    data_read("link/host.o", &bytes);
    data_set(&bytes, section_field(&bytes, 4, offsetof(Elf64_Shdr, sh_type)), 4, SHT_NULL);
    data_set(&bytes, section_field(&bytes, 4, offsetof(Elf64_Shdr, sh_size)), 8, UINT64_MAX);
    assert_int_equal(find(bytes.data, bytes.size, ".symtab", &size, NULL), 0);
    assert_int_equal(size, 72);
}

/* Counts and indices that do not fit the header stand in the first section header. */
static void test_large_counts(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    size_t size;
    data_read("link/host.o", &bytes);
    data_set(&bytes, SHNUM_AT, 2, 0);
    data_set(&bytes, section_field(&bytes, 0, offsetof(Elf64_Shdr, sh_size)), 8, 9);
    data_set(&bytes, SHSTRNDX_AT, 2, 0xffff);
    data_set(&bytes, section_field(&bytes, 0, offsetof(Elf64_Shdr, sh_link)), 4, 8);
    assert_int_equal(find(bytes.data, bytes.size, ".symtab", &size, NULL), 0);
    assert_int_equal(size, 72);
    /* A program may have been stripped of its sections. */
    data_set(&bytes, SHOFF_AT, 8, 0);
    data_set(&bytes, TYPE_AT, 2, ET_DYN);
    struct pj_object object;
    assert_int_equal(pj_object_start(bytes.data, bytes.size, &object, NULL), 0);
    assert_false(object.relocatable);
    assert_int_equal(find(bytes.data, bytes.size, ".symtab", &size, NULL), 0);
    assert_int_equal(size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_bad_sections),
        cmocka_unit_test(test_large_counts), cmocka_unit_test(test_null_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
