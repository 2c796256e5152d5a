/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks PTX of a fatbin. */
#include "image/fatbin_key.h"

#include <string.h>

#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

/* LZ4 makes at most 255 bytes of one: a larger claim is damage, and no memory is asked for. */
enum { LZ4_RATIO = 255 };

static int refuse(const struct pj_fatbin_entry *entry, const char *why, struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_FORMAT, "the fatbin's entry at byte %zu %s", entry->header_offset, why);
}

static int check(const struct pj_fatbin_entry *entry, struct pj_error **err)
{
    if (entry->kind != PJ_CODE_PTX)
        return refuse(entry, "is no PTX", err);
    if (entry->packing == PJ_PACKING_OTHER || entry->scrambled)
        return refuse(entry, "is packed in a way that is not known", err);
    if (entry->plain_size > PJ_FATBIN_KEY_MAX)
        return refuse(entry, "unpacks to more than 1 GiB, the most that prejit reads", err);
    if (entry->packing == PJ_PACKING_LZ4 &&
        (entry->payload_size > PJ_FATBIN_KEY_MAX || entry->plain_size / LZ4_RATIO > entry->payload_size))
        return refuse(entry, "cannot unpack to the size that it records", err);
    return 0;
}

/* Fills `out`, which has the size recorded. */
static int unpack(const struct pj_fatbin_entry *entry, const char *payload, char *out, struct pj_error **err)
{
    size_t size = (size_t)entry->plain_size;
    bool filled;
    if (entry->packing == PJ_PACKING_LZ4) {
        filled = LZ4_decompress_safe(payload, out, (int)entry->payload_size, (int)size) == (int)size;
    } else {
        size_t got = ZSTD_decompress(out, size, payload, entry->payload_size);
        if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
            return pj_error_no_memory(err);
        filled = got == size;
    }
    return filled ? 0 : refuse(entry, "does not unpack to the size that it records", err);
}

int pj_fatbin_key_image(const struct pj_fatbin *fatbin, const struct pj_fatbin_entry *entry,
                        struct pj_buffer *ret_image, struct pj_error **err)
{
    const char *payload = (const char *)fatbin->bytes + entry->payload_offset;
    int r = check(entry, err);
    if (r < 0)
        return r;
    if (entry->packing == PJ_PACKING_NONE) {
        pj_buffer_append(ret_image, payload, entry->payload_size);
        return pj_buffer_check(ret_image, err);
    }
    char *out = pj_buffer_reserve(ret_image, (size_t)entry->plain_size + 1);
    if (!out)
        return pj_error_no_memory(err);
    r = unpack(entry, payload, out, err);
    if (r < 0)
        return r;
    out[entry->plain_size] = '\0';
    pj_buffer_commit(ret_image, (size_t)entry->plain_size + 1);
    return 0;
}
