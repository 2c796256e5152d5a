/* SPDX-License-Identifier: Apache-2.0 */
/* What of a fatbin's PTX stands in the cache's key. */
#ifndef PREJIT_IMAGE_FATBIN_KEY_H
#define PREJIT_IMAGE_FATBIN_KEY_H

#include "base/buffer.h"
#include "image/fatbin.h"

/** Largest PTX that is unpacked, in bytes. */
#define PJ_FATBIN_KEY_MAX (UINT64_C(1) << 30)

/** Appends the image part of the key, NULs included, of an entry that pj_fatbin_next gave [cache-model 3]: of
 * a stored one the payload with its padding, of a packed one what it unpacks to and one NUL more.
 * PJ_ERROR_FORMAT where the entry is no PTX, is packed in an unknown way or scrambled, unpacks to more than
 * PJ_FATBIN_KEY_MAX bytes, to another size than is recorded, or not at all. *ret_image is as it was then. */
int pj_fatbin_key_image(const struct pj_fatbin *fatbin, const struct pj_fatbin_entry *entry,
                        struct pj_buffer *ret_image, struct pj_error **err);

#endif
