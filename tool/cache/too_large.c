/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of entries that found no room. */
#include <inttypes.h>

#include "base/text.h"
#include "cache/store_private.h"

/* What the cache holds, and how much of it --evict could remove: what this run neither made nor found. */
static int measure(struct pj_store *store, uint64_t *ret_total, uint64_t *ret_removable,
                   struct pj_error **err)
{
    uint64_t removable = 0;
    int r = pj_index_file_acquire(store, false, NULL, err);
    if (r < 0)
        return r;
    pj_hashes_sort(&store->kept);
    for (size_t i = 0; i < store->index.count; i++) {
        const struct pj_index_record *record = &store->index.records[i];
        removable += pj_hashes_contain(&store->kept, record->hash) ? 0 : record->size;
    }
    *ret_total = store->index.total_bytes;
    *ret_removable = removable;
    pj_index_file_release(store);
    return 0;
}

int pj_store_why_too_large(struct pj_store *store, char **ret_message, struct pj_error **err)
{
    char size[PJ_SIZE_TEXT], used[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    size_t count = store->refused.count;
    uint64_t total = 0, removable = 0;
    int r = measure(store, &total, &removable, err);
    if (r < 0)
        return pj_error_wrap(err, r, "cannot look at the cache %s", store->path);
    uint64_t fitting = total + store->refused_bytes;
    (void)pj_text_from_size(store->refused_bytes + count * PJ_ENTRY_HEADER_BYTES, size);
    (void)pj_text_from_size(total, used);
    (void)pj_text_from_limit(store->options.limit_bytes, limit);
    if (count > 1)
        pj_buffer_printf(&text, "%zu entries of %s together do not fit", count, size);
    else
        pj_buffer_printf(&text, "the entry of %s does not fit", size);
    pj_buffer_printf(&text, ": the cache holds %s of at most %s; ", used, limit);
    if (store->options.limit_manifest)
        pj_buffer_printf(&text,
                         "set cache.max_size: %" PRIu64 " in %s, and CUDA_CACHE_MAXSIZE=%" PRIu64
                         " for the program",
                         fitting, store->options.limit_manifest, fitting);
    else
        pj_buffer_printf(&text, "CUDA_CACHE_MAXSIZE=%" PRIu64 " is enough, here and for the program",
                         fitting);
    if (!store->options.evict && removable > 0 && fitting - removable <= store->options.limit_bytes)
        pj_buffer_puts(&text, ", or let --evict remove older entries");
    r = pj_buffer_check(&text, err);
    if (r == 0)
        *ret_message = PJ_STEAL(text.data);
    return r;
}
