/* SPDX-License-Identifier: Apache-2.0 */
/* One load of an image: recognised, looked up, compiled, stored, loaded into the device. */
#ifndef FAKE_LOAD_H
#define FAKE_LOAD_H

#include "driver.h"
#include "module.h"
#include "options.h"

/* `image` is PTX up to its first NUL, a cubin, or a fat binary; `call` is for the event log. Without a
   context nothing is loaded into a device: `ret_module` becomes NULL, and refusals are success, told by the
   error log alone. */
CUresult fake_load(struct fake_driver *driver, const char *call, const void *image,
                   struct fake_context *context, struct fake_options *options, double *ret_wall_time_ms,
                   struct fake_module **ret_module);

enum fake_image { FAKE_IMAGE_PTX, FAKE_IMAGE_CUBIN, FAKE_IMAGE_FATBIN, FAKE_IMAGE_NONE };
enum fake_image fake_image_kind(const void *image);

/* Bytes of a fat binary; 0 where it is only the wrapper of one. */
size_t fake_fatbin_extent(const void *image);

#endif
