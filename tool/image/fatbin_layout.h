/* SPDX-License-Identifier: Apache-2.0 */
/* Private to image: where what lies in a fatbin. A container's header is u32 magic, u16 version, u16 header
 * size, u64 bytes that follow; an entry's is described by the offsets below, and is followed by its payload.
 * All numbers are little-endian. */
#ifndef PREJIT_IMAGE_FATBIN_LAYOUT_H
#define PREJIT_IMAGE_FATBIN_LAYOUT_H

#define PJ_FATBIN_MAGIC "\x50\xed\x55\xba"

enum {
    CONTAINER_HEADER = 16,
    CONTAINER_VERSION = 1,
    CONTAINER_VERSION_AT = 4,
    CONTAINER_HEADER_SIZE_AT = 6,
    CONTAINER_SIZE_AT = 8,
    ENTRY_HEADER = 64, /* the smallest; name and options follow inside the header */
    KIND_AT = 0,
    ENTRY_VERSION_AT = 2, /* 0x101 in all that was seen */
    HEADER_SIZE_AT = 4,
    PADDED_SIZE_AT = 8,
    PACKED_SIZE_AT = 16, /* 0 where nothing is packed */
    OPTIONS_AT = 20,     /* where in the header the options' own offset and size lie; 0: nowhere */
    MINOR_AT = 24,
    MAJOR_AT = 26,
    ARCH_AT = 28,
    NAME_AT = 32,
    NAME_SIZE_AT = 36,
    FLAGS_AT = 40,
    PLAIN_SIZE_AT = 56, /* 0 where nothing is packed */
    ALIGNMENT = 8,
};

enum {
    FLAG_64_BIT = 0x1,
    FLAG_LINUX = 0x10, /* in all that was seen on Linux */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_SCRAMBLED = 0x10000,
    FLAG_LETTER_A = 0x100000,
    FLAG_LETTER_F = 0x200000,
};

#endif
