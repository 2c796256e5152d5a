/* SPDX-License-Identifier: Apache-2.0 */
/* Code of cubins compared: of the driver and of ptxas, changed, cut, and where they lie unaligned. */
#include <elf.h>
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
#include "image/code.h"

static void read_file(const char *name, struct pj_buffer *ret_bytes)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(TEST_DATA, name);
    assert_non_null(path);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, ret_bytes, NULL), 0);
}

static Elf64_Shdr header_at(const struct pj_buffer *bytes, uint64_t i)
{
    Elf64_Ehdr elf;
    Elf64_Shdr header;
    memcpy(&elf, bytes->data, sizeof elf);
    memcpy(&header, bytes->data + elf.e_shoff + i * sizeof header, sizeof header);
    return header;
}

static void set_header(struct pj_buffer *bytes, uint64_t i, const Elf64_Shdr *header)
{
    Elf64_Ehdr elf;
    memcpy(&elf, bytes->data, sizeof elf);
    memcpy(bytes->data + elf.e_shoff + i * sizeof *header, header, sizeof *header);
}

static const char *name_of(const struct pj_buffer *bytes, uint64_t i)
{
    Elf64_Ehdr elf;
    memcpy(&elf, bytes->data, sizeof elf);
    return bytes->data + header_at(bytes, elf.e_shstrndx).sh_offset + header_at(bytes, i).sh_name;
}

static uint64_t find_section(const struct pj_buffer *bytes, const char *name)
{
    Elf64_Ehdr elf;
    memcpy(&elf, bytes->data, sizeof elf);
    for (uint64_t i = 1; i < elf.e_shnum; i++) {
        if (strcmp(name_of(bytes, i), name) == 0)
            return i;
    }
    fail_msg("no section %s", name);
    return 0;
}

static struct pj_code_difference compare(const struct pj_buffer *a, const struct pj_buffer *b)
{
    struct pj_code_difference difference;
    memset(&difference, 0x33, sizeof difference);
    int same = pj_code_compare(a->data, a->size, b->data, b->size, &difference, NULL);
    assert_int_equal(same, difference.equality == PJ_CODE_SAME);
    return difference;
}

static void expect(const struct pj_buffer *a, const struct pj_buffer *b, enum pj_code_equality equality,
                   const char *section, uint64_t offset, uint64_t a_bytes, uint64_t b_bytes)
{
    struct pj_code_difference difference = compare(a, b);
    assert_int_equal(difference.equality, equality);
    assert_string_equal(difference.section, section);
    assert_int_equal(difference.offset, offset);
    assert_int_equal(difference.a_bytes, a_bytes);
    assert_int_equal(difference.b_bytes, b_bytes);
}

static bool has_kernel(const void *cubin, size_t size, const char *name)
{
    size_t index = 99;
    assert_int_equal(pj_code_missing_kernel(cubin, size, &name, 1, &index, NULL), 0);
    assert_true(index <= 1);
    return index == 1;
}

/* Two compilers, other notes, the same code; another architecture, other code. */
static void test_files(void **state)
{
    static const struct {
        const char *a, *b;
        int same;
    } pairs[] = {
        {"driver_sm_80.cubin", "ptxas_sm_80.cubin", 1},
        {"driver_sm_90.cubin", "driver_sm_90.cubin", 1},
        {"driver_sm_103.cubin", "driver_sm_90.cubin", 0},
        {"ptxas_sm_86.cubin", "ptxas_sm_120.cubin", 0},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(pairs); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer a = {0}, b = {0};
        read_file(pairs[i].a, &a);
        read_file(pairs[i].b, &b);
        struct pj_code_difference difference = compare(&a, &b);
        assert_int_equal(difference.equality == PJ_CODE_SAME, pairs[i].same);
        assert_string_equal(difference.section, pairs[i].same ? "" : ".text.axpb");
        assert_int_equal(difference.section_count, 1);
        if (strcmp(pairs[i].a, pairs[i].b) != 0)
            assert_true(a.size != b.size || memcmp(a.data, b.data, a.size) != 0);
    }
}

static void test_differences(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer a = {0}, b = {0};
    read_file("driver_sm_90.cubin", &a);
    read_file("driver_sm_90.cubin", &b);
    uint64_t code = find_section(&b, ".text.axpb"), note = find_section(&b, ".note.nv.tkinfo");
    const Elf64_Shdr header = header_at(&b, code);
    b.data[header_at(&b, note).sh_offset + 20] ^= 1; /* is not code */
    expect(&a, &b, PJ_CODE_SAME, "", 0, 0, 0);
    b.data[header.sh_offset + header.sh_size - 1] ^= 1;
    expect(&a, &b, PJ_CODE_BYTES, ".text.axpb", header.sh_size - 1, header.sh_size, header.sh_size);
    b.data[header.sh_offset] ^= 1;
    expect(&a, &b, PJ_CODE_BYTES, ".text.axpb", 0, header.sh_size, header.sh_size);
    b.data[header.sh_offset] ^= 1;
    b.data[header.sh_offset + header.sh_size - 1] ^= 1;
    expect(&a, &b, PJ_CODE_SAME, "", 0, 0, 0);

    Elf64_Shdr changed = header;
    changed.sh_size -= 16;
    set_header(&b, code, &changed);
    expect(&a, &b, PJ_CODE_SIZE, ".text.axpb", header.sh_size - 16, header.sh_size, header.sh_size - 16);
    expect(&b, &a, PJ_CODE_SIZE, ".text.axpb", header.sh_size - 16, header.sh_size - 16, header.sh_size);
    changed = header;
    changed.sh_type = SHT_NOTE; /* so that b has none */
    set_header(&b, code, &changed);
    expect(&a, &b, PJ_CODE_ONLY_IN_A, ".text.axpb", 0, header.sh_size, 0);
    expect(&b, &a, PJ_CODE_ONLY_IN_B, ".text.axpb", 0, 0, header.sh_size);
    expect(&b, &b, PJ_CODE_SAME, "", 0, 0, 0);
    assert_int_equal(compare(&b, &b).section_count, 0);
    set_header(&b, code, &header);
    ((char *)(uintptr_t)name_of(&b, code))[8] = 'q'; /* and it calls another axpb */
    expect(&a, &b, PJ_CODE_ONLY_IN_A, ".text.axpb", 0, header.sh_size, 0);
    expect(&b, &a, PJ_CODE_ONLY_IN_A, ".text.axqb", 0, header.sh_size, 0);
}

/* Several functions: their order does not matter, and the first that differs is told. */
static void test_order(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer a = {0}, b = {0};
    read_file("driver_sm_90.cubin", &a);
    /* A second section with code: what was the note, under a name that has the first one's length. */
    uint64_t code = find_section(&a, ".text.axpb"), other = find_section(&a, ".nv.info.axpb");
    Elf64_Shdr first = header_at(&a, code), second = header_at(&a, other);
    second.sh_type = SHT_PROGBITS;
    memcpy((char *)(uintptr_t)name_of(&a, other), ".text.second", sizeof ".text.second");
    set_header(&a, other, &second);
    pj_buffer_append(&b, a.data, a.size);
    assert_int_equal(compare(&a, &b).section_count, 2);
    expect(&a, &b, PJ_CODE_SAME, "", 0, 0, 0);
    set_header(&b, code, &second);
    set_header(&b, other, &first);
    expect(&a, &b, PJ_CODE_SAME, "", 0, 0, 0);
    b.data[second.sh_offset + 3] ^= 1;
    expect(&a, &b, PJ_CODE_BYTES, ".text.second", 3, second.sh_size, second.sh_size);
    b.data[first.sh_offset + 5] ^= 1; /* both differ: what comes first in the file is told */
    assert_true(other < code);
    expect(&a, &b, PJ_CODE_BYTES, ".text.second", 3, second.sh_size, second.sh_size);
    expect(&b, &a, PJ_CODE_BYTES, ".text.axpb", 5, first.sh_size, first.sh_size);
    b.data[first.sh_offset + 5] ^= 1;
    b.data[second.sh_offset + 3] ^= 1;
    set_header(&b, other, &second); /* one twice, and not the other */
    expect(&a, &b, PJ_CODE_ONLY_IN_A, ".text.axpb", 0, first.sh_size, 0);
    set_header(&b, code, &first);
    second.sh_type = SHT_NOTE;
    set_header(&b, other, &second);
    expect(&a, &b, PJ_CODE_ONLY_IN_A, ".text.second", 0, second.sh_size, 0);
    expect(&b, &a, PJ_CODE_ONLY_IN_B, ".text.second", 0, 0, second.sh_size);
    second.sh_type = SHT_PROGBITS;
    second.sh_name = first.sh_name;
    second.sh_offset = first.sh_offset;
    second.sh_size = first.sh_size;
    set_header(&b, other, &second); /* one name twice */
    set_header(&a, other, &first);
    second.sh_type = SHT_NOTE;
    set_header(&a, other, &second);
    expect(&a, &b, PJ_CODE_ONLY_IN_B, ".text.axpb", 0, 0, first.sh_size);
    expect(&b, &a, PJ_CODE_ONLY_IN_A, ".text.axpb", 0, first.sh_size, 0);
    expect(&b, &b, PJ_CODE_SAME, "", 0, 0, 0);
}

/* Cut anywhere, and lying at an odd address with nothing behind it. */
static void test_cut(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    read_file("driver_sm_90_relocatable.cubin", &bytes);
    for (size_t size = 0; size <= bytes.size; size += size < 200 || size + 200 > bytes.size ? 1 : 97) {
        struct pj_code_difference difference;
        char *memory = malloc(size + 1);
        assert_non_null(memory);
        memcpy(memory + 1, bytes.data, size);
        (void)pj_code_compare(memory + 1, size, bytes.data, bytes.size, &difference, NULL);
        assert_int_equal(difference.equality, size < bytes.size ? PJ_CODE_UNREADABLE_A : PJ_CODE_SAME);
        (void)pj_code_compare(bytes.data, bytes.size, memory + 1, size, &difference, NULL);
        assert_int_equal(difference.equality, size < bytes.size ? PJ_CODE_UNREADABLE_B : PJ_CODE_SAME);
        assert_int_equal(has_kernel(memory + 1, size, "axpb"), size == bytes.size);
        free(memory);
    }
}

/* Names and tables that lead out of the file. */
static void test_damaged(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer whole = {0};
    read_file("driver_sm_90.cubin", &whole);
    Elf64_Ehdr elf;
    memcpy(&elf, whole.data, sizeof elf);
    for (unsigned way = 0; way < 6; way++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        pj_buffer_append(&bytes, whole.data, whole.size);
        uint64_t code = find_section(&bytes, ".text.axpb"), names = elf.e_shstrndx;
        Elf64_Shdr header = header_at(&bytes, way < 2 ? code : names);
        Elf64_Ehdr changed = elf;
        if (way == 0)
            header.sh_name = UINT32_MAX;
        else if (way == 1)
            header.sh_name = (uint32_t)header_at(&bytes, names).sh_size; /* right behind the last name */
        else if (way == 2)
            header.sh_type = SHT_PROGBITS;
        else if (way == 3)
            header.sh_size = 0;
        else
            changed.e_shstrndx = way == 4 ? 0 : 999;
        set_header(&bytes, way < 2 ? code : names, &header);
        memcpy(bytes.data, &changed, sizeof changed);
        expect(&bytes, &whole, PJ_CODE_UNREADABLE_A, "", 0, 0, 0);
        expect(&whole, &bytes, PJ_CODE_UNREADABLE_B, "", 0, 0, 0);
        assert_false(has_kernel(bytes.data, bytes.size, "axpb"));
    }
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, "no cubin");
    expect(&text, &text, PJ_CODE_UNREADABLE_A, "", 0, 0, 0);
}

static void test_kernels(void **state)
{
    static const char *const files[] = {"driver_sm_80.cubin",
                                        "driver_sm_90.cubin",
                                        "driver_sm_121.cubin",
                                        "driver_sm_80_relocatable.cubin",
                                        "ptxas_sm_75.cubin",
                                        "ptxas_sm_100f.cubin",
                                        "ptxas_sm_100_relocatable.cubin"};
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(files); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        read_file(files[i], &bytes);
        if (!has_kernel(bytes.data, bytes.size, "axpb"))
            fail_msg("%s has no axpb", files[i]);
        assert_false(has_kernel(bytes.data, bytes.size, "axp"));
        assert_false(has_kernel(bytes.data, bytes.size, "axpb2"));
        assert_false(has_kernel(bytes.data, bytes.size, ""));
    }
    /* Of several the first that is missing; of none, none. */
    static const char *const names[] = {"axpb", "axpb", "axpb2", "axp"};
    size_t index = 99;
    PJ_CLEANUP_BUFFER struct pj_buffer two = {0};
    read_file("ptxas_sm_80.cubin", &two);
    for (size_t count = 0; count <= PJ_COUNT(names); count++) {
        assert_int_equal(pj_code_missing_kernel(two.data, two.size, names, count, &index, NULL), 0);
        assert_int_equal(index, count < 2 ? count : 2);
        assert_int_equal(pj_code_missing_kernel(two.data, 64, names, count, &index, NULL), 0);
        assert_int_equal(index, 0);
    }
    /* A function has code as well, and its symbol is none of a kernel. */
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    read_file("driver_sm_90.cubin", &bytes);
    const Elf64_Shdr table = header_at(&bytes, find_section(&bytes, ".symtab"));
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, bytes.data + table.sh_offset + at, sizeof symbol);
        symbol.st_other = 0;
        memcpy(bytes.data + table.sh_offset + at, &symbol, sizeof symbol);
    }
    assert_false(has_kernel(bytes.data, bytes.size, "axpb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files), cmocka_unit_test(test_differences), cmocka_unit_test(test_order),
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_damaged),     cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
