/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a cache's index; what is called valid must be what the writer gives. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/cache/support/index_bytes.h"
#include "cache/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_valid(const struct pj_index *index, const uint8_t *data, size_t size)
{
    __attribute__((cleanup(pj_buffer_free))) struct pj_buffer bytes = {.data = NULL};
    struct pj_index again = {.format = 0};
    enum pj_index_state state;
    index_bytes(index, &bytes);
    require(pj_buffer_check(&bytes, NULL) == 0);
    require(bytes.size <= size && memcmp(bytes.data, data, bytes.size) == 0);
    /* One byte less than the records need is short. */
    if (index->count > 0) {
        require(pj_index_reread(data, bytes.size - 1, &again, &state, NULL) == 0);
        require(state == PJ_INDEX_SHORT && again.count == index->count - 1);
    }
    pj_index_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pj_index index = {.format = 0};
    enum pj_index_state state;
    if (pj_index_read(data, size, &index, &state, NULL) < 0)
        return 0;
    require(pj_index_state_text(state)[0] != '\0');
    require(index.count == 0 || index.count <= (size - PJ_INDEX_HEADER_BYTES) / PJ_INDEX_RECORD_BYTES);
    if (state == PJ_INDEX_VALID)
        check_valid(&index, data, size);
    else
        require(size == 0 || state != PJ_INDEX_EMPTY);
    pj_index_free(&index);
    return 0;
}
