/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a cubin: architecture, kernels, variables; checks that it is whole. */
#include "cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct view {
    const unsigned char *bytes;
    size_t length;
    Elf64_Ehdr header;
};

static bool inside(const struct view *view, uint64_t offset, uint64_t size)
{
    return offset <= view->length && size <= view->length - offset;
}

static Elf64_Shdr section_at(const struct view *view, size_t index)
{
    Elf64_Shdr section;
    memcpy(&section, view->bytes + view->header.e_shoff + index * sizeof section, sizeof section);
    return section;
}

size_t fake_cubin_extent(const unsigned char *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    uint64_t extent = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    uint64_t segments_end = header.e_phoff + (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > extent)
            extent = section.sh_offset + section.sh_size;
    }
    return segments_end > extent ? segments_end : extent;
}

static bool is_whole(const struct view *view)
{
    const Elf64_Ehdr *header = &view->header;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != 190 || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
        return false;
    if (!inside(view, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)) ||
        !inside(view, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return false;
    for (size_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section = section_at(view, i);
        if (section.sh_type != SHT_NOBITS && !inside(view, section.sh_offset, section.sh_size))
            return false;
    }
    return true;
}

static void add(struct fake_cubin_symbols *symbols, const char *name, uint64_t bytes, bool weak,
                uint64_t parameter_bytes)
{
    symbols->list = fake_reallocate(symbols->list, (symbols->count + 1) * sizeof *symbols->list);
    symbols->list[symbols->count++] =
        (struct fake_cubin_symbol){fake_copy_text(name, strlen(name)), bytes, weak, parameter_bytes};
}

/* The text at `offset` of a string table section; NULL where it is not ended inside it. */
static const char *text_at(const struct view *view, size_t table, uint64_t offset)
{
    if (table >= view->header.e_shnum)
        return NULL;
    Elf64_Shdr section = section_at(view, table);
    if (section.sh_type != SHT_STRTAB || offset >= section.sh_size)
        return NULL;
    const unsigned char *text = view->bytes + section.sh_offset + offset;
    return memchr(text, 0, section.sh_size - offset) ? (const char *)text : NULL;
}

static void read_symbol(const Elf64_Sym *symbol, const char *name, struct fake_cubin *cubin)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    bool weak = bind != STB_GLOBAL;
    if (symbol->st_shndx == SHN_UNDEF) {
        if (bind == STB_GLOBAL)
            add(&cubin->undefined, name, 0, false, 0);
    } else if (type == STT_OBJECT) {
        add(&cubin->variables, name, symbol->st_size, weak, 0);
    } else if (type == STT_FUNC) {
        cubin->unloadable |= (symbol->st_other & FAKE_CUBIN_UNLOADABLE) != 0;
        cubin->no_sampler |= (symbol->st_other & FAKE_CUBIN_NO_SAMPLER) != 0;
        add(symbol->st_other & FAKE_CUBIN_ENTRY ? &cubin->kernels : &cubin->functions, name, symbol->st_size,
            weak, symbol->st_value);
    }
}

static void read_symbols(const struct view *view, const Elf64_Shdr *table, struct fake_cubin *cubin)
{
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, view->bytes + table->sh_offset + at, sizeof symbol);
        const char *name = text_at(view, table->sh_link, symbol.st_name);
        if (name && *name)
            read_symbol(&symbol, name, cubin);
    }
}

/* Of `.nv.info.NAME`, for the kernel NAME: attributes of a format, a number and two bytes, which are the
 * value, or (format 4) the length of what follows. */
static void read_info(const struct view *view, const Elf64_Shdr *section, struct fake_cubin *cubin)
{
    enum { FORMAT_SIZED = 4, PARAMETER_SIZE = 0x19, PARAMETER = 0x17 };
    enum { POINTS_TO = 4 + 9, TO_LOCAL = 1, TO_SHARED = 2 }; /* the low half of a byte of a parameter */
    static const char prefix[] = ".nv.info.";
    const char *name = text_at(view, view->header.e_shstrndx, section->sh_name);
    if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    const unsigned char *bytes = view->bytes + section->sh_offset;
    for (uint64_t at = 0; at + 4 <= section->sh_size;) {
        uint64_t value = (uint64_t)bytes[at + 2] | (uint64_t)bytes[at + 3] << 8;
        for (size_t i = 0; i < cubin->kernels.count && bytes[at + 1] == PARAMETER_SIZE; i++)
            if (strcmp(cubin->kernels.list[i].name, name + sizeof prefix - 1) == 0)
                cubin->kernels.list[i].parameter_bytes = value;
        if (bytes[at] == FORMAT_SIZED && bytes[at + 1] == PARAMETER && at + POINTS_TO < section->sh_size) {
            unsigned space = bytes[at + POINTS_TO] & 0xfu;
            cubin->unloadable |= space == TO_LOCAL || space == TO_SHARED;
        }
        at += 4 + (bytes[at] == FORMAT_SIZED ? value : 0);
    }
}

bool fake_cubin_read(const unsigned char *bytes, size_t length, struct fake_cubin *ret_cubin)
{
    struct view view = {.bytes = bytes, .length = length};
    if (length < sizeof view.header)
        return false;
    memcpy(&view.header, bytes, sizeof view.header);
    if (!is_whole(&view))
        return false;
    struct fake_cubin cubin = {0};
    cubin.arch = view.header.e_ident[EI_OSABI] == 0x41 ? view.header.e_flags >> 8 & 0xffu
                                                       : view.header.e_flags & 0xffu;
    for (size_t i = 0; i < view.header.e_shnum; i++) {
        Elf64_Shdr section = section_at(&view, i);
        if (section.sh_type == SHT_SYMTAB)
            read_symbols(&view, &section, &cubin);
    }
    for (size_t i = 0; i < view.header.e_shnum; i++) {
        Elf64_Shdr section = section_at(&view, i);
        if (section.sh_type != SHT_NOBITS)
            read_info(&view, &section, &cubin);
    }
    *ret_cubin = cubin;
    return true;
}

static void free_symbols(struct fake_cubin_symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        free(symbols->list[i].name);
    free(symbols->list);
}

void fake_cubin_free(struct fake_cubin *cubin)
{
    free_symbols(&cubin->kernels);
    free_symbols(&cubin->functions);
    free_symbols(&cubin->variables);
    free_symbols(&cubin->undefined);
    *cubin = (struct fake_cubin){0};
}
