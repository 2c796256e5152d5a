/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a link input; what is found lies inside, in order where it is one fatbin. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/contents.h"
#include "image/fatbin_key.h"
#include "image/kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check(const struct pj_contents *contents, size_t size)
{
    bool ptx = false, cubin = false, ltoir = false, linkable = false;
    for (size_t i = 0; i < contents->count; i++) {
        const struct pj_content *item = &contents->items[i];
        require(item->offset <= size && item->size <= size - item->offset);
        require(item->member == NULL || contents->kind == PJ_INPUT_ARCHIVE);
        require(!item->relocatable || item->has_relocatable);
        require(item->options == NULL || strlen(item->options) < size);
        ptx |= item->kind == PJ_CODE_PTX;
        cubin |= item->kind == PJ_CODE_CUBIN;
        ltoir |= item->kind == PJ_CODE_LTOIR;
        linkable |= !item->whole_program;
    }
    require(ptx == contents->has_ptx && cubin == contents->has_cubin && ltoir == contents->has_ltoir);
    require(linkable == contents->has_linkable && contents->nothing == (contents->count == 0));
    require(pj_input_kind_name(contents->kind) != NULL);
    require((contents->ltoir.container.major == 0) || contents->kind == PJ_INPUT_LTOIR);
}

/* What of an entry stands in a key, where it does not claim to be large. */
static void check_key(const struct pj_fatbin *fatbin, const struct pj_fatbin_entry *entry)
{
    enum { UNPACKED_MAX = 1 << 20 };
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    if (entry->plain_size > UNPACKED_MAX)
        return;
    int status = pj_fatbin_key_image(fatbin, entry, &image, NULL);
    bool packed = entry->packing != PJ_PACKING_NONE;
    require(status == PJ_ERROR_FORMAT ? image.size == 0
                                      : status == 0 && image.size == entry->plain_size + packed);
}

/* The same fatbin, entry by entry: each begins behind the one before it. */
static void check_order(const uint8_t *data, size_t size, size_t count)
{
    struct pj_fatbin fatbin;
    struct pj_fatbin_entry entry;
    size_t end = 0, entries = 0;
    require(pj_fatbin_start(data, size, &fatbin, NULL) == 0);
    while (pj_fatbin_next(&fatbin, &entry, NULL) > 0) {
        require(entry.header_offset >= end + (entries == 0 ? 16 : 0));
        require(entry.payload_offset >= entry.header_offset + 64 && entry.payload_size <= entry.padded_size);
        end = entry.payload_offset + entry.padded_size;
        require(end <= size);
        check_key(&fatbin, &entry);
        entries++;
    }
    require(entries == count && fatbin.at <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_contents contents = {.count = 7};
    int status = pj_contents_read(data, size, &arena, &contents, &error);
    require((status == 0) == (error == NULL));
    if (status < 0) {
        require(status == PJ_ERROR_FORMAT && contents.count == 7);
        return 0;
    }
    check(&contents, size);
    if (contents.kind == PJ_INPUT_FATBIN)
        check_order(data, size, contents.count);
    return 0;
}
