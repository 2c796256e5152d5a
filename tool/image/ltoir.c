/* SPDX-License-Identifier: Apache-2.0 */
/* Reads LTO-IR's header. Its layout was found by comparing what nvcc and NVRTC 13.0 make for several
 * architectures:
 *   0 magic 7f4e43ed    4 container major, minor    6 IR major, minor    8 debug major, minor
 *   10 LLVM major, minor    12 u16 header size (24)    14 u16 level    16 u32 end of fields    20 u32 end of
 *   data; then the bitcode, scrambled.
 * Behind the header lie fields of u16 number and u16 value; the first, number 1, is ten times the
 * architecture. */
#include "image/ltoir.h"

#include <string.h>

enum {
    HEADER_BYTES = 24,
    CONTAINER_AT = 4,
    IR_AT = 6,
    DEBUG_AT = 8,
    LLVM_AT = 10,
    HEADER_SIZE_AT = 12,
    FIELDS_END_AT = 16,
    FIELD_BYTES = 4,
    FIELD_ARCH = 1,
};

static uint16_t u16_at(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t u32_at(const unsigned char *bytes)
{
    return u16_at(bytes) | (uint32_t)u16_at(bytes + 2) << 16;
}

static struct pj_ltoir_version version_at(const unsigned char *bytes)
{
    return (struct pj_ltoir_version){bytes[0], bytes[1]};
}

/* The architecture, where the first field has one; 0 otherwise. */
static uint16_t read_arch(const unsigned char *bytes, size_t start, size_t end)
{
    if (end - start < FIELD_BYTES || u16_at(bytes + start) != FIELD_ARCH)
        return 0;
    uint16_t value = u16_at(bytes + start + 2);
    return value % 10 == 0 ? (uint16_t)(value / 10) : 0;
}

int pj_ltoir_read(const void *bytes, size_t size, struct pj_ltoir *ret_ltoir, struct pj_error **err)
{
    static const unsigned char magic[] = {0xed, 0x43, 0x4e, 0x7f};
    const unsigned char *at = bytes;
    if (size < sizeof magic || memcmp(at, magic, sizeof magic) != 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "no LTO-IR: it does not start with ed 43 4e 7f");
    if (size < HEADER_BYTES)
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut LTO-IR: %zu bytes do not hold its header of %d", size,
                            HEADER_BYTES);
    size_t header = u16_at(at + HEADER_SIZE_AT), fields_end = u32_at(at + FIELDS_END_AT);
    if (header < HEADER_BYTES || fields_end < header)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "LTO-IR layout not known: a header of %zu bytes and fields up to byte %zu, not "
                            "at least %d and no less than the header",
                            header, fields_end, HEADER_BYTES);
    if (fields_end > size)
        return pj_error_set(err, PJ_ERROR_FORMAT, "cut LTO-IR: its header goes up to byte %zu of %zu",
                            fields_end, size);
    *ret_ltoir = (struct pj_ltoir){
        .container = version_at(at + CONTAINER_AT),
        .ir = version_at(at + IR_AT),
        .debug = version_at(at + DEBUG_AT),
        .llvm = version_at(at + LLVM_AT),
        .arch_number = read_arch(at, header, fields_end),
    };
    return 0;
}
