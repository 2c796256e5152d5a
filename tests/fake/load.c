/* SPDX-License-Identifier: Apache-2.0 */
/* One load of an image: recognised, looked up, compiled, stored, loaded into the device. */
#include "load.h"

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

static CUresult load_ptx(struct fake_request *request, struct fake_module **ret_module)
{
    const struct fake_device *device =
        request->context ? &request->context->device : &request->driver->contexts[0].device;
    struct fake_compilation *compilation = &request->compilation;
    unsigned device_arch = device->plan->arch.number;
    struct fake_buffer option_text, key, payload;
    compilation->arch = request->options->target.number ? request->options->target.number : device_arch;
    fake_options_text(request->options, &option_text);
    fake_key_make(fake_scenario(), compilation->arch, compilation->text, compilation->bytes,
                  fake_buffer_text(&option_text), &key);
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
        request.compilation.text = image;
        request.compilation.bytes = strlen(image);
        result = load_ptx(&request, &module);
        break;
    case FAKE_IMAGE_CUBIN:
        result = CUDA_SUCCESS;
        if (context)
            result = fake_module_create(image, fake_cubin_extent(image), context->device.plan->arch.number,
                                        CUDA_ERROR_NO_BINARY_FOR_GPU, &module);
        break;
    case FAKE_IMAGE_FATBIN:
        fake_buffer_add_text(&options->error_log, "emulated driver: fat binaries are not emulated\n");
        result = CUDA_ERROR_NOT_SUPPORTED;
        break;
    case FAKE_IMAGE_NONE:
        break;
    }
    fake_driver_unlock();
    *ret_wall_time_ms = request.wall_time_ms;
    *ret_module = module;
    return result;
}
