/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a cubin's sections and symbols where they lie: payloads in cache entries are not aligned, and every
 * offset in them is checked before it is followed. */
#include "image/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "image/cubin.h"

/* Marks the symbol of a kernel among those of functions (`st_other`). */
enum { CUDA_ENTRY = 0x10 };

/* A piece of the file. */
struct span {
    const unsigned char *bytes;
    uint64_t size;
};

/* A cubin that pj_cubin_read accepted: its section headers are inside, and so is what they tell of. */
struct elf {
    struct span file, names;
    uint64_t headers_at, section_count;
};

struct section {
    const char *name;
    uint32_t type, link;
    struct span contents;
};

static Elf64_Shdr header_of(const struct elf *elf, uint64_t i)
{
    Elf64_Shdr header;
    memcpy(&header, elf->file.bytes + elf->headers_at + i * sizeof header, sizeof header);
    return header;
}

static struct span contents_of(const struct elf *elf, const Elf64_Shdr *header)
{
    if (!pj_cubin_section_has_bytes(header->sh_type))
        return (struct span){.bytes = elf->file.bytes};
    return (struct span){.bytes = elf->file.bytes + header->sh_offset, .size = header->sh_size};
}

/* The text at `offset` of a string table; NULL where it does not end in it. */
static const char *text_at(const struct span *table, uint64_t offset)
{
    if (offset >= table->size || !memchr(table->bytes + offset, '\0', (size_t)(table->size - offset)))
        return NULL;
    return (const char *)table->bytes + offset;
}

static bool open_elf(const void *bytes, size_t size, struct elf *ret_elf)
{
    struct pj_cubin cubin;
    Elf64_Ehdr header;
    if (pj_cubin_read(bytes, size, &cubin, NULL) < 0)
        return false;
    memcpy(&header, bytes, sizeof header);
    struct elf elf = {
        .file = {.bytes = bytes, .size = size},
        .headers_at = header.e_shoff,
        .section_count = header.e_shnum,
    };
    uint64_t names_at = header.e_shstrndx;
    /* ELF's way to count more sections than its header's 16 bits do. */
    const Elf64_Shdr first = header_of(&elf, 0);
    if (elf.section_count == 0)
        elf.section_count = first.sh_size;
    if (names_at == SHN_XINDEX)
        names_at = first.sh_link;
    if (names_at == 0 || names_at >= elf.section_count)
        return false;
    const Elf64_Shdr names = header_of(&elf, names_at);
    if (names.sh_type != SHT_STRTAB)
        return false;
    elf.names = contents_of(&elf, &names);
    *ret_elf = elf;
    return true;
}

static bool section_at(const struct elf *elf, uint64_t i, struct section *ret_section)
{
    const Elf64_Shdr header = header_of(elf, i);
    *ret_section = (struct section){
        .name = text_at(&elf->names, header.sh_name),
        .type = header.sh_type,
        .link = header.sh_link,
        .contents = contents_of(elf, &header),
    };
    return ret_section->name != NULL;
}

static bool is_code(const struct section *section)
{
    static const char text[] = ".text";
    const char *behind = section->name + sizeof text - 1;
    return section->type == SHT_PROGBITS && strncmp(section->name, text, sizeof text - 1) == 0 &&
           (*behind == '\0' || *behind == '.');
}

/* A section with code, and its place among the sections. */
struct code {
    struct section section;
    uint64_t place;
};

/* All of a cubin's code, by name and then in the order of the file. */
struct codes {
    struct code *items;
    size_t count;
};

static void free_codes(struct codes *codes)
{
    free(codes->items);
}

#define CLEANUP_CODES __attribute__((cleanup(free_codes)))

static int compare_codes(const void *left, const void *right)
{
    const struct code *a = left, *b = right;
    int order = strcmp(a->section.name, b->section.name);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* All sections have names, so that none can be overlooked. */
static bool is_readable(const struct elf *elf, size_t *ret_code_count)
{
    struct section section;
    size_t count = 0;
    for (uint64_t i = 1; i < elf->section_count; i++) {
        if (!section_at(elf, i, &section))
            return false;
        count += is_code(&section);
    }
    *ret_code_count = count;
    return true;
}

/* Of a cubin that is_readable counted. */
static int read_codes(const struct elf *elf, size_t count, struct codes *codes, struct pj_error **err)
{
    codes->items = calloc(count ? count : 1, sizeof *codes->items);
    if (!codes->items)
        return pj_error_no_memory(err);
    for (uint64_t i = 1; i < elf->section_count && codes->count < count; i++) {
        struct code *code = &codes->items[codes->count];
        code->place = i;
        codes->count += section_at(elf, i, &code->section) && is_code(&code->section);
    }
    qsort(codes->items, codes->count, sizeof *codes->items, compare_codes);
    return 0;
}

static void put_name(struct pj_code_difference *difference, const char *name)
{
    size_t length = strnlen(name, sizeof difference->section - 1);
    memcpy(difference->section, name, length);
    difference->section[length] = '\0';
}

/* The first byte of two sections that differs, or the end of the shorter one. */
static uint64_t first_difference(const struct span *a, const struct span *b)
{
    uint64_t size = a->size < b->size ? a->size : b->size, i = 0;
    if (memcmp(a->bytes, b->bytes, (size_t)size) == 0)
        return size;
    while (a->bytes[i] == b->bytes[i])
        i++;
    return i;
}

static bool same_code(const struct section *a, const struct section *b)
{
    return a->contents.size == b->contents.size &&
           memcmp(a->contents.bytes, b->contents.bytes, (size_t)a->contents.size) == 0;
}

static void describe(const struct section *a, const struct section *b, struct pj_code_difference *difference)
{
    uint64_t offset = first_difference(&a->contents, &b->contents);
    bool to_the_end = offset == a->contents.size || offset == b->contents.size;
    difference->equality = to_the_end ? PJ_CODE_SIZE : PJ_CODE_BYTES;
    difference->offset = offset;
    difference->a_bytes = a->contents.size;
    difference->b_bytes = b->contents.size;
    put_name(difference, a->name);
}

/* What to tell of: a section that differs, in both cubins, or one that only one of them has. */
struct first {
    const struct code *a, *b;
};

/* Keeps what comes first in the file: a's, and b's where a has none. */
static void keep_first(struct first *first, const struct code *a, const struct code *b)
{
    const struct code *had = a ? first->a : first->b, *code = a ? a : b;
    if (!had || code->place < had->place)
        *first = (struct first){a, b};
}

/* Walks both in the order of names. Whatever a has to tell comes before what only b has. */
static void compare_all(const struct codes *left, const struct codes *right,
                        struct pj_code_difference *difference)
{
    struct first first_of_a = {0}, first_of_b = {0};
    const struct code *a = left->items, *b = right->items;
    const struct code *a_end = a + left->count, *b_end = b + right->count;
    while (a < a_end || b < b_end) {
        int order = a == a_end ? 1 : b == b_end ? -1 : strcmp(a->section.name, b->section.name);
        if (order < 0)
            keep_first(&first_of_a, a++, NULL);
        else if (order > 0)
            keep_first(&first_of_b, NULL, b++);
        else if (!same_code(&a->section, &b->section))
            keep_first(&first_of_a, a++, b++);
        else
            a++, b++;
    }
    if (first_of_a.a && first_of_a.b) {
        describe(&first_of_a.a->section, &first_of_a.b->section, difference);
    } else if (first_of_a.a) {
        difference->equality = PJ_CODE_ONLY_IN_A;
        difference->a_bytes = first_of_a.a->section.contents.size;
        put_name(difference, first_of_a.a->section.name);
    } else if (first_of_b.b) {
        difference->equality = PJ_CODE_ONLY_IN_B;
        difference->b_bytes = first_of_b.b->section.contents.size;
        put_name(difference, first_of_b.b->section.name);
    }
}

int pj_code_compare(const void *a, size_t a_size, const void *b, size_t b_size,
                    struct pj_code_difference *ret_difference, struct pj_error **err)
{
    struct elf left, right;
    size_t count = 0, b_count = 0;
    struct pj_code_difference difference = {.equality = PJ_CODE_SAME};
    if (!open_elf(a, a_size, &left) || !is_readable(&left, &count)) {
        difference.equality = PJ_CODE_UNREADABLE_A;
    } else if (!open_elf(b, b_size, &right) || !is_readable(&right, &b_count)) {
        difference.equality = PJ_CODE_UNREADABLE_B;
    } else {
        CLEANUP_CODES struct codes ours = {0}, theirs = {0};
        int r = read_codes(&left, count, &ours, err);
        if (r == 0)
            r = read_codes(&right, b_count, &theirs, err);
        if (r < 0)
            return r;
        compare_all(&ours, &theirs, &difference);
    }
    difference.section_count = count;
    *ret_difference = difference;
    return difference.equality == PJ_CODE_SAME;
}

/* Adds the names of all kernels among the symbols in `table`. */
static bool add_symbols(const struct elf *elf, const struct section *table, struct pj_names *symbols)
{
    if (table->link == 0 || table->link >= elf->section_count)
        return true;
    const Elf64_Shdr header = header_of(elf, table->link);
    const struct span names = contents_of(elf, &header);
    Elf64_Sym symbol;
    for (uint64_t at = 0; at + sizeof symbol <= table->contents.size; at += sizeof symbol) {
        memcpy(&symbol, table->contents.bytes + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & CUDA_ENTRY) ||
            symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = text_at(&names, symbol.st_name);
        if (name && !pj_names_add(symbols, name))
            return false;
    }
    return true;
}

/* What functions have code, and what symbols are those of kernels; false when memory is out. */
static bool read_names(const struct elf *elf, struct pj_names *code, struct pj_names *symbols)
{
    static const char prefix[] = ".text.";
    struct section section;
    for (uint64_t i = 1; i < elf->section_count; i++) {
        if (!section_at(elf, i, &section))
            continue;
        if (is_code(&section) && section.contents.size > 0 &&
            strncmp(section.name, prefix, sizeof prefix - 1) == 0 &&
            !pj_names_add(code, section.name + sizeof prefix - 1))
            return false;
        if (section.type == SHT_SYMTAB && !add_symbols(elf, &section, symbols))
            return false;
    }
    pj_names_sort(code);
    pj_names_sort(symbols);
    return true;
}

int pj_code_missing_kernel(const void *cubin, size_t size, const char *const *wanted, size_t count,
                           size_t *ret_index, struct pj_error **err)
{
    PJ_CLEANUP_NAMES struct pj_names code = {0}, symbols = {0};
    struct elf elf;
    size_t i = 0;
    if (open_elf(cubin, size, &elf) && !read_names(&elf, &code, &symbols))
        return pj_error_no_memory(err);
    while (i < count && pj_names_have(&code, wanted[i]) && pj_names_have(&symbols, wanted[i]))
        i++;
    *ret_index = i;
    return 0;
}

int pj_code_other_kernel(const void *cubin, size_t size, const char *const *names, size_t count,
                         const char **ret_name, struct pj_error **err)
{
    PJ_CLEANUP_NAMES struct pj_names code = {0}, symbols = {0}, known = {0};
    struct elf elf;
    bool complete = !open_elf(cubin, size, &elf) || read_names(&elf, &code, &symbols);
    for (size_t i = 0; i < count && complete; i++)
        complete = pj_names_add(&known, names[i]);
    if (!complete)
        return pj_error_no_memory(err);
    pj_names_sort(&known);
    size_t i = 0;
    while (i < symbols.count &&
           (pj_names_have(&known, symbols.items[i]) || !pj_names_have(&code, symbols.items[i])))
        i++;
    *ret_name = i < symbols.count ? symbols.items[i] : NULL;
    return 0;
}
