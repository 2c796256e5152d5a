/* SPDX-License-Identifier: Apache-2.0 */
/* A whole index as the driver writes it; prejit itself writes headers and records one by one. */
#ifndef PREJIT_TESTS_CACHE_INDEX_BYTES_H
#define PREJIT_TESTS_CACHE_INDEX_BYTES_H

#include "base/buffer.h"
#include "cache/index.h"

/** Appends header and records; the total is computed. Records whose sum does not fit 64 bits set the buffer's
 * `failed`. */
static inline void index_bytes(const struct pj_index *index, struct pj_buffer *ret_bytes)
{
    uint64_t total = 0;
    unsigned char bytes[PJ_INDEX_HEADER_BYTES];
    if (index->count > UINT32_MAX || !pj_index_sum(index->records, index->count, &total)) {
        ret_bytes->failed = true;
        return;
    }
    pj_index_header_write((uint32_t)index->count, total, bytes);
    pj_buffer_append(ret_bytes, bytes, sizeof bytes);
    for (size_t i = 0; i < index->count; i++) {
        pj_index_record_write(&index->records[i], bytes);
        pj_buffer_append(ret_bytes, bytes, PJ_INDEX_RECORD_BYTES);
    }
}

#endif
