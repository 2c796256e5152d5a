/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an entry file as the driver would write it, from what a compiler made without one. Pure code; it
 * judges neither the image nor the payload, and writes nowhere. */
#ifndef PREJIT_CACHE_ASSEMBLE_H
#define PREJIT_CACHE_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/** Appends the whole file to *ret_file and gives the hash that names it (pj_entry_path) [cache-model 1-4, 7].
 *
 * The key is that of plain PTX: `image` up to its first NUL, and one NUL. `option_text` is what
 * pj_jit_options_key_text makes, with `-c` first for an input of a link [5]; "" for none. Such an entry loads
 * and runs [32], if the payload is a cubin for the architecture; one that is not is believed as well [22], so
 * check it before.
 *
 * PJ_ERROR_FORMAT where the parts make no key that reads back as them, such as a stamp that is empty or too
 * long; for an empty payload; and where no file of that size is read (PJ_ENTRY_MAX_BYTES). What *ret_file
 * held before it still holds then, but for PJ_ERROR_NO_MEMORY. */
int pj_entry_assemble(const char *stamp, uint16_t arch_number, const void *image, size_t image_size,
                      const char *option_text, const void *payload, size_t payload_size,
                      struct pj_buffer *ret_file, uint64_t *ret_hash, struct pj_error **err);

/** The same for an image that is known byte for byte, NULs included: out of a fatbin, or of another key
 * [cache-model 3, 34]. */
int pj_entry_assemble_exact(const char *stamp, uint16_t arch_number, const void *image, size_t image_size,
                            const char *option_text, const void *payload, size_t payload_size,
                            struct pj_buffer *ret_file, uint64_t *ret_hash, struct pj_error **err);

#endif
