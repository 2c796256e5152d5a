/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry of a fat binary holds, unpacked. */
#include "fatbin.h"

#include <lz4.h>
#include <zstd.h>

bool fake_fatbin_code(const struct fake_fatbin_entry *entry, struct fake_buffer *ret_code)
{
    enum { MOST = 1 << 28 };
    *ret_code = (struct fake_buffer){0};
    if (!entry->is_packed) {
        /* Its last NUL is the one that ends PTX in a key. */
        bool ended = entry->payload_bytes && !entry->payload[entry->payload_bytes - 1];
        if (entry->kind != FAKE_FATBIN_PTX || ended)
            fake_buffer_add(ret_code, entry->payload,
                            entry->payload_bytes - (entry->kind == FAKE_FATBIN_PTX));
        return entry->kind != FAKE_FATBIN_PTX || ended;
    }
    size_t packed = entry->packed_bytes, plain = entry->plain_bytes, made;
    if (packed > entry->payload_bytes || packed > MOST || plain > MOST)
        return false;
    const char *from = (const char *)entry->payload;
    fake_buffer_fill(ret_code, 0, plain);
    char *to = (char *)ret_code->data;
    if (entry->is_zstd) {
        made = ZSTD_decompress(to, plain, from, packed);
    } else {
        int size = LZ4_decompress_safe(from, to, (int)packed, (int)plain);
        made = size < 0 ? SIZE_MAX : (size_t)size;
    }
    if (made == plain)
        return true;
    fake_buffer_free(ret_code);
    return false;
}
