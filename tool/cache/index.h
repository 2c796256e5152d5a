/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's `index` file as bytes: read, judged, written. Which states are dangerous:
 * docs/cache-model.md [20]. */
#ifndef PREJIT_CACHE_INDEX_H
#define PREJIT_CACHE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum { PJ_INDEX_HEADER_BYTES = 16, PJ_INDEX_RECORD_BYTES = 16 };

struct pj_index_record {
    uint64_t hash;
    uint64_t size; /* of the entry file, less 28 */
};

struct pj_index {
    uint32_t format;
    uint64_t total_bytes; /* as the header says */
    struct pj_index_record *records;
    size_t count, capacity;
};

enum pj_index_state {
    PJ_INDEX_VALID,  /* also with bytes behind the last record */
    PJ_INDEX_ABSENT, /* the next store deletes every entry */
    PJ_INDEX_EMPTY,  /* the same */
    PJ_INDEX_SHORT,  /* shorter than its count says, or under a header: the next open deletes every entry */
    PJ_INDEX_UNKNOWN_FORMAT, /* another format number: the driver's next store deletes every entry if it is
                                not its own */
    PJ_INDEX_TOTAL_WRONG, /* total is not the sum of the records: nothing is kept again, or the cap is counted
                             wrongly */
};

/** Takes `size` bytes apart. *ret_index holds the records that are there (for VALID and TOTAL_WRONG; also the
 * readable ones for SHORT). 0 on success whatever the state; negative only for out of memory. `bytes` NULL =
 * ABSENT. */
int pj_index_read(const void *bytes, size_t size, struct pj_index *ret_index, enum pj_index_state *ret_state,
                  struct pj_error **err);

/** The same into an index that was read before, whose memory is used again. */
int pj_index_reread(const void *bytes, size_t size, struct pj_index *index, enum pj_index_state *ret_state,
                    struct pj_error **err);

/** Sum of the records' sizes; false where it does not fit 64 bits. */
bool pj_index_sum(const struct pj_index_record *records, size_t count, uint64_t *ret_total);

/** One record, and the header, as the file has them. */
void pj_index_record_write(const struct pj_index_record *record,
                           unsigned char ret_bytes[PJ_INDEX_RECORD_BYTES]);
void pj_index_header_write(uint32_t count, uint64_t total_bytes,
                           unsigned char ret_bytes[PJ_INDEX_HEADER_BYTES]);

/** One clause for messages: "is shorter than its count says, so the driver deletes every entry when it next
 * opens it". */
const char *pj_index_state_text(enum pj_index_state state);

void pj_index_free(struct pj_index *index);

#endif
