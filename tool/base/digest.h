/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 of images and libraries, and random bytes. */
#ifndef PREJIT_BASE_DIGEST_H
#define PREJIT_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PJ_SHA256_BYTES = 32, PJ_SHA256_HEX = 65 };

struct pj_sha256 {
    uint8_t bytes[PJ_SHA256_BYTES];
};

/** SHA-256 of `size` bytes. */
void pj_sha256_of(const void *bytes, size_t size, struct pj_sha256 *ret_digest);

/** 64 lower-case hex digits and a NUL. */
void pj_sha256_hex(const struct pj_sha256 *digest, char ret_hex[PJ_SHA256_HEX]);

/** Parses 64 hex digits of either case; PJ_ERROR_FORMAT otherwise. */
int pj_sha256_parse(const char *hex, struct pj_sha256 *ret_digest, struct pj_error **err);

/** `size` bytes of getrandom(2). */
int pj_random_bytes(void *bytes, size_t size, struct pj_error **err);

#endif
