/* SPDX-License-Identifier: Apache-2.0 */
/* Reads section headers where they lie: members of archives are not aligned, and big ones are not copied,
 * which is why this does not go through libelf. */
#include "image/object.h"

#include <elf.h>
#include <string.h>

static bool fits(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

static Elf64_Shdr section_at(const struct pj_object *object, uint64_t index)
{
    Elf64_Shdr section;
    memcpy(&section, object->bytes + object->table + index * sizeof section, sizeof section);
    return section;
}

static int check_header(const Elf64_Ehdr *header, struct pj_error **err)
{
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "an ELF file of class %u and byte order %u, not 64-bit little-endian (%d and %d)",
                            header->e_ident[EI_CLASS], header->e_ident[EI_DATA], ELFCLASS64, ELFDATA2LSB);
    if (header->e_type != ET_REL && header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "an ELF file of type %u, neither an object (%d) nor a program or shared library "
                            "(%d, %d)",
                            header->e_type, ET_REL, ET_EXEC, ET_DYN);
    return 0;
}

/* Sets table, count and the place of the names. */
static int find_table(struct pj_object *object, const Elf64_Ehdr *header, struct pj_error **err)
{
    const size_t item = sizeof(Elf64_Shdr);
    uint64_t count = header->e_shnum, names = header->e_shstrndx, length = 0;
    if (header->e_shoff == 0)
        return 0; /* stripped of its sections */
    object->table = header->e_shoff;
    if (header->e_shentsize != item || !fits(object->table, item, object->size))
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cut ELF file: section headers of %u bytes at byte %llu of %zu",
                            header->e_shentsize, (unsigned long long)object->table, object->size);
    /* ELF's way to count 65,280 sections and more. */
    if (count == 0)
        count = section_at(object, 0).sh_size;
    if (names == SHN_XINDEX)
        names = section_at(object, 0).sh_link;
    if (__builtin_mul_overflow(count, item, &length) || !fits(object->table, length, object->size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut ELF file: %llu section headers at byte %llu of %zu",
                            (unsigned long long)count, (unsigned long long)object->table, object->size);
    if (names == SHN_UNDEF)
        return 0; /* sections without names: none is ours */
    if (names >= count)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "damaged ELF file: section %llu of %llu should hold the names",
                            (unsigned long long)names, (unsigned long long)count);
    Elf64_Shdr section = section_at(object, names);
    if (section.sh_type == SHT_NOBITS || !fits(section.sh_offset, section.sh_size, object->size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut ELF file: section names at byte %llu of %zu",
                            (unsigned long long)section.sh_offset, object->size);
    object->names_at = section.sh_offset;
    object->names_size = section.sh_size;
    object->count = count;
    return 0;
}

int pj_object_start(const void *bytes, size_t size, struct pj_object *ret, struct pj_error **err)
{
    struct pj_object object = {.bytes = bytes, .size = size, .next = 1};
    Elf64_Ehdr header;
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "no ELF file");
    if (size < sizeof header)
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut ELF file: %zu bytes do not hold its header of %zu",
                            size, sizeof header);
    memcpy(&header, bytes, sizeof header);
    int status = check_header(&header, err);
    if (status == 0)
        status = find_table(&object, &header, err);
    if (status < 0)
        return status;
    object.relocatable = header.e_type == ET_REL;
    *ret = object;
    return 0;
}

/* The name at `offset` of the name table, or NULL where none ends there. */
static const char *name_at(const struct pj_object *object, uint64_t offset)
{
    if (offset >= object->names_size)
        return NULL;
    const char *name = (const char *)object->bytes + object->names_at + offset;
    return memchr(name, '\0', (size_t)(object->names_size - offset)) ? name : NULL;
}

int pj_object_next(struct pj_object *object, struct pj_section *ret_section, struct pj_error **err)
{
    while (object->next < object->count) {
        uint64_t index = object->next++;
        Elf64_Shdr section = section_at(object, index);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL || section.sh_size == 0)
            continue;
        if (!fits(section.sh_offset, section.sh_size, object->size))
            return pj_error_set(err, PJ_ERROR_FORMAT,
                                "cut ELF file: section %llu has %llu bytes at byte %llu of %zu",
                                (unsigned long long)index, (unsigned long long)section.sh_size,
                                (unsigned long long)section.sh_offset, object->size);
        const char *name = name_at(object, section.sh_name);
        if (!name)
            return pj_error_set(err, PJ_ERROR_FORMAT,
                                "damaged ELF file: the name of section %llu is not in the table of names",
                                (unsigned long long)index);
        *ret_section = (struct pj_section){name, (size_t)section.sh_offset, (size_t)section.sh_size};
        return 1;
    }
    return 0;
}
