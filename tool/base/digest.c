/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by nettle; random bytes by the kernel. */
#include "base/digest.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <nettle/sha2.h>

void pj_sha256_of(const void *bytes, size_t size, struct pj_sha256 *ret_digest)
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, sizeof ret_digest->bytes, ret_digest->bytes);
}

void pj_sha256_hex(const struct pj_sha256 *digest, char ret_hex[PJ_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < PJ_SHA256_BYTES; i++) {
        ret_hex[2 * i] = digits[digest->bytes[i] >> 4];
        ret_hex[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    ret_hex[PJ_SHA256_HEX - 1] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int pj_sha256_parse(const char *hex, struct pj_sha256 *ret_digest, struct pj_error **err)
{
    struct pj_sha256 digest = {0};
    if (strlen(hex) != PJ_SHA256_HEX - 1)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "a SHA-256 digest has 64 hex digits, '%s' has %zu characters", hex, strlen(hex));
    for (size_t i = 0; i < PJ_SHA256_BYTES; i++) {
        int high = hex_value(hex[2 * i]);
        int low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return pj_error_set(err, PJ_ERROR_FORMAT,
                                "'%s' is no SHA-256 digest: only hex digits are allowed", hex);
        digest.bytes[i] = (uint8_t)(high * 16 + low);
    }
    *ret_digest = digest;
    return 0;
}

int pj_random_bytes(void *bytes, size_t size, struct pj_error **err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = getrandom((char *)bytes + done, size - done, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot get random bytes");
        done += (size_t)got;
    }
    return 0;
}
