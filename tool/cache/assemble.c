/* SPDX-License-Identifier: Apache-2.0 */
/* Header, key and payload in the driver's layout. Numbers in brackets are lines of docs/cache-model.md. */
#include "cache/assemble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cache/entry.h"
#include "cache/format.h"

/* What a key is made of, in its order. */
struct parts {
    const char *stamp;
    uint16_t arch_number;
    const char *image;
    size_t image_size; /* without the NUL that is added */
    bool add_nul;
    const char *options;
};

enum { FRONT_TEXT = PJ_STAMP_MAX + sizeof "HOST64sm_65535" };

/* Room for the whole file; NULL where it is too large, or memory is out. */
static int make_room(const struct pj_entry_header *header, struct pj_buffer *file, char **ret_bytes,
                     size_t *ret_size, struct pj_error **err)
{
    uint64_t size;
    if (!pj_entry_size(header, &size) || header->key_bytes > PJ_ENTRY_PART_MAX_BYTES ||
        header->payload_bytes > PJ_ENTRY_PART_MAX_BYTES || size > SIZE_MAX / 2)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "an entry with a key of %" PRIu64 " and a payload of %" PRIu64
                            " bytes is larger than any that is read",
                            header->key_bytes, header->payload_bytes);
    *ret_bytes = pj_buffer_reserve(file, (size_t)size);
    if (!*ret_bytes)
        return pj_error_no_memory(err);
    *ret_size = (size_t)size;
    return 0;
}

static char *put(char *at, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(at, bytes, size);
    return at + size;
}

/* A key that does not read back as what it was made from would be found under the wrong name, or never. */
static int check_key(const char *bytes, size_t size, const struct parts *parts, struct pj_error **err)
{
    struct pj_cache_key key;
    int r = pj_cache_key_read(bytes, size, &key, err);
    if (r < 0)
        return r;
    if (strcmp(key.stamp, parts->stamp) == 0 && key.arch_number == parts->arch_number &&
        key.image_size == parts->image_size + parts->add_nul && key.options_size == strlen(parts->options))
        return 0;
    return pj_error_set(err, PJ_ERROR_FORMAT,
                        "the key does not read back as the stamp \"%s\", architecture %u, an image of %zu "
                        "bytes and the options \"%s\"",
                        parts->stamp, (unsigned)parts->arch_number, parts->image_size + parts->add_nul,
                        parts->options);
}

static int assemble(const struct parts *parts, const void *payload, size_t payload_size,
                    struct pj_buffer *file, uint64_t *ret_hash, struct pj_error **err)
{
    char front[FRONT_TEXT], *bytes = NULL;
    size_t stamp_length = strnlen(parts->stamp, PJ_STAMP_MAX + 1), size = 0;
    if (stamp_length == 0 || stamp_length > PJ_STAMP_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT, "a build stamp has 1 to %d characters, this one %s",
                            PJ_STAMP_MAX, stamp_length == 0 ? "none" : "more");
    if (payload_size == 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "the driver believes no entry without a payload");
    size_t front_size =
        (size_t)snprintf(front, sizeof front, "%sHOST64sm_%u", parts->stamp, (unsigned)parts->arch_number);
    size_t options_size = strlen(parts->options), key_size;
    if (__builtin_add_overflow(front_size + parts->add_nul + 1, parts->image_size, &key_size) ||
        __builtin_add_overflow(key_size, options_size, &key_size))
        return pj_error_no_memory(err);
    const struct pj_entry_header header = {
        .format = PJ_CACHE_FORMAT,
        .key_bytes = key_size,
        .payload_bytes = payload_size,
        .payload_checksum = pj_fnv1a(PJ_FNV_START, payload, payload_size),
    };
    int r = make_room(&header, file, &bytes, &size, err);
    if (r < 0)
        return r;
    pj_entry_header_write(&header, (unsigned char *)bytes);
    char *key = bytes + PJ_ENTRY_HEADER_BYTES;
    char *at = put(key, front, front_size);
    at = put(at, parts->image, parts->image_size);
    at = put(at, "", parts->add_nul);
    at = put(at, " ", 1);
    at = put(at, parts->options, options_size);
    (void)put(at, payload, payload_size);
    r = check_key(key, key_size, parts, err);
    if (r < 0) {
        bytes[0] = '\0'; /* what ends the bytes before */
        return r;
    }
    pj_buffer_commit(file, size);
    *ret_hash = pj_fnv1a(PJ_FNV_START, key, key_size);
    return 0;
}

int pj_entry_assemble(const char *stamp, uint16_t arch_number, const void *image, size_t image_size,
                      const char *option_text, const void *payload, size_t payload_size,
                      struct pj_buffer *ret_file, uint64_t *ret_hash, struct pj_error **err)
{
    const struct parts parts = {.stamp = stamp,
                                .arch_number = arch_number,
                                .image = image,
                                .image_size = image_size > 0 ? strnlen(image, image_size) : 0,
                                .add_nul = true,
                                .options = option_text};
    return assemble(&parts, payload, payload_size, ret_file, ret_hash, err);
}

int pj_entry_assemble_exact(const char *stamp, uint16_t arch_number, const void *image, size_t image_size,
                            const char *option_text, const void *payload, size_t payload_size,
                            struct pj_buffer *ret_file, uint64_t *ret_hash, struct pj_error **err)
{
    const struct parts parts = {.stamp = stamp,
                                .arch_number = arch_number,
                                .image = image,
                                .image_size = image_size,
                                .options = option_text};
    return assemble(&parts, payload, payload_size, ret_file, ret_hash, err);
}
