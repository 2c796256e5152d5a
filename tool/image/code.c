/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a cubin's sections and symbols where they lie: payloads in cache entries are not aligned, and every
 * offset in them is checked before it is followed. */
#include "image/code.h"

#include <elf.h>
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
    if (header->sh_type == SHT_NULL || header->sh_type == SHT_NOBITS)
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

/* The next section with code from *at on, which moves behind it; false at the end. */
static bool next_code(const struct elf *elf, uint64_t *at, struct section *ret_section)
{
    while (*at < elf->section_count) {
        if (section_at(elf, (*at)++, ret_section) && is_code(ret_section))
            return true;
    }
    return false;
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

/* The section with code of this name. The search begins behind the one found last, because two compilers
 * mostly keep one order: then nothing is looked at twice. */
static bool find_code(const struct elf *elf, const char *name, uint64_t *last, struct section *ret_section)
{
    uint64_t start = *last;
    for (uint64_t at = start; next_code(elf, &at, ret_section);) {
        *last = at;
        if (strcmp(ret_section->name, name) == 0)
            return true;
    }
    for (uint64_t at = 1; next_code(elf, &at, ret_section) && at <= start;) {
        *last = at;
        if (strcmp(ret_section->name, name) == 0)
            return true;
    }
    return false;
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

static bool same_section(const struct section *a, const struct section *b,
                         struct pj_code_difference *difference)
{
    uint64_t offset = first_difference(&a->contents, &b->contents);
    if (offset == a->contents.size && offset == b->contents.size)
        return true;
    bool to_the_end = offset == a->contents.size || offset == b->contents.size;
    difference->equality = to_the_end ? PJ_CODE_SIZE : PJ_CODE_BYTES;
    difference->offset = offset;
    difference->a_bytes = a->contents.size;
    difference->b_bytes = b->contents.size;
    put_name(difference, a->name);
    return false;
}

/* Does b have all of a's code? With `bytes` the same, too. */
static bool has_all(const struct elf *a, const struct elf *b, bool bytes,
                    struct pj_code_difference *difference)
{
    struct section ours, theirs;
    uint64_t last = 1;
    for (uint64_t at = 1; next_code(a, &at, &ours);) {
        if (!find_code(b, ours.name, &last, &theirs)) {
            difference->equality = bytes ? PJ_CODE_ONLY_IN_A : PJ_CODE_ONLY_IN_B;
            *(bytes ? &difference->a_bytes : &difference->b_bytes) = ours.contents.size;
            put_name(difference, ours.name);
            return false;
        }
        if (bytes && !same_section(&ours, &theirs, difference))
            return false;
    }
    return true;
}

int pj_code_compare(const void *a, size_t a_size, const void *b, size_t b_size,
                    struct pj_code_difference *ret_difference)
{
    struct elf left, right;
    size_t count = 0, b_count = 0;
    struct pj_code_difference difference = {.equality = PJ_CODE_SAME};
    if (!open_elf(a, a_size, &left) || !is_readable(&left, &count)) {
        difference.equality = PJ_CODE_UNREADABLE_A;
    } else if (!open_elf(b, b_size, &right) || !is_readable(&right, &b_count)) {
        difference.equality = PJ_CODE_UNREADABLE_B;
    } else if (has_all(&left, &right, true, &difference) && has_all(&right, &left, false, &difference) &&
               count != b_count) {
        /* One name twice, which no compiler does. */
        difference.equality = count > b_count ? PJ_CODE_ONLY_IN_A : PJ_CODE_ONLY_IN_B;
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
