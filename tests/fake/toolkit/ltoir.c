/* SPDX-License-Identifier: Apache-2.0 */
/* LTO-IR of the stand-in libraries. */
#include "ltoir.h"

#include <string.h>

static const unsigned char magic[4] = {0xed, 0x43, 0x4e, 0x7f};
static const char mark[] = "stand-in LTO-IR";
enum { HEADER = 64, MARK_AT = 48 };
/* What the real one has behind its version: of nvcc 13.0 for compute_80. */
static const unsigned char fields[] = {0x41, 2, 0x62, 3, 2, 7, 0, 24, 0, 1, 0, 40, 0, 0, 0, 44, 0, 0, 0};

void toolkit_ltoir_write(unsigned version, const struct fake_buffer *ptx, struct fake_buffer *ret_ltoir)
{
    unsigned char header[HEADER] = {0};
    memcpy(header, magic, sizeof magic);
    header[4] = (unsigned char)version;
    memcpy(header + 5, fields, sizeof fields);
    memcpy(header + MARK_AT, mark, sizeof mark);
    struct fake_buffer made = {0};
    fake_buffer_add(&made, header, sizeof header);
    fake_buffer_add(&made, ptx->data, ptx->length);
    *ret_ltoir = made;
}

bool toolkit_ltoir_is(const void *bytes, size_t length)
{
    return length >= 8 && memcmp(bytes, magic, sizeof magic) == 0;
}

unsigned toolkit_ltoir_version(const void *bytes)
{
    return ((const unsigned char *)bytes)[4];
}

const char *toolkit_ltoir_ptx(const void *bytes, size_t length, size_t *ret_length)
{
    bool ours = length >= HEADER && memcmp((const char *)bytes + MARK_AT, mark, sizeof mark) == 0;
    *ret_length = ours ? length - HEADER : 0;
    return (const char *)bytes + (ours ? HEADER : 0);
}
