/* SPDX-License-Identifier: Apache-2.0 */
/* One load of an image: recognised, looked up, compiled, stored, loaded into the device. */
#include "load.h"

#include "fatbin.h"
#include "key.h"
#include "obtain.h"

#include <ctype.h>
#include <string.h>

enum fake_image fake_image_kind(const void *image)
{
    const unsigned char *bytes = image;
    unsigned char first = bytes[0];
    if (first == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F')
        return FAKE_IMAGE_CUBIN;
    /* A fat binary (50 ed 55 ba), or the wrapper that nvcc puts around one (b1 43 62 46). */
    if ((first == 0x50 && bytes[1] == 0xed && bytes[2] == 0x55 && bytes[3] == 0xba) ||
        (first == 0xb1 && bytes[1] == 0x43 && bytes[2] == 0x62 && bytes[3] == 0x46))
        return FAKE_IMAGE_FATBIN;
    /* Nothing at all, a byte order mark, other bytes that start no text. */
    return first < 0x80 && (isprint(first) || isspace(first)) ? FAKE_IMAGE_PTX : FAKE_IMAGE_NONE;
}

/* `bytes` of the text go into the key, the NULs behind it too, but for one. */
static CUresult load_ptx(struct fake_request *request, const char *text, size_t bytes,
                         struct fake_module **ret_module)
{
    const struct fake_device *device =
        request->context ? &request->context->device : &request->driver->contexts[0].device;
    struct fake_compilation *compilation = &request->compilation;
    unsigned device_arch = device->plan->arch.number;
    struct fake_buffer option_text, key, payload;
    compilation->arch = request->options->target.number ? request->options->target.number : device_arch;
    fake_options_text(request->options, &option_text);
    compilation->text = text;
    compilation->bytes = strlen(text);
    fake_key_make(fake_scenario(), compilation->arch, text, bytes, fake_buffer_text(&option_text), &key);
    compilation->key = &key;
    CUresult result = fake_obtain(request, &payload);
    if (result == CUDA_SUCCESS) {
        /* Another architecture's code fails here, whether asked for by CU_JIT_TARGET or wrong in the entry.
         */
        if (request->context)
            result = fake_module_create(payload.data, payload.length, device_arch, CUDA_ERROR_INVALID_SOURCE,
                                        ret_module);
        fake_buffer_free(&payload);
    } else if (!request->context) {
        result = CUDA_SUCCESS;
    }
    compilation->key = NULL;
    fake_buffer_free(&option_text);
    fake_buffer_free(&key);
    return result;
}

static CUresult load_cubin(struct fake_request *request, const void *cubin, size_t bytes,
                           struct fake_module **ret_module)
{
    if (!request->context)
        return CUDA_SUCCESS;
    return fake_module_create(cubin, bytes, request->context->device.plan->arch.number,
                              CUDA_ERROR_NO_BINARY_FOR_GPU, ret_module);
}

size_t fake_fatbin_extent(const void *image)
{
    return fake_fatbin_container(image, SIZE_MAX);
}

/* The cubin that fits, else the highest PTX: its key has the bytes that the entry holds [3]. */
static CUresult load_fatbin(struct fake_request *request, const void *image, struct fake_module **ret_module)
{
    const struct fake_device *device =
        request->context ? &request->context->device : &request->driver->contexts[0].device;
    unsigned target = request->options->target.number;
    struct fake_fatbin_entry entry;
    struct fake_buffer code;
    bool has_ltoir;
    size_t bytes = fake_fatbin_extent(image);
    if (!bytes) {
        fake_buffer_add_text(&request->options->error_log,
                             "emulated driver: the wrapper of a fat binary is not emulated\n");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!fake_fatbin_choose(image, bytes, target ? target : device->plan->arch.number, &entry, &has_ltoir))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (!fake_fatbin_code(&entry, &code))
        return CUDA_ERROR_INVALID_IMAGE;
    CUresult result;
    if (entry.kind == FAKE_FATBIN_CUBIN) {
        result = load_cubin(request, code.data, code.length, ret_module);
    } else {
        result = load_ptx(request, fake_buffer_text(&code), code.length, ret_module);
    }
    fake_buffer_free(&code);
    return result;
}

CUresult fake_load(struct fake_driver *driver, const char *call, const void *image,
                   struct fake_context *context, struct fake_options *options, double *ret_wall_time_ms,
                   struct fake_module **ret_module)
{
    struct fake_request request = {.driver = driver, .call = call, .context = context, .options = options};
    struct fake_module *module = NULL;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    fake_driver_lock();
    switch (fake_image_kind(image)) {
    case FAKE_IMAGE_PTX:
        result = load_ptx(&request, image, strlen(image), &module);
        break;
    case FAKE_IMAGE_CUBIN:
        result = load_cubin(&request, image, fake_cubin_extent(image), &module);
        break;
    case FAKE_IMAGE_FATBIN:
        result = load_fatbin(&request, image, &module);
        break;
    case FAKE_IMAGE_NONE:
        break;
    }
    fake_driver_unlock();
    *ret_wall_time_ms = request.wall_time_ms;
    *ret_module = module;
    return result;
}
