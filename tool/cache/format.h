/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's formats, as measured (docs/cache-model.md): key, entry name, entry file. Pure code over bytes;
 * nothing is trusted. */
#ifndef PREJIT_CACHE_FORMAT_H
#define PREJIT_CACHE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    PJ_CACHE_FORMAT = 65, /* the one format number this code knows */
    PJ_ENTRY_HEADER_BYTES = 28,
    PJ_ENTRY_PATH_TEXT = 19, /* "c/a/920786966c763d" and NUL */
    PJ_STAMP_MAX = 63,       /* longest build stamp accepted, in characters */
};

/** FNV-1a-64 over `size` bytes, going on from `hash` (start: PJ_FNV_START). */
#define PJ_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t pj_fnv1a(uint64_t hash, const void *bytes, size_t size);

/** Hash of the key for one plain PTX image: stamp, "HOST64", "sm_NN", the text up to its first NUL, NUL,
 * space, options [cache-model 1-4]. `options_text` as pj_jit_options_key_text makes it, "" for none. */
uint64_t pj_cache_key_hash(const char *stamp, uint16_t arch_number, const void *ptx, size_t ptx_size,
                           const char *options_text);

/** The same image and options for `count` architectures at once; four cost about as much as one. */
void pj_cache_key_hashes(const char *stamp, const uint16_t *arch_numbers, size_t count, const void *ptx,
                         size_t ptx_size, const char *options_text, uint64_t *ret_hashes);

/** Hash of a key whose image part is known byte for byte, NULs included, as it comes out of a fatbin or out
 * of pj_cache_key_read [cache-model 3, 34]. */
uint64_t pj_cache_key_hash_exact(const char *stamp, uint16_t arch_number, const void *image,
                                 size_t image_size, const char *options_text);

/** "c/a/920786966c763d", relative to the cache; gives `ret_text`. */
char *pj_entry_path(uint64_t hash, char ret_text[PJ_ENTRY_PATH_TEXT]);

/** The number that such a path spells; false for anything else. */
bool pj_entry_path_read(const char *path, uint64_t *ret_hash);

/** The 28 bytes in front of an entry's key. */
struct pj_entry_header {
    uint32_t format;
    uint64_t key_bytes, payload_bytes, payload_checksum;
};

/** Decodes; `bytes` holds PJ_ENTRY_HEADER_BYTES. */
void pj_entry_header_read(const unsigned char *bytes, struct pj_entry_header *ret_header);
void pj_entry_header_write(const struct pj_entry_header *header, unsigned char *ret_bytes);

/** Size of the whole file by its header; false where the sum does not fit. */
bool pj_entry_size(const struct pj_entry_header *header, uint64_t *ret_size);

/** A key taken apart; pointers into the key's bytes. */
struct pj_cache_key {
    char stamp[PJ_STAMP_MAX + 1];
    uint16_t arch_number;
    const char *image; /* what lies between sm_NN and the space before the options, its last NUL included */
    size_t image_size;
    const char *options; /* behind that space; not NUL-terminated */
    size_t options_size;
};

/** PJ_ERROR_FORMAT where the bytes are no key of this format. */
int pj_cache_key_read(const void *bytes, size_t size, struct pj_cache_key *ret_key, struct pj_error **err);

/** false for keys of NVRTC and nvJitLink, which keep entries of their own in the same directory: the driver
 * does not load those, so neither their payload nor their stamp is judged by its rules [cache-model 36]. */
bool pj_cache_key_of_driver(const struct pj_cache_key *key);

#endif
