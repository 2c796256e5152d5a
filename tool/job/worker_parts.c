/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of an order. */
#include "job/worker_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* More than any image anybody has; the plan refuses larger ones long before. */
#define PART_MAX_BYTES (UINT64_C(1) << 30)

static int read_part(int fd, const struct pj_wire_part *part, struct pj_buffer *bytes, bool *ret_same,
                     struct pj_error **err)
{
    if (fd < 0 || part->bytes > PART_MAX_BYTES)
        return pj_error_set(err, PJ_ERROR_WORKER, "an order for %" PRIu64 " bytes came without the file",
                            part->bytes);
    int r = pj_file_read_fd(fd, "the image", PART_MAX_BYTES, bytes, err);
    if (r < 0)
        return r;
    struct pj_sha256 digest;
    pj_sha256_of(pj_buffer_text(bytes), bytes->size, &digest);
    *ret_same =
        bytes->size == part->bytes && memcmp(digest.bytes, part->sha256.bytes, sizeof digest.bytes) == 0;
    return 0;
}

int pj_worker_parts_read(const struct pj_wire_part *parts, uint32_t count,
                         const struct pj_wire_descriptors *descriptors, struct pj_worker_parts *ret_parts,
                         struct pj_error **err)
{
    *ret_parts = (struct pj_worker_parts){.items = calloc((size_t)count + 1, sizeof *ret_parts->items)};
    if (!ret_parts->items)
        return pj_error_no_memory(err);
    ret_parts->same = count > 0;
    for (uint32_t i = 0; i < count; i++) {
        bool same = false;
        int fd = i < descriptors->count ? descriptors->fds[i] : -1;
        ret_parts->count = (size_t)i + 1;
        int r = read_part(fd, &parts[i], &ret_parts->items[i], &same, err);
        if (r < 0)
            return r;
        ret_parts->same = ret_parts->same && same;
    }
    return 0;
}

void pj_worker_parts_free(struct pj_worker_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        pj_buffer_free(&parts->items[i]);
    free(parts->items);
    *parts = (struct pj_worker_parts){0};
}
