/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries, host objects and archives as inputs of a link. */
#include "fatbin.h"
#include "link.h"

#include <string.h>

static CUresult add_entry(struct fake_link *link, const struct fake_fatbin_entry *entry, const char *name)
{
    if (entry->is_packed) {
        fake_buffer_add_text(&link->error_log.text,
                             "emulated driver: compressed fatbin entries are not emulated\n");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (entry->kind == FAKE_FATBIN_CUBIN)
        return fake_link_add_cubin(link, entry->payload, entry->payload_bytes, true, name);
    if (fake_link_has_options(link)) {
        fake_buffer_add_text(&link->error_log.text,
                             "emulated driver: link options beside a fatbin's own are not emulated\n");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    /* `-c`, and the recorded options with nothing between [45]. The padding is part of the key [3]. */
    struct fake_buffer options = {0};
    fake_buffer_printf(&options, "-c%.*s", (int)entry->option_bytes, entry->options ? entry->options : "");
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    if (entry->payload_bytes && !entry->payload[entry->payload_bytes - 1])
        result = fake_link_add_ptx(link, (const char *)entry->payload, entry->payload_bytes - 1,
                                   fake_buffer_text(&options), name);
    fake_buffer_free(&options);
    return result;
}

/* Containers, one after the other, with NULs between them. */
static CUresult add_containers(struct fake_link *link, const unsigned char *bytes, size_t length,
                               const char *name)
{
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    for (size_t at = 0; at < length;) {
        struct fake_fatbin_entry entry;
        bool has_ltoir;
        size_t container = fake_fatbin_container(bytes + at, length - at);
        if (!container) {
            if (bytes[at])
                break;
            at++;
            continue;
        }
        if (fake_fatbin_choose(bytes + at, container, link->arch, &entry, &has_ltoir))
            result = add_entry(link, &entry, name);
        else
            result = has_ltoir ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU; /* passed over [47] */
        if (result != CUDA_SUCCESS)
            break;
        at += container;
    }
    return result;
}

CUresult fake_link_add_fatbin(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name)
{
    return add_containers(link, bytes, length, name);
}

/* `none` is the answer where there is no section of device code. */
static CUresult add_sections(struct fake_link *link, const unsigned char *bytes, size_t length, CUresult none,
                             const char *name)
{
    CUresult result = none;
    const unsigned char *section;
    size_t section_bytes;
    for (unsigned index = 0; fake_fatbin_object_section(bytes, length, &index, &section, &section_bytes);) {
        result = add_containers(link, section, section_bytes, name);
        if (result != CUDA_SUCCESS)
            break;
    }
    return result;
}

CUresult fake_link_add_object(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name)
{
    return add_sections(link, bytes, length, CUDA_ERROR_INVALID_IMAGE, name);
}

/* All members, whether somebody needs them or not; its names are judged at once [48]. */
CUresult fake_link_add_library(struct fake_link *link, const unsigned char *bytes, size_t length)
{
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    size_t first = link->set.count, member_bytes;
    const unsigned char *member;
    char name[64];
    for (size_t at = 0; fake_fatbin_member(bytes, length, &at, name, &member, &member_bytes);) {
        result = add_sections(link, member, member_bytes, CUDA_SUCCESS, name);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (result == CUDA_SUCCESS && !(fake_link_set_is_unique(&link->set, &link->error_log.text) &&
                                    fake_link_set_is_complete(&link->set, first, &link->error_log.text)))
        result = CUDA_ERROR_INVALID_SOURCE;
    return result;
}
