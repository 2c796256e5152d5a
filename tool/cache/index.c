/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, judges and writes the bytes of `index`. */
#include "cache/index.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cache/format.h"

static uint64_t read_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

static uint32_t read_u32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

bool pj_index_sum(const struct pj_index_record *records, size_t count, uint64_t *ret_total)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(total, records[i].size, &total))
            return false;
    }
    *ret_total = total;
    return true;
}

void pj_index_record_write(const struct pj_index_record *record,
                           unsigned char ret_bytes[PJ_INDEX_RECORD_BYTES])
{
    uint64_t fields[2] = {htole64(record->hash), htole64(record->size)};
    memcpy(ret_bytes, fields, sizeof fields);
}

void pj_index_header_write(uint32_t count, uint64_t total_bytes,
                           unsigned char ret_bytes[PJ_INDEX_HEADER_BYTES])
{
    uint32_t front[2] = {htole32(PJ_CACHE_FORMAT), htole32(count)};
    uint64_t total = htole64(total_bytes);
    memcpy(ret_bytes, front, sizeof front);
    memcpy(ret_bytes + sizeof front, &total, sizeof total);
}

static int read_records(const unsigned char *bytes, size_t count, struct pj_index *index,
                        struct pj_error **err)
{
    if (count > index->capacity || !index->records) {
        struct pj_index_record *grown =
            reallocarray(index->records, count > 0 ? count : 1, sizeof *index->records);
        if (!grown)
            return pj_error_no_memory(err);
        index->records = grown;
        index->capacity = count > 0 ? count : 1;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *record = bytes + i * PJ_INDEX_RECORD_BYTES;
        index->records[i] = (struct pj_index_record){.hash = read_u64(record), .size = read_u64(record + 8)};
    }
    index->count = count;
    return 0;
}

int pj_index_reread(const void *bytes, size_t size, struct pj_index *index, enum pj_index_state *ret_state,
                    struct pj_error **err)
{
    const unsigned char *byte = bytes;
    index->format = 0;
    index->total_bytes = 0;
    index->count = 0;
    enum pj_index_state state = PJ_INDEX_VALID;
    if (!bytes || size < PJ_INDEX_HEADER_BYTES) {
        state = !bytes ? PJ_INDEX_ABSENT : size == 0 ? PJ_INDEX_EMPTY : PJ_INDEX_SHORT;
        if (state == PJ_INDEX_SHORT && size >= sizeof(uint32_t)) {
            index->format = read_u32(byte);
            if (index->format != PJ_CACHE_FORMAT)
                state = PJ_INDEX_UNKNOWN_FORMAT;
        }
        *ret_state = state;
        return 0;
    }
    index->format = read_u32(byte);
    index->total_bytes = read_u64(byte + 8);
    if (index->format != PJ_CACHE_FORMAT) {
        *ret_state = PJ_INDEX_UNKNOWN_FORMAT;
        return 0;
    }
    size_t count = read_u32(byte + 4);
    size_t there = (size - PJ_INDEX_HEADER_BYTES) / PJ_INDEX_RECORD_BYTES;
    if (there < count) {
        count = there;
        state = PJ_INDEX_SHORT;
    }
    int r = read_records(byte + PJ_INDEX_HEADER_BYTES, count, index, err);
    if (r < 0)
        return r;
    uint64_t total = 0;
    if (state == PJ_INDEX_VALID &&
        (!pj_index_sum(index->records, index->count, &total) || total != index->total_bytes))
        state = PJ_INDEX_TOTAL_WRONG;
    *ret_state = state;
    return 0;
}

int pj_index_read(const void *bytes, size_t size, struct pj_index *ret_index, enum pj_index_state *ret_state,
                  struct pj_error **err)
{
    struct pj_index index = {.format = 0};
    int r = pj_index_reread(bytes, size, &index, ret_state, err);
    if (r < 0)
        return r;
    *ret_index = index;
    return 0;
}

const char *pj_index_state_text(enum pj_index_state state)
{
    switch (state) {
    case PJ_INDEX_VALID:
        return "is valid";
    case PJ_INDEX_ABSENT:
        return "is missing, so the driver deletes every entry when it next stores one";
    case PJ_INDEX_EMPTY:
        return "is empty, so the driver deletes every entry when it next stores one";
    case PJ_INDEX_SHORT:
        return "is shorter than its count says, so the driver deletes every entry when it next opens it";
    case PJ_INDEX_UNKNOWN_FORMAT:
        return "has a format number other than 65, so a driver of another format deletes every entry when "
               "it next stores one";
    case PJ_INDEX_TOTAL_WRONG:
        return "gives a total that is not the sum of its records, so the driver keeps nothing more or "
               "counts its limit wrongly";
    }
    return "is in an unknown state";
}

void pj_index_free(struct pj_index *index)
{
    free(index->records);
    *index = (struct pj_index){.format = 0};
}
