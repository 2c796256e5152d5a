/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of a link: told apart by what they are more than by the type given, then compiled or taken. */
#include "key.h"
#include "link.h"
#include "load.h"
#include "obtain.h"

#include <string.h>

static bool fits(const struct fake_link *link, unsigned arch, bool family)
{
    return arch == link->arch || (family && arch / 10 == link->arch / 10 && arch < link->arch);
}

static CUresult take(struct fake_link *link, const unsigned char *bytes, size_t length, bool family,
                     CUresult other_arch, const char *name)
{
    struct fake_cubin cubin;
    if (!fake_cubin_read(bytes, length, &cubin))
        return CUDA_ERROR_INVALID_IMAGE;
    if (!fits(link, cubin.arch, family)) {
        fake_cubin_free(&cubin);
        return other_arch;
    }
    fake_link_set_add(&link->set, cubin, bytes, length, name);
    return CUDA_SUCCESS;
}

CUresult fake_link_add_cubin(struct fake_link *link, const unsigned char *bytes, size_t length, bool family,
                             const char *name)
{
    return take(link, bytes, length, family, CUDA_ERROR_NO_BINARY_FOR_GPU, name); /* [49] */
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
    request.compilation = (struct fake_compilation){
        .text = text, .bytes = strnlen(text, length), .arch = link->arch, .relocatable = true};
    fake_key_make(fake_scenario(), link->arch, text, length, option_text, &key);
    request.compilation.key = &key;
    result = fake_obtain(&request, &payload);
    link->wall_time_ms += request.wall_time_ms;
    fake_buffer_add(&link->error_log.text, options.error_log.data, options.error_log.length);
    fake_buffer_add(&link->info_log.text, options.info_log.data, options.info_log.length);
    fake_options_answer(&options, 0); /* frees: no output was given to it */
    fake_buffer_free(&key);
    link->driver->refused_link_input |=
        result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (result != CUDA_SUCCESS)
        return result;
    /* A bad payload is believed here as in a load [22]. */
    result = take(link, payload.data, payload.length, false, CUDA_ERROR_INVALID_SOURCE, name);
    fake_buffer_free(&payload);
    return result;
}

/* What the link was created with, as it stands in keys. */
static struct fake_buffer given_options(const struct fake_link *link)
{
    struct fake_options options;
    struct fake_buffer text = {0};
    if (fake_options_read(link->option_count, link->options, (void **)(uintptr_t)link->values, &options) ==
        CUDA_SUCCESS) {
        fake_options_text(&options, &text);
        fake_options_answer(&options, 0);
    }
    return text;
}

bool fake_link_has_options(const struct fake_link *link)
{
    struct fake_buffer given = given_options(link);
    bool has = given.length > 0;
    fake_buffer_free(&given);
    return has;
}

/* `-c`, and behind it the options given [5][51]. */
static CUresult add_plain_ptx(struct fake_link *link, const unsigned char *bytes, size_t length,
                              const char *name)
{
    struct fake_buffer given = given_options(link), text = {0};
    fake_buffer_printf(&text, "-c%s%s", given.length ? " " : "", fake_buffer_text(&given));
    CUresult result = fake_link_add_ptx(link, (const char *)bytes, strnlen((const char *)bytes, length),
                                        fake_buffer_text(&text), name);
    fake_buffer_free(&given);
    fake_buffer_free(&text);
    return result;
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
        return fake_link_add_cubin(link, bytes, length, false, name);
    case FAKE_IMAGE_FATBIN:
        return fake_link_add_fatbin(link, bytes, length, name);
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
        return fake_link_add_object(link, bytes, length, name);
    case CU_JIT_INPUT_LIBRARY:
        return fake_link_add_library(link, bytes, length);
    case 5: /* NVVM: the driver has no compiler for it [47] */
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
