/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of a link: told apart by what they are more than by the type given, then compiled or taken. */
#include "key.h"
#include "link.h"
#include "load.h"
#include "obtain.h"

#include <elf.h>
#include <string.h>

static void add_object(struct fake_link *link, struct fake_cubin cubin, const char *name)
{
    link->objects = fake_reallocate(link->objects, (link->object_count + 1) * sizeof *link->objects);
    link->objects[link->object_count++] =
        (struct fake_link_object){.name = fake_copy_text(name, strlen(name)), .cubin = cubin};
}

static CUresult take(struct fake_link *link, const unsigned char *bytes, size_t length, CUresult other_arch,
                     const char *name)
{
    struct fake_cubin cubin;
    if (!fake_cubin_read(bytes, length, &cubin))
        return CUDA_ERROR_INVALID_IMAGE;
    if (cubin.arch != link->arch) {
        fake_cubin_free(&cubin);
        return other_arch;
    }
    link->seed = link->seed * 0x100000001b3u ^ fake_fnv(bytes, length);
    add_object(link, cubin, name);
    return CUDA_SUCCESS;
}

CUresult fake_link_add_cubin(struct fake_link *link, const unsigned char *bytes, size_t length,
                             const char *name)
{
    return take(link, bytes, length, CUDA_ERROR_NO_BINARY_FOR_GPU, name); /* [49] */
}

CUresult fake_link_add_ptx(struct fake_link *link, const char *text, size_t length, const char *option_text,
                           const char *name)
{
    struct fake_options options;
    struct fake_buffer key, payload;
    CUresult result = fake_options_read(link->option_count, link->options, link->values, &options);
    if (result != CUDA_SUCCESS)
        return result;
    struct fake_request request = {
        .driver = link->driver, .call = "link", .context = link->context, .options = &options};
    request.compilation =
        (struct fake_compilation){.text = text, .bytes = length, .arch = link->arch, .relocatable = true};
    fake_key_make(fake_scenario(), link->arch, text, length, option_text, &key);
    request.compilation.key = &key;
    result = fake_obtain(&request, &payload);
    link->wall_time_ms += request.wall_time_ms;
    fake_buffer_add(&link->error_log.text, options.error_log.data, options.error_log.length);
    fake_buffer_add(&link->info_log.text, options.info_log.data, options.info_log.length);
    fake_options_answer(&options, 0); /* frees: no output was given to it */
    fake_buffer_free(&key);
    if (result != CUDA_SUCCESS)
        return result;
    /* A bad payload is believed here as in a load [22]. */
    result = take(link, payload.data, payload.length, CUDA_ERROR_INVALID_SOURCE, name);
    fake_buffer_free(&payload);
    return result;
}

/* `-c`, and behind it what the link was created with [5][51]. */
static CUresult add_plain_ptx(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name)
{
    struct fake_options options;
    struct fake_buffer given, text = {0};
    CUresult result = fake_options_read(link->option_count, link->options, link->values, &options);
    if (result != CUDA_SUCCESS)
        return result;
    fake_options_text(&options, &given);
    fake_options_answer(&options, 0);
    fake_buffer_printf(&text, "-c%s%s", given.length ? " " : "", fake_buffer_text(&given));
    result = fake_link_add_ptx(link, (const char *)bytes, strnlen((const char *)bytes, length),
                               fake_buffer_text(&text), name);
    fake_buffer_free(&given);
    fake_buffer_free(&text);
    return result;
}

static CUresult not_supported(struct fake_link *link, const char *what)
{
    fake_buffer_printf(&link->error_log.text, "emulated driver: %s are not emulated\n", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult add_by_content(struct fake_link *link, const unsigned char *bytes, size_t length,
                               const char *name)
{
    unsigned char head[4] = {0};
    memcpy(head, bytes, length < sizeof head ? length : sizeof head);
    switch (fake_image_kind(head)) {
    case FAKE_IMAGE_PTX:
        return add_plain_ptx(link, bytes, length, name);
    case FAKE_IMAGE_CUBIN:
        return fake_link_add_cubin(link, bytes, length, name);
    case FAKE_IMAGE_FATBIN:
        return not_supported(link, "fat binaries");
    case FAKE_IMAGE_NONE:
        break;
    }
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult fake_link_add(struct fake_link *link, CUjitInputType type, const unsigned char *bytes, size_t length,
                       const char *name)
{
    switch ((unsigned)type) {
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
        return add_by_content(link, bytes, length, name); /* taken for what it is [49] */
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
        return not_supported(link, "objects and libraries");
    case 5: /* NVVM: the driver has no compiler for it [47] */
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
