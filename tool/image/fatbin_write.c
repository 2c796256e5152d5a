/* SPDX-License-Identifier: Apache-2.0 */
/* One container, one entry, its header with room for options of which there are none. */
#include "image/fatbin_write.h"

#include <string.h>

#include <lz4.h>
#include <zstd.h>

#include "image/fatbin_layout.h"

/* Behind the fixed part: offset and size of the options, and eight bytes for them. */
enum {
    PTX_HEADER = 80,
    OPTIONS_BLOCK = ENTRY_HEADER,
    OPTIONS_TEXT = 72,
    KIND_PTX = 1,
    ENTRY_VERSION = 0x101
};

static void put_number(unsigned char *at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i) & 0xff);
}

/* How many bytes `size` can become at most; 0 where that is not known. */
static size_t packed_bound(enum pj_packing packing, size_t size)
{
    if (packing == PJ_PACKING_LZ4)
        return (size_t)LZ4_compressBound((int)size);
    return packing == PJ_PACKING_ZSTD ? ZSTD_compressBound(size) : size;
}

/* Bytes written, or 0. */
static size_t pack(enum pj_packing packing, const struct pj_buffer *plain, char *out, size_t room)
{
    if (packing == PJ_PACKING_LZ4) {
        int size = LZ4_compress_default(plain->data, out, (int)plain->size, (int)room);
        return size > 0 ? (size_t)size : 0;
    }
    if (packing == PJ_PACKING_ZSTD) {
        size_t size = ZSTD_compress(out, room, plain->data, plain->size, ZSTD_CLEVEL_DEFAULT);
        return ZSTD_isError(size) ? 0 : size;
    }
    memcpy(out, plain->data, plain->size);
    return plain->size;
}

/* Both headers; the bytes of both were zero. */
static void put_headers(const struct pj_fatbin_ptx *ptx, size_t payload, size_t padded, size_t plain,
                        unsigned char *out)
{
    unsigned char *entry = out + CONTAINER_HEADER;
    bool packed = ptx->packing != PJ_PACKING_NONE;
    uint64_t flags = FLAG_64_BIT | FLAG_LINUX;
    flags |= ptx->packing == PJ_PACKING_LZ4 ? FLAG_LZ4 : ptx->packing == PJ_PACKING_ZSTD ? FLAG_ZSTD : 0;
    memcpy(out, PJ_FATBIN_MAGIC, sizeof PJ_FATBIN_MAGIC - 1);
    put_number(out + CONTAINER_VERSION_AT, 2, CONTAINER_VERSION);
    put_number(out + CONTAINER_HEADER_SIZE_AT, 2, CONTAINER_HEADER);
    put_number(out + CONTAINER_SIZE_AT, 8, PTX_HEADER + padded);
    put_number(entry + KIND_AT, 2, KIND_PTX);
    put_number(entry + ENTRY_VERSION_AT, 2, ENTRY_VERSION);
    put_number(entry + HEADER_SIZE_AT, 4, PTX_HEADER);
    put_number(entry + PADDED_SIZE_AT, 8, padded);
    put_number(entry + PACKED_SIZE_AT, 4, packed ? payload : 0);
    put_number(entry + OPTIONS_AT, 4, OPTIONS_BLOCK);
    put_number(entry + MINOR_AT, 2, ptx->version.minor);
    put_number(entry + MAJOR_AT, 2, ptx->version.major);
    put_number(entry + ARCH_AT, 4, ptx->arch);
    put_number(entry + FLAGS_AT, 8, flags);
    put_number(entry + PLAIN_SIZE_AT, 8, packed ? plain : 0);
    put_number(entry + OPTIONS_BLOCK, 4, OPTIONS_TEXT);
}

static int write_fatbin(const struct pj_fatbin_ptx *ptx, const struct pj_buffer *plain,
                        struct pj_buffer *ret_fatbin, struct pj_error **err)
{
    enum { HEADERS = CONTAINER_HEADER + PTX_HEADER };
    size_t room = packed_bound(ptx->packing, plain->size);
    char *out = pj_buffer_reserve(ret_fatbin, HEADERS + room + ALIGNMENT);
    if (!out)
        return pj_error_no_memory(err);
    memset(out, 0, HEADERS + room + ALIGNMENT);
    size_t payload = pack(ptx->packing, plain, out + HEADERS, room);
    if (payload == 0)
        return pj_error_no_memory(err); /* there is room for all that it can become */
    size_t padded = (payload + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out + HEADERS + payload, 0, padded - payload); /* packers may write behind what they give */
    put_headers(ptx, payload, padded, plain->size, (unsigned char *)out);
    pj_buffer_commit(ret_fatbin, HEADERS + padded);
    return 0;
}

int pj_fatbin_write(const struct pj_fatbin_ptx *ptx, struct pj_buffer *ret_fatbin, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer plain = {0};
    if (ptx->packing != PJ_PACKING_NONE && ptx->packing != PJ_PACKING_LZ4 && ptx->packing != PJ_PACKING_ZSTD)
        return pj_error_set(err, PJ_ERROR_INTERNAL, "packing %d of a fatbin is not known", (int)ptx->packing);
    if (ptx->size == 0 || ptx->size > PJ_FATBIN_WRITE_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "PTX of %zu bytes does not go into a fatbin: allowed are 1 to %llu", ptx->size,
                            (unsigned long long)PJ_FATBIN_WRITE_MAX);
    const char *nul = memchr(ptx->text, '\0', ptx->size);
    if (nul)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "PTX with a NUL does not go into a fatbin: there is one at byte %zu",
                            (size_t)(nul - ptx->text));
    pj_buffer_append(&plain, ptx->text, ptx->size);
    pj_buffer_putc(&plain, '\0');
    int r = pj_buffer_check(&plain, err);
    return r == 0 ? write_fatbin(ptx, &plain, ret_fatbin, err) : r;
}
