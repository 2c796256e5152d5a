/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a cubin's ELF headers where they lie: payloads in cache entries are not aligned, and nothing is
 * allocated for 4 MB of them, which is why this does not go through libelf. */
#include "image/cubin.h"

#include <elf.h>
#include <string.h>

enum {
    ABI_CUDA_12 = 0x33, /* up to CUDA 12: SM number in bits 0 to 7 of e_flags */
    ABI_CUDA_13 = 0x41, /* from CUDA 13.0: SM number in bits 8 to 15 */
};

/* Types that ptxas and the driver use in relocatable cubins alone; in executable ones these sections are
 * NOBITS. */
enum {
    SHT_CUDA_GLOBAL = 0x70000007, /* .nv.global */
    SHT_CUDA_LOCAL = 0x70000009,
    SHT_CUDA_SHARED = 0x7000000a, /* .nv.shared.<kernel> */
};

bool pj_cubin_section_has_bytes(uint32_t type)
{
    return type != SHT_NULL && type != SHT_NOBITS && type != SHT_CUDA_GLOBAL && type != SHT_CUDA_LOCAL &&
           type != SHT_CUDA_SHARED;
}

static bool fits(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/* Is a table of `count` items of `item_size` bytes inside the file? */
static bool table_fits(uint64_t offset, uint64_t count, uint64_t item_size, uint64_t size)
{
    uint64_t length;
    return !__builtin_mul_overflow(count, item_size, &length) && fits(offset, length, size);
}

static int check_ident(const unsigned char *bytes, size_t size, Elf64_Ehdr *ret_header, struct pj_error **err)
{
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "no cubin: it does not start as an ELF file");
    if (size < sizeof *ret_header)
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut cubin: %zu bytes do not hold an ELF header", size);
    memcpy(ret_header, bytes, sizeof *ret_header);
    if (ret_header->e_ident[EI_CLASS] != ELFCLASS64 || ret_header->e_ident[EI_DATA] != ELFDATA2LSB)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cubin layout not known: ELF class %u, byte order %u, not 64-bit little-endian",
                            ret_header->e_ident[EI_CLASS], ret_header->e_ident[EI_DATA]);
    if (ret_header->e_machine != EM_CUDA)
        return pj_error_set(err, PJ_ERROR_FORMAT, "no cubin: an ELF file for machine %u, not for CUDA (%d)",
                            ret_header->e_machine, EM_CUDA);
    if (ret_header->e_type != ET_EXEC && ret_header->e_type != ET_REL)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cubin layout not known: ELF type %u, neither executable nor relocatable",
                            ret_header->e_type);
    return 0;
}

static int read_arch(const Elf64_Ehdr *header, uint16_t *ret_number, struct pj_error **err)
{
    unsigned abi = header->e_ident[EI_OSABI], number = 0;
    if (abi == ABI_CUDA_12)
        number = header->e_flags & 0xff;
    else if (abi == ABI_CUDA_13)
        number = header->e_flags >> 8 & 0xff;
    else
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cubin layout not known: ABI byte 0x%02x, not 0x%02x or 0x%02x", abi, ABI_CUDA_12,
                            ABI_CUDA_13);
    if (number < 10)
        return pj_error_set(
            err, PJ_ERROR_FORMAT,
            "cubin layout not known: flags 0x%08x hold no architecture where ABI 0x%02x has it",
            header->e_flags, abi);
    *ret_number = (uint16_t)number;
    return 0;
}

static int check_sections(const unsigned char *bytes, size_t size, const Elf64_Ehdr *header,
                          struct pj_error **err)
{
    uint64_t count = header->e_shnum;
    Elf64_Shdr section;
    if (header->e_shoff == 0 || header->e_shentsize != sizeof section)
        return pj_error_set(err, PJ_ERROR_FORMAT, "damaged cubin: no section headers");
    if (!fits(header->e_shoff, sizeof section, size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut cubin: section headers at byte %llu of %zu",
                            (unsigned long long)header->e_shoff, size);
    if (count == 0) {
        /* ELF's way to count 65,280 sections and more: one function of a module has several. */
        memcpy(&section, bytes + header->e_shoff, sizeof section);
        count = section.sh_size;
    }
    if (count == 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "damaged cubin: no section headers");
    if (!table_fits(header->e_shoff, count, sizeof section, size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut cubin: %llu section headers at byte %llu of %zu",
                            (unsigned long long)count, (unsigned long long)header->e_shoff, size);
    for (uint64_t i = 1; i < count; i++) {
        memcpy(&section, bytes + header->e_shoff + i * sizeof section, sizeof section);
        if (pj_cubin_section_has_bytes(section.sh_type) && !fits(section.sh_offset, section.sh_size, size))
            return pj_error_set(err, PJ_ERROR_FORMAT,
                                "cut cubin: section %llu ends behind byte %zu, the last",
                                (unsigned long long)i, size);
    }
    return 0;
}

static int check_segments(const unsigned char *bytes, size_t size, const Elf64_Ehdr *header,
                          struct pj_error **err)
{
    Elf64_Phdr segment;
    if (header->e_phnum == 0) {
        if (header->e_type == ET_EXEC)
            return pj_error_set(err, PJ_ERROR_FORMAT, "damaged cubin: executable, but no program headers");
        return 0;
    }
    if (header->e_phentsize != sizeof segment)
        return pj_error_set(err, PJ_ERROR_FORMAT, "damaged cubin: program headers of %u bytes, not %zu",
                            header->e_phentsize, sizeof segment);
    if (!table_fits(header->e_phoff, header->e_phnum, sizeof segment, size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut cubin: %u program headers at byte %llu of %zu",
                            header->e_phnum, (unsigned long long)header->e_phoff, size);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        if (!fits(segment.p_offset, segment.p_filesz, size))
            return pj_error_set(err, PJ_ERROR_FORMAT, "cut cubin: segment %u ends behind byte %zu, the last",
                                i, size);
    }
    return 0;
}

int pj_cubin_read(const void *bytes, size_t size, struct pj_cubin *ret_cubin, struct pj_error **err)
{
    Elf64_Ehdr header;
    struct pj_cubin cubin = {0};
    int status = check_ident(bytes, size, &header, err);
    if (status == 0)
        status = read_arch(&header, &cubin.arch_number, err);
    if (status == 0)
        status = check_sections(bytes, size, &header, err);
    if (status == 0)
        status = check_segments(bytes, size, &header, err);
    if (status < 0)
        return status;
    cubin.relocatable = header.e_type == ET_REL;
    *ret_cubin = cubin;
    return 0;
}
