/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, the key and its hash, the name and the header of an entry. */
#include "cache/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define FNV_PRIME UINT64_C(0x100000001b3)

static const char host_word[] = "HOST64sm_";

uint64_t pj_fnv1a(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * FNV_PRIME;
    return hash;
}

/* One step needs the result of the step before it, so a single hash leaves the multiplier idle most of the
 * time: four at once take hardly longer than one. */
static void fnv1a_four(uint64_t hashes[4], const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t a = hashes[0], b = hashes[1], c = hashes[2], d = hashes[3];
    for (size_t i = 0; i < size; i++) {
        a = (a ^ byte[i]) * FNV_PRIME;
        b = (b ^ byte[i]) * FNV_PRIME;
        c = (c ^ byte[i]) * FNV_PRIME;
        d = (d ^ byte[i]) * FNV_PRIME;
    }
    hashes[0] = a;
    hashes[1] = b;
    hashes[2] = c;
    hashes[3] = d;
}

static void fnv1a_many(uint64_t *hashes, size_t count, const void *bytes, size_t size)
{
    for (; count >= 4; count -= 4, hashes += 4)
        fnv1a_four(hashes, bytes, size);
    if (count == 0)
        return;
    uint64_t rest[4] = {0};
    memcpy(rest, hashes, count * sizeof *hashes);
    if (count == 1)
        rest[0] = pj_fnv1a(rest[0], bytes, size);
    else
        fnv1a_four(rest, bytes, size);
    memcpy(hashes, rest, count * sizeof *hashes);
}

static uint64_t hash_front(const char *stamp, uint16_t arch_number)
{
    char arch[8];
    int length = snprintf(arch, sizeof arch, "%u", (unsigned)arch_number);
    uint64_t hash = pj_fnv1a(PJ_FNV_START, stamp, strlen(stamp));
    hash = pj_fnv1a(hash, host_word, sizeof host_word - 1);
    return pj_fnv1a(hash, arch, (size_t)length);
}

static uint64_t hash_options(uint64_t hash, const char *options_text)
{
    return pj_fnv1a(pj_fnv1a(hash, " ", 1), options_text, strlen(options_text));
}

void pj_cache_key_hashes(const char *stamp, const uint16_t *arch_numbers, size_t count, const void *ptx,
                         size_t ptx_size, const char *options_text, uint64_t *ret_hashes)
{
    size_t size = ptx_size > 0 ? strnlen(ptx, ptx_size) : 0;
    for (size_t i = 0; i < count; i++)
        ret_hashes[i] = hash_front(stamp, arch_numbers[i]);
    fnv1a_many(ret_hashes, count, ptx, size);
    for (size_t i = 0; i < count; i++)
        ret_hashes[i] = hash_options(pj_fnv1a(ret_hashes[i], "", 1), options_text);
}

uint64_t pj_cache_key_hash(const char *stamp, uint16_t arch_number, const void *ptx, size_t ptx_size,
                           const char *options_text)
{
    uint64_t hash;
    pj_cache_key_hashes(stamp, &arch_number, 1, ptx, ptx_size, options_text, &hash);
    return hash;
}

uint64_t pj_cache_key_hash_exact(const char *stamp, uint16_t arch_number, const void *image,
                                 size_t image_size, const char *options_text)
{
    return hash_options(pj_fnv1a(hash_front(stamp, arch_number), image, image_size), options_text);
}

char *pj_entry_path(uint64_t hash, char ret_text[PJ_ENTRY_PATH_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    char *out = ret_text;
    for (unsigned i = 0; i < 16; i++) {
        *out++ = digits[(hash >> (60 - 4 * i)) & 15];
        if (i < 2)
            *out++ = '/';
    }
    *out = '\0';
    return ret_text;
}

bool pj_entry_path_read(const char *path, uint64_t *ret_hash)
{
    static const char shape[] = "x/x/xxxxxxxxxxxxxx";
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof shape; i++) {
        char c = path[i];
        if (shape[i] != 'x') {
            if (c != shape[i])
                return false;
            continue;
        }
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        hash = hash << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret_hash = hash;
    return true;
}

static uint64_t read_little(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static void write_little(uint64_t value, unsigned char *ret_bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ret_bytes[i] = (unsigned char)(value >> (8 * i));
}

void pj_entry_header_read(const unsigned char *bytes, struct pj_entry_header *ret_header)
{
    ret_header->format = (uint32_t)read_little(bytes, 4);
    ret_header->key_bytes = read_little(bytes + 4, 8);
    ret_header->payload_bytes = read_little(bytes + 12, 8);
    ret_header->payload_checksum = read_little(bytes + 20, 8);
}

void pj_entry_header_write(const struct pj_entry_header *header, unsigned char *ret_bytes)
{
    write_little(header->format, ret_bytes, 4);
    write_little(header->key_bytes, ret_bytes + 4, 8);
    write_little(header->payload_bytes, ret_bytes + 12, 8);
    write_little(header->payload_checksum, ret_bytes + 20, 8);
}

bool pj_entry_size(const struct pj_entry_header *header, uint64_t *ret_size)
{
    uint64_t size;
    if (__builtin_add_overflow(header->key_bytes, header->payload_bytes, &size) ||
        __builtin_add_overflow(size, (uint64_t)PJ_ENTRY_HEADER_BYTES, &size))
        return false;
    *ret_size = size;
    return true;
}

static const char *find_bytes(const char *bytes, size_t size, const char *wanted, size_t wanted_size)
{
    return size >= wanted_size ? memmem(bytes, size, wanted, wanted_size) : NULL;
}

/* "sm_" is followed by one to four digits, and no image begins with one. */
static int read_arch(const char *text, const char *end, struct pj_cache_key *key, struct pj_error **err)
{
    unsigned number = 0;
    const char *c = text;
    for (; c < end && c - text < 4 && *c >= '0' && *c <= '9'; c++)
        number = number * 10 + (unsigned)(*c - '0');
    if (number == 0)
        return pj_error_set(err, PJ_ERROR_FORMAT, "the key names no architecture behind \"HOST64sm_\"");
    key->arch_number = (uint16_t)number;
    key->image = c;
    return 0;
}

int pj_cache_key_read(const void *bytes, size_t size, struct pj_cache_key *ret_key, struct pj_error **err)
{
    const char *text = bytes;
    const char *end = text + size;
    size_t front = size < PJ_STAMP_MAX + sizeof host_word ? size : PJ_STAMP_MAX + sizeof host_word;
    const char *host = find_bytes(text, front, host_word, sizeof host_word - 1);
    if (!host || host == text || host - text > PJ_STAMP_MAX)
        return pj_error_set(err, PJ_ERROR_FORMAT,
                            "the key does not begin with a build stamp of 1 to %d characters and "
                            "\"HOST64sm_\"",
                            PJ_STAMP_MAX);
    struct pj_cache_key key = {.arch_number = 0};
    for (const char *c = text; c < host; c++) {
        if (*c < ' ' || *c > '~')
            return pj_error_set(err, PJ_ERROR_FORMAT, "the key's build stamp holds the byte 0x%02x",
                                (unsigned)(unsigned char)*c);
    }
    memcpy(key.stamp, text, (size_t)(host - text));
    int r = read_arch(host + sizeof host_word - 1, end, &key, err);
    if (r < 0)
        return r;
    /* Options may hold spaces, but no NUL, and every image ends in one. */
    const char *nul = memrchr(key.image, '\0', (size_t)(end - key.image));
    if (!nul || nul + 1 == end || nul[1] != ' ')
        return pj_error_set(err, PJ_ERROR_FORMAT, "the key's image does not end in a NUL and a space");
    key.image_size = (size_t)(nul + 1 - key.image);
    key.options = nul + 2;
    key.options_size = (size_t)(end - key.options);
    *ret_key = key;
    return 0;
}

bool pj_cache_key_of_driver(const struct pj_cache_key *key)
{
    static const char bitcode[] = {'B', 'C', '\xc0', '\xde'};
    static const char linker[] = "-arch=";
    if (key->image_size >= sizeof bitcode && memcmp(key->image, bitcode, sizeof bitcode) == 0)
        return false;
    return key->options_size < sizeof linker - 1 || memcmp(key->options, linker, sizeof linker - 1) != 0;
}
