/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a cubin: an ELF of CUDA 13's layout whose kernels hold noise. */
#include "cubin.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, ABI_CUDA_13 = 0x41, FIXED_SECTIONS = 5 };

struct writer {
    struct fake_buffer *out;
    struct fake_buffer section_names;
    struct fake_buffer names;
    struct fake_buffer symbols;
    Elf64_Shdr *sections;
    size_t section_count;
};

static uint32_t add_name(struct fake_buffer *table, const char *prefix, const char *name)
{
    uint32_t offset = (uint32_t)table->length;
    fake_buffer_add_text(table, prefix);
    fake_buffer_add(table, name, strlen(name) + 1);
    return offset;
}

/* Reserves the next section; its bytes are what is appended to `out` until its size is set. */
static Elf64_Shdr *add_section(struct writer *writer, const char *prefix, const char *name, uint32_t type,
                               uint64_t flags, uint64_t alignment)
{
    writer->sections =
        fake_reallocate(writer->sections, (writer->section_count + 1) * sizeof *writer->sections);
    fake_buffer_align(writer->out, alignment ? alignment : 1);
    Elf64_Shdr *section = &writer->sections[writer->section_count++];
    *section = (Elf64_Shdr){.sh_name = add_name(&writer->section_names, prefix, name),
                            .sh_type = type,
                            .sh_flags = flags,
                            .sh_offset = writer->out->length,
                            .sh_addralign = alignment};
    return section;
}

enum place { IN_LAST_SECTION, NOWHERE };

static void add_symbol(struct writer *writer, const char *name, unsigned char type, enum fake_linkage linkage,
                       enum place place, uint64_t value, uint64_t bytes)
{
    unsigned char bind = linkage == FAKE_LINKAGE_WEAK ? STB_WEAK : STB_GLOBAL;
    Elf64_Sym symbol = {.st_name = add_name(&writer->names, "", name),
                        .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
                        .st_value = value,
                        .st_size = bytes};
    if (place == IN_LAST_SECTION)
        symbol.st_shndx = (uint16_t)(writer->section_count - 1);
    fake_buffer_add(&writer->symbols, &symbol, sizeof symbol);
}

static void add_noise(struct fake_buffer *out, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; i += 8) {
        seed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
        fake_buffer_add(out, &seed, length - i < 8 ? length - i : 8);
    }
}

static void add_code(struct writer *writer, const struct fake_ptx_function *function, unsigned char other,
                     uint64_t seed, size_t least_bytes)
{
    size_t bytes = function->body_bytes / 2;
    if (bytes < least_bytes)
        bytes = least_bytes;
    bytes = (bytes + 128) / 128 * 128; /* instructions come in such blocks */
    Elf64_Shdr *text =
        add_section(writer, ".text.", function->name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 128);
    text->sh_size = bytes;
    text->sh_link = 3;
    add_noise(writer->out, seed, bytes);
    if (!other && function->linkage == FAKE_LINKAGE_LOCAL)
        return; /* nobody outside may name it */
    add_symbol(writer, function->name, STT_FUNC, function->linkage, IN_LAST_SECTION,
               function->parameter_bytes, bytes);
    writer->symbols.data[writer->symbols.length - sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_other)] = other;
}

static void add_kernels(struct writer *writer, const struct fake_ptx *ptx, uint64_t seed, size_t least_bytes)
{
    size_t least_each = ptx->kernel_count ? least_bytes / ptx->kernel_count + 1 : 0;
    for (size_t i = 0; i < ptx->kernel_count; i++) {
        unsigned char other = FAKE_CUBIN_ENTRY;
        if (ptx->kernels[i].unloadable)
            other |= FAKE_CUBIN_UNLOADABLE;
        if (ptx->sampler)
            other |= FAKE_CUBIN_NO_SAMPLER;
        add_code(writer, &ptx->kernels[i], other, seed + i, least_each);
    }
}

static void add_functions(struct writer *writer, const struct fake_ptx *ptx, uint64_t seed)
{
    for (size_t i = 0; i < ptx->function_count; i++)
        add_code(writer, &ptx->functions[i], 0, seed + ptx->kernel_count + i, 0);
}

static void add_undefined(struct writer *writer, const struct fake_names *names, unsigned char type)
{
    for (size_t i = 0; i < names->count; i++)
        add_symbol(writer, names->names[i], type, FAKE_LINKAGE_EXTERN, NOWHERE, 0, 0);
}

/* In a relocatable cubin extern variables have no place, and local ones no name. */
static void add_variables(struct writer *writer, const struct fake_ptx *ptx, bool relocatable,
                          bool initialised)
{
    Elf64_Shdr *section = NULL;
    for (size_t i = 0; i < ptx->variable_count; i++) {
        const struct fake_ptx_variable *variable = &ptx->variables[i];
        if (variable->initialised != initialised || (relocatable && variable->linkage == FAKE_LINKAGE_EXTERN))
            continue;
        if (!section)
            section =
                initialised
                    ? add_section(writer, "", ".nv.global.init", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 256)
                    : add_section(writer, "", ".nv.global", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 256);
        if (!relocatable || variable->linkage != FAKE_LINKAGE_LOCAL)
            add_symbol(writer, variable->name, STT_OBJECT, variable->linkage, IN_LAST_SECTION,
                       section->sh_size, variable->bytes);
        section->sh_size += variable->bytes;
        if (initialised)
            fake_buffer_fill(writer->out, 0, variable->bytes);
    }
}

/* Section 4: a note whose text tells the emulation's cubins from real ones. */
static void add_note(struct writer *writer, uint64_t seed)
{
    struct fake_buffer text = {0};
    fake_buffer_printf(&text, "emulated driver %016llx", (unsigned long long)seed);
    Elf64_Nhdr note = {.n_namesz = 8, .n_descsz = (uint32_t)text.length + 1, .n_type = 1};
    Elf64_Shdr *section = add_section(writer, "", ".note.emulated", SHT_NOTE, 0, 4);
    size_t start = writer->out->length;
    fake_buffer_add(writer->out, &note, sizeof note);
    fake_buffer_add(writer->out, "prejit\0", 8);
    fake_buffer_add(writer->out, text.data, text.length + 1);
    fake_buffer_align(writer->out, 4);
    section->sh_size = writer->out->length - start;
    fake_buffer_free(&text);
}

/* The three tables are complete only now: their sections, reserved first, get their bytes. */
static void end_table(struct writer *writer, size_t section, const struct fake_buffer *bytes,
                      size_t alignment)
{
    fake_buffer_align(writer->out, alignment);
    writer->sections[section].sh_offset = writer->out->length;
    writer->sections[section].sh_size = bytes->length;
    fake_buffer_add(writer->out, bytes->data, bytes->length);
}

/* Last, as in real cubins: so that whatever is cut off is missed. */
static uint64_t add_segments(struct writer *writer)
{
    fake_buffer_align(writer->out, 8);
    uint64_t offset = writer->out->length;
    Elf64_Phdr segments[2] = {
        {.p_type = PT_PHDR, .p_flags = PF_R, .p_offset = offset, .p_align = 8},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_offset = 0,
         .p_filesz = offset,
         .p_memsz = offset,
         .p_align = 8},
    };
    segments[0].p_filesz = segments[0].p_memsz = sizeof segments;
    fake_buffer_add(writer->out, segments, sizeof segments);
    return offset;
}

void fake_cubin_write(const struct fake_ptx *ptx, unsigned arch, bool relocatable, uint64_t seed,
                      size_t least_bytes, struct fake_buffer *ret_cubin)
{
    struct fake_buffer out = {0};
    struct writer writer = {.out = &out};
    Elf64_Ehdr header = {.e_type = relocatable ? ET_REL : ET_EXEC,
                         .e_machine = MACHINE_CUDA,
                         .e_version = 1,
                         .e_flags = 0x06000000u | arch << 8 | (arch >= 100 ? 2u : 4u),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = relocatable ? 0 : sizeof(Elf64_Phdr),
                         .e_phnum = relocatable ? 0 : 2,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shstrndx = 1};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = ABI_CUDA_13;
    header.e_ident[EI_ABIVERSION] = 8;
    fake_buffer_fill(&out, 0, sizeof header);
    fake_buffer_fill(&writer.names, 0, 1);
    fake_buffer_fill(&writer.symbols, 0, sizeof(Elf64_Sym));

    add_section(&writer, "", "", SHT_NULL, 0, 0)->sh_offset = 0;
    add_section(&writer, "", ".shstrtab", SHT_STRTAB, 0, 1);
    add_section(&writer, "", ".strtab", SHT_STRTAB, 0, 1);
    Elf64_Shdr *symbols = add_section(&writer, "", ".symtab", SHT_SYMTAB, 0, 8);
    symbols->sh_link = 2;
    symbols->sh_info = 1;
    symbols->sh_entsize = sizeof(Elf64_Sym);
    add_note(&writer, seed);
    add_kernels(&writer, ptx, seed, least_bytes);
    add_variables(&writer, ptx, relocatable, true);
    add_variables(&writer, ptx, relocatable, false);
    if (relocatable) {
        add_functions(&writer, ptx, seed);
        add_undefined(&writer, &ptx->undefined_functions, STT_FUNC);
        add_undefined(&writer, &ptx->undefined_variables, STT_OBJECT);
    }
    end_table(&writer, 1, &writer.section_names, 1);
    end_table(&writer, 2, &writer.names, 1);
    end_table(&writer, 3, &writer.symbols, 8);

    fake_buffer_align(&out, 8);
    header.e_shoff = out.length;
    header.e_shnum = (uint16_t)writer.section_count;
    fake_buffer_add(&out, writer.sections, writer.section_count * sizeof *writer.sections);
    if (!relocatable)
        header.e_phoff = add_segments(&writer);
    memcpy(out.data, &header, sizeof header);
    fake_buffer_free(&writer.section_names);
    fake_buffer_free(&writer.names);
    fake_buffer_free(&writer.symbols);
    free(writer.sections);
    *ret_cubin = out;
}
