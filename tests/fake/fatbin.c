/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fat binaries, and finds them in host objects and archives. */
#include "fatbin.h"

#include "base.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64, MEMBER_HEADER = 60 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

static unsigned get16(const unsigned char *bytes)
{
    return (unsigned)bytes[0] | (unsigned)bytes[1] << 8;
}

size_t fake_fatbin_container(const unsigned char *bytes, size_t length)
{
    if (length < CONTAINER_HEADER || fake_get32(bytes) != 0xba55ed50u || get16(bytes + 6) != CONTAINER_HEADER)
        return 0;
    uint64_t size = fake_get64(bytes + 8);
    return size <= length - CONTAINER_HEADER ? CONTAINER_HEADER + (size_t)size : 0;
}

/* The block at offset 20: where the text lies, counted from the entry, and how long it is. */
static void read_options(const unsigned char *entry, size_t header_bytes, struct fake_fatbin_entry *ret_entry)
{
    size_t block = fake_get32(entry + 20);
    if (block < ENTRY_HEADER || block > header_bytes || header_bytes - block < 8)
        return;
    size_t start = fake_get32(entry + block), length = fake_get32(entry + block + 4);
    if (start > header_bytes || length > header_bytes - start)
        return;
    ret_entry->options = (const char *)entry + start;
    ret_entry->option_bytes = length;
}

bool fake_fatbin_next(const unsigned char *container, size_t bytes, size_t *at,
                      struct fake_fatbin_entry *ret_entry)
{
    if (*at == 0)
        *at = CONTAINER_HEADER;
    if (*at > bytes || bytes - *at < ENTRY_HEADER)
        return false;
    const unsigned char *entry = container + *at;
    size_t left = bytes - *at, header_bytes = fake_get32(entry + 4);
    uint64_t payload_bytes = fake_get64(entry + 8);
    if (header_bytes < ENTRY_HEADER || header_bytes > left || payload_bytes > left - header_bytes)
        return false;
    *ret_entry =
        (struct fake_fatbin_entry){.kind = get16(entry),
                                   .arch = fake_get32(entry + 28),
                                   .is_packed = (fake_get64(entry + 40) & (FLAG_LZ4 | FLAG_ZSTD)) != 0,
                                   .is_zstd = (fake_get64(entry + 40) & FLAG_ZSTD) != 0,
                                   .packed_bytes = fake_get32(entry + 16),
                                   .plain_bytes = (size_t)fake_get64(entry + 56),
                                   .payload = entry + header_bytes,
                                   .payload_bytes = (size_t)payload_bytes};
    read_options(entry, header_bytes, ret_entry);
    *at += header_bytes + (size_t)payload_bytes;
    return true;
}

bool fake_fatbin_choose(const unsigned char *container, size_t bytes, unsigned arch,
                        struct fake_fatbin_entry *ret_entry, bool *ret_has_ltoir)
{
    struct fake_fatbin_entry entry;
    bool cubin = false, found = false;
    *ret_has_ltoir = false;
    for (size_t at = 0; fake_fatbin_next(container, bytes, &at, &entry);) {
        bool is_cubin = entry.kind == FAKE_FATBIN_CUBIN && entry.arch / 10 == arch / 10;
        *ret_has_ltoir = *ret_has_ltoir || entry.kind == FAKE_FATBIN_LTOIR;
        if (entry.arch > arch || (!is_cubin && entry.kind != FAKE_FATBIN_PTX) || (cubin && !is_cubin))
            continue;
        if (found && cubin == is_cubin && entry.arch <= ret_entry->arch)
            continue;
        *ret_entry = entry;
        cubin = is_cubin;
        found = true;
    }
    return found;
}

bool fake_fatbin_object_section(const unsigned char *bytes, size_t length, unsigned *index,
                                const unsigned char **ret_section, size_t *ret_bytes)
{
    Elf64_Ehdr header;
    if (length < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shoff > length || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shnum > (length - header.e_shoff) / sizeof(Elf64_Shdr) ||
        header.e_shstrndx >= header.e_shnum)
        return false;
    Elf64_Shdr names, section;
    memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > length || names.sh_size > length - names.sh_offset)
        return false;
    while (*index < header.e_shnum) {
        memcpy(&section, bytes + header.e_shoff + (size_t)(*index)++ * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_offset > length ||
            section.sh_size > length - section.sh_offset || section.sh_name >= names.sh_size)
            continue;
        const char *name = (const char *)bytes + names.sh_offset + section.sh_name;
        size_t most = names.sh_size - section.sh_name;
        if (strnlen(name, most) == most ||
            (strcmp(name, "__nv_relfatbin") != 0 && strcmp(name, ".nv_fatbin") != 0))
            continue;
        *ret_section = bytes + section.sh_offset;
        *ret_bytes = section.sh_size;
        return true;
    }
    return false;
}

bool fake_fatbin_member(const unsigned char *bytes, size_t length, size_t *at, char ret_name[64],
                        const unsigned char **ret_member, size_t *ret_bytes)
{
    if (length < 8 || memcmp(bytes, "!<arch>\n", 8) != 0)
        return false;
    if (*at == 0)
        *at = 8;
    while (*at <= length && length - *at >= MEMBER_HEADER) {
        const char *header = (const char *)bytes + *at;
        char digits[11] = {0};
        memcpy(digits, header + 48, 10);
        unsigned long long size = strtoull(digits, NULL, 10);
        size_t start = *at + MEMBER_HEADER;
        if (size > length - start)
            return false;
        *at = start + (size_t)size + (size_t)(size & 1);
        if (header[0] == '/')
            continue; /* a table: of symbols, or of long names */
        size_t name = 0;
        while (name < 16 && header[name] != '/' && header[name] != ' ')
            name++;
        snprintf(ret_name, 64, "%.*s", (int)name, header);
        *ret_member = bytes + start;
        *ret_bytes = (size_t)size;
        return true;
    }
    return false;
}
