/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: containers of code for several architectures, alone, in a host object, in an archive of
 * objects. */
#ifndef FAKE_FATBIN_H
#define FAKE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

enum fake_fatbin_kind { FAKE_FATBIN_PTX = 1, FAKE_FATBIN_CUBIN = 2, FAKE_FATBIN_LTOIR = 8 };

struct fake_fatbin_entry {
    unsigned kind; /* enum fake_fatbin_kind, or another */
    unsigned arch;
    bool is_packed;
    bool is_zstd;                 /* of a packed one: else LZ4 */
    const unsigned char *payload; /* with its padding */
    size_t payload_bytes;
    size_t packed_bytes, plain_bytes; /* of a packed one: without padding; unpacked */
    const char *options;              /* recorded for the compiler, not ended; NULL: none */
    size_t option_bytes;
};

/* Bytes of the container that starts here, or 0 where none does. */
size_t fake_fatbin_container(const unsigned char *bytes, size_t length);

/* The entry at `*at`, which becomes the next one's place; 0 at first. False at the end and where the bytes
   are damaged. */
bool fake_fatbin_next(const unsigned char *container, size_t bytes, size_t *at,
                      struct fake_fatbin_entry *ret_entry);

/* What the driver takes for an architecture: a cubin that fits, else the highest PTX that does [46]. False
   where nothing fits; `ret_has_ltoir` tells whether LTO-IR was passed over [47]. */
bool fake_fatbin_choose(const unsigned char *container, size_t bytes, unsigned arch,
                        struct fake_fatbin_entry *ret_entry, bool *ret_has_ltoir);

/* The code of an entry as it stands in a key, but for one NUL at the end of PTX [3]: the payload with its
   padding, or what a packed one unpacks to. False where it does not unpack to the size that it records. */
bool fake_fatbin_code(const struct fake_fatbin_entry *entry, struct fake_buffer *ret_code);

/* The sections of device code in a host object, one after the other: `*index` is 0 at first. */
bool fake_fatbin_object_section(const unsigned char *bytes, size_t length, unsigned *index,
                                const unsigned char **ret_section, size_t *ret_bytes);

/* The members of an archive but for its tables: `*at` is 0 at first. */
bool fake_fatbin_member(const unsigned char *bytes, size_t length, size_t *at, char ret_name[64],
                        const unsigned char **ret_member, size_t *ret_bytes);

#endif
