/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as an entry file, under the name that its key asks for and under another one. */
#include <stdint.h>
#include <stdlib.h>

#include "cache/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static int accept_all(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err)
{
    (void)err;
    require(payload != NULL && size > 0 && key->arch_number > 0);
    return 0;
}

static enum pj_entry_state judge(const uint8_t *data, size_t size, uint64_t hash)
{
    PJ_CLEANUP_ENTRY struct pj_entry_contents contents = {.fd = -1};
    pj_buffer_append(&contents.bytes, data, size);
    require(pj_entry_judge(&contents, hash, accept_all, NULL) == 0);
    require((contents.state == PJ_ENTRY_SOUND) == (contents.message == NULL));
    if (contents.state == PJ_ENTRY_SOUND) {
        const struct pj_cache_key *key = &contents.key;
        require(key->stamp[0] != '\0' && key->image[key->image_size - 1] == '\0');
        require(key->options + key->options_size ==
                contents.bytes.data + PJ_ENTRY_HEADER_BYTES + contents.header.key_bytes);
    }
    return contents.state;
}

/* The name that the key asks for, where the header leaves room for one. */
static uint64_t name_of(const uint8_t *data, size_t size)
{
    struct pj_entry_header header;
    if (size < PJ_ENTRY_HEADER_BYTES)
        return 0;
    pj_entry_header_read(data, &header);
    if (header.key_bytes > size - PJ_ENTRY_HEADER_BYTES)
        return 0;
    return pj_fnv1a(PJ_FNV_START, data + PJ_ENTRY_HEADER_BYTES, header.key_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = name_of(data, size);
    enum pj_entry_state state = judge(data, size, hash);
    require(state != PJ_ENTRY_ABSENT && state != PJ_ENTRY_PAYLOAD_WRONG);
    require((state == PJ_ENTRY_EMPTY) == (size == 0));
    require(judge(data, size, hash + 1) != PJ_ENTRY_SOUND);
    if (state == PJ_ENTRY_SOUND)
        require(judge(data, size - 1, hash) == PJ_ENTRY_TRUNCATED);
    return 0;
}
