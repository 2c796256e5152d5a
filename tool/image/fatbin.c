/* SPDX-License-Identifier: Apache-2.0 */
/* Walks fatbins. */
#include "image/fatbin.h"

#include <string.h>

#include "image/fatbin_layout.h"

static uint64_t number_at(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static uint16_t u16_at(const unsigned char *bytes)
{
    return (uint16_t)number_at(bytes, 2);
}

static uint32_t u32_at(const unsigned char *bytes)
{
    return (uint32_t)number_at(bytes, 4);
}

static uint64_t u64_at(const unsigned char *bytes)
{
    return number_at(bytes, 8);
}

static bool is_container(const unsigned char *bytes, size_t size)
{
    return size >= sizeof PJ_FATBIN_MAGIC - 1 &&
           memcmp(bytes, PJ_FATBIN_MAGIC, sizeof PJ_FATBIN_MAGIC - 1) == 0;
}

/* Enters the container at `fatbin->at`, which has the magic number. */
static int enter(struct pj_fatbin *fatbin, struct pj_error **err)
{
    const unsigned char *header = fatbin->bytes + fatbin->at;
    size_t left = fatbin->size - fatbin->at;
    if (left < CONTAINER_HEADER)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cut fatbin: the container at byte %zu has %zu bytes of its header of %d",
                            fatbin->at, left, CONTAINER_HEADER);
    unsigned version = u16_at(header + 4), header_size = u16_at(header + 6);
    if (version != CONTAINER_VERSION || header_size != CONTAINER_HEADER)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "fatbin layout not known: the container at byte %zu has version %u and a header "
                            "of %u bytes, not %d and %d",
                            fatbin->at, version, header_size, CONTAINER_VERSION, CONTAINER_HEADER);
    uint64_t length = u64_at(header + CONTAINER_SIZE_AT);
    left -= CONTAINER_HEADER;
    if (length > left)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "cut fatbin: the container at byte %zu is %llu bytes long, and %zu follow its "
                            "header",
                            fatbin->at, (unsigned long long)length, left);
    fatbin->container = fatbin->at;
    fatbin->at += CONTAINER_HEADER;
    fatbin->container_end = fatbin->at + (size_t)length;
    fatbin->containers++;
    return 0;
}

int pj_fatbin_start(const void *bytes, size_t size, struct pj_fatbin *ret, struct pj_error **err)
{
    struct pj_fatbin fatbin = {.bytes = bytes, .size = size};
    if (!is_container(bytes, size))
        return pj_error_set(err, PJ_ERROR_FORMAT, "no fatbin: it does not start with 50 ed 55 ba");
    int status = enter(&fatbin, err);
    if (status == 0)
        *ret = fatbin;
    return status;
}

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Goes past NULs up to the next multiple of 8, counted from the container's start, where there are only NULs.
 */
static void align(struct pj_fatbin *fatbin)
{
    size_t over = (fatbin->at - fatbin->container) % ALIGNMENT;
    size_t gap = over == 0 ? 0 : ALIGNMENT - over;
    size_t left = fatbin->container_end - fatbin->at;
    if (gap > left)
        gap = left;
    if (all_zero(fatbin->bytes + fatbin->at, gap))
        fatbin->at += gap;
}

/* Goes to the next entry; false where there is none. What is not one is left for read_entry to refuse. */
static bool find_entry(struct pj_fatbin *fatbin, int *status, struct pj_error **err)
{
    for (;;) {
        align(fatbin);
        const unsigned char *at = fatbin->bytes + fatbin->at;
        size_t left = fatbin->container_end - fatbin->at;
        /* An entry has a kind, so this is padding or damage; the scan goes to the end once at most. */
        if (left > 0 && !(at[0] == 0 && all_zero(at, left)))
            return true;
        fatbin->at = fatbin->container_end;
        while (fatbin->at < fatbin->size && fatbin->bytes[fatbin->at] == 0)
            fatbin->at++;
        /* Later calls find the end again. */
        fatbin->container_end = fatbin->at;
        if (!is_container(fatbin->bytes + fatbin->at, fatbin->size - fatbin->at))
            return false;
        *status = enter(fatbin, err);
        if (*status < 0)
            return true;
    }
}

static enum pj_code_kind code_kind(uint16_t number)
{
    switch (number) {
    case 1:
        return PJ_CODE_PTX;
    case 2:
        return PJ_CODE_CUBIN;
    case 8:
        return PJ_CODE_LTOIR;
    default:
        return PJ_CODE_OTHER;
    }
}

static enum pj_packing packing(uint64_t flags)
{
    switch (flags & (FLAG_LZ4 | FLAG_ZSTD)) {
    case 0:
        return PJ_PACKING_NONE;
    case FLAG_LZ4:
        return PJ_PACKING_LZ4;
    case FLAG_ZSTD:
        return PJ_PACKING_ZSTD;
    default:
        return PJ_PACKING_OTHER;
    }
}

static char letter(uint64_t flags)
{
    if (flags & FLAG_LETTER_A)
        return 'a';
    return flags & FLAG_LETTER_F ? 'f' : '\0';
}

static int outside_header(size_t at, const char *what, uint64_t offset, uint64_t size, size_t header_size,
                          struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "damaged fatbin: the entry at byte %zu has its %s of %llu bytes at byte %llu of a "
                        "header of %zu bytes",
                        at, what, (unsigned long long)size, (unsigned long long)offset, header_size);
}

/* Name and options, which lie inside the entry's header. */
static int read_texts(const unsigned char *header, size_t header_size, struct pj_fatbin_entry *entry,
                      struct pj_error **err)
{
    size_t name = u32_at(header + NAME_AT), name_size = u32_at(header + NAME_SIZE_AT);
    if (name_size > 0) {
        if (name > header_size || name_size > header_size - name)
            return outside_header(entry->header_offset, "name", name, name_size, header_size, err);
        entry->name = (const char *)header + name;
        entry->name_size = name_size;
    }
    size_t options = u32_at(header + OPTIONS_AT);
    if (options < ENTRY_HEADER || options > header_size || header_size - options < 8)
        return 0;
    size_t text = u32_at(header + options), text_size = u32_at(header + options + 4);
    if (text > header_size || text_size > header_size - text)
        return outside_header(entry->header_offset, "options", text, text_size, header_size, err);
    entry->options = (const char *)header + text;
    entry->options_size = text_size;
    return 0;
}

static int read_sizes(const struct pj_fatbin *fatbin, struct pj_fatbin_entry *entry, struct pj_error **err)
{
    const unsigned char *header = fatbin->bytes + fatbin->at;
    size_t left = fatbin->container_end - fatbin->at;
    if (left < ENTRY_HEADER)
        return pj_error_set(
            err, PJ_ERROR_FORMAT,
            "damaged fatbin: %zu bytes at byte %zu, where an entry has a header of at least %d", left,
            fatbin->at, ENTRY_HEADER);
    size_t header_size = u32_at(header + HEADER_SIZE_AT);
    if (header_size < ENTRY_HEADER || header_size > left)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "damaged fatbin: the entry at byte %zu has a header of %zu bytes, not %d to %zu",
                            fatbin->at, header_size, ENTRY_HEADER, left);
    left -= header_size;
    uint64_t padded = u64_at(header + PADDED_SIZE_AT);
    if (padded > left)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "damaged fatbin: the entry at byte %zu has %llu bytes, and its container %zu",
                            fatbin->at, (unsigned long long)padded, left);
    uint64_t packed = u32_at(header + PACKED_SIZE_AT);
    if (entry->packing != PJ_PACKING_NONE && packed > padded)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "damaged fatbin: the entry at byte %zu has %llu packed bytes in %llu", fatbin->at,
                            (unsigned long long)packed, (unsigned long long)padded);
    entry->header_offset = fatbin->at;
    entry->payload_offset = fatbin->at + header_size;
    entry->padded_size = (size_t)padded;
    entry->payload_size = entry->packing == PJ_PACKING_NONE || packed == 0 ? (size_t)padded : (size_t)packed;
    entry->plain_size =
        entry->packing == PJ_PACKING_NONE ? entry->payload_size : u64_at(header + PLAIN_SIZE_AT);
    entry->bad_shape = padded % ALIGNMENT != 0 && left > padded;
    return read_texts(header, header_size, entry, err);
}

static int read_entry(const struct pj_fatbin *fatbin, struct pj_fatbin_entry *ret_entry,
                      struct pj_error **err)
{
    const unsigned char *header = fatbin->bytes + fatbin->at;
    struct pj_fatbin_entry entry = {0};
    if (fatbin->container_end - fatbin->at >= ENTRY_HEADER) {
        entry.flags = u64_at(header + FLAGS_AT);
        entry.packing = packing(entry.flags);
    }
    int status = read_sizes(fatbin, &entry, err);
    if (status < 0)
        return status;
    uint32_t arch = u32_at(header + ARCH_AT);
    if (arch > UINT16_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "damaged fatbin: the entry at byte %zu is for architecture %u, and %u is the "
                            "highest that could be",
                            fatbin->at, arch, UINT16_MAX);
    entry.kind_number = u16_at(header + KIND_AT);
    entry.kind = code_kind(entry.kind_number);
    entry.arch = (struct pj_arch){.number = (uint16_t)arch, .letter = letter(entry.flags)};
    entry.major = u16_at(header + MAJOR_AT);
    entry.minor = u16_at(header + MINOR_AT);
    entry.scrambled = (entry.flags & FLAG_SCRAMBLED) != 0;
    *ret_entry = entry;
    return 0;
}

int pj_fatbin_next(struct pj_fatbin *fatbin, struct pj_fatbin_entry *ret_entry, struct pj_error **err)
{
    int status = 0;
    if (!find_entry(fatbin, &status, err))
        return 0;
    if (status == 0)
        status = read_entry(fatbin, ret_entry, err);
    if (status < 0)
        return status;
    fatbin->at = ret_entry->payload_offset + ret_entry->padded_size;
    return 1;
}
