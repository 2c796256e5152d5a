/* SPDX-License-Identifier: Apache-2.0 */
/* Every verdict on an entry file, with its message, and whose entry it is. */
#include "cache/entry.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "fixture.h"

struct place {
    char *cache;
    int fd;
    uint64_t hash;
    struct pj_buffer bytes;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->cache = make_cache();
    place->fd = open(place->cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->hash = make_entry_bytes(STAMP, 90, "//\n", 100, &place->bytes);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    (void)close(place->fd);
    remove_cache(place->cache);
    pj_buffer_free(&place->bytes);
    free(place);
    return 0;
}

static void expect(const struct place *place, enum pj_entry_state wanted, const char *message)
{
    enum pj_entry_state found;
    char stamp[PJ_STAMP_MAX + 1];
    PJ_CLEANUP_FREE char *said = NULL;
    assert_int_equal(pj_entry_check(place->fd, place->hash, fixture_check, &found, stamp, &said, NULL), 0);
    assert_int_equal(found, wanted);
    if (message)
        assert_string_equal(said, message);
    else
        assert_null(said);
    assert_string_equal(stamp, wanted == PJ_ENTRY_SOUND ? STAMP : "");
}

static void write_bytes(const struct place *place)
{
    write_entry(place->cache, place->hash, place->bytes.data, place->bytes.size);
}

/* Puts the checksum right again, so that what is wrong is the payload alone. */
static void seal(struct place *place)
{
    struct pj_entry_header header;
    unsigned char *bytes = (unsigned char *)place->bytes.data;
    pj_entry_header_read(bytes, &header);
    header.payload_checksum = pj_fnv1a(PJ_FNV_START, bytes + 28 + header.key_bytes, header.payload_bytes);
    pj_entry_header_write(&header, bytes);
}

static void test_sound_and_absent(void **state)
{
    struct place *place = *state;
    expect(place, PJ_ENTRY_ABSENT, NULL);
    write_bytes(place);
    expect(place, PJ_ENTRY_SOUND, NULL);
}

static void test_sizes(void **state)
{
    struct place *place = *state;
    write_entry(place->cache, place->hash, "", 0);
    expect(place, PJ_ENTRY_EMPTY, "it is empty");
    write_entry(place->cache, place->hash, place->bytes.data, 27);
    expect(place, PJ_ENTRY_TRUNCATED, "it has 27 bytes, fewer than the 28 of a header");
    write_entry(place->cache, place->hash, place->bytes.data, place->bytes.size - 1);
    expect(place, PJ_ENTRY_TRUNCATED,
           "it has 162 bytes, its header says 28 and a key of 35 and a payload of 100");
    memset(place->bytes.data + 4, 0xff, 16);
    write_bytes(place);
    expect(place, PJ_ENTRY_TRUNCATED,
           "it has 163 bytes, its header says 28 and a key of 18446744073709551615 and a payload of "
           "18446744073709551615");
}

static void test_no_payload(void **state)
{
    struct place *place = *state;
    memset(place->bytes.data + 12, 0, 8);
    write_entry(place->cache, place->hash, place->bytes.data, 28 + 35);
    expect(place, PJ_ENTRY_TRUNCATED, "it has no payload");
}

static void test_format(void **state)
{
    struct place *place = *state;
    place->bytes.data[0] = 66;
    write_bytes(place);
    expect(place, PJ_ENTRY_OTHER_FORMAT, "its format number is 66, 65 is known");
}

static void test_name(void **state)
{
    struct place *place = *state;
    char message[128], path[PJ_ENTRY_PATH_TEXT];
    (void)snprintf(message, sizeof message, "its name is not its key's hash, which gives %s",
                   pj_entry_path(place->hash, path));
    place->hash++;
    write_bytes(place);
    expect(place, PJ_ENTRY_NAME_WRONG, message);
    /* a name that fits a key that is none */
    place->bytes.data[28 + 34] = 'x';
    place->hash = pj_fnv1a(PJ_FNV_START, place->bytes.data + 28, 35);
    write_bytes(place);
    expect(place, PJ_ENTRY_NAME_WRONG, "the key's image does not end in a NUL and a space");
}

static void test_checksum(void **state)
{
    struct place *place = *state;
    struct pj_entry_header header;
    char message[128];
    pj_entry_header_read((unsigned char *)place->bytes.data, &header);
    place->bytes.data[place->bytes.size - 1] ^= 1;
    (void)snprintf(message, sizeof message, "its payload's checksum is %016lx, its header says %016lx",
                   (unsigned long)pj_fnv1a(PJ_FNV_START, place->bytes.data + 28 + 35, 100),
                   (unsigned long)header.payload_checksum);
    write_bytes(place);
    expect(place, PJ_ENTRY_CHECKSUM_WRONG, message);
}

static void test_payload(void **state)
{
    struct place *place = *state;
    place->bytes.data[28 + 35] = 'X';
    seal(place);
    write_bytes(place);
    expect(place, PJ_ENTRY_PAYLOAD_WRONG,
           "the payload is no cubin for sm_90; the driver believes it and never compiles it again");
}

/* NVRTC's entries hold PTX where the driver's hold cubins, and nobody loads them as code. */
static void test_payload_of_a_tool(void **state)
{
    struct place *place = *state;
    pj_buffer_reset(&place->bytes);
    place->hash = make_entry_bytes(STAMP, 90, "BC\xc0\xde", 100, &place->bytes);
    place->bytes.data[place->bytes.size - 100] = 'X';
    seal(place);
    write_bytes(place);
    expect(place, PJ_ENTRY_SOUND, NULL);
}

static void test_links(void **state)
{
    struct place *place = *state;
    char path[PJ_ENTRY_PATH_TEXT];
    write_bytes(place);
    (void)pj_entry_path(place->hash, path);
    assert_int_equal(renameat(place->fd, path, place->fd, "moved"), 0);
    PJ_CLEANUP_FREE char *target = pj_path_join(place->cache, "moved");
    assert_int_equal(symlinkat(target, place->fd, path), 0);
    expect(place, PJ_ENTRY_ABSENT, "it is a symbolic link, and prejit follows none there");
    assert_int_equal(unlinkat(place->fd, path, 0), 0);
    assert_int_equal(mkfifoat(place->fd, path, 0600), 0);
    expect(place, PJ_ENTRY_IN_THE_WAY, "it is a named pipe");
    assert_int_equal(unlinkat(place->fd, path, 0), 0);
    assert_int_equal(mkdirat(place->fd, path, 0700), 0);
    expect(place, PJ_ENTRY_IN_THE_WAY, "it is a directory");
    assert_int_equal(unlinkat(place->fd, path, AT_REMOVEDIR), 0);
    path[3] = '\0';
    assert_int_equal(unlinkat(place->fd, path, AT_REMOVEDIR), 0);
    assert_int_equal(symlinkat(".", place->fd, path), 0);
    char message[128];
    (void)snprintf(message, sizeof message, "cannot use the hash directory %s of the cache: Not a directory",
                   path);
    expect(place, PJ_ENTRY_UNREADABLE, message);
}

/* Files of gigabytes that hold nothing: what their headers say is checked before memory is taken for it. */
static void test_large(void **state)
{
    enum { HEADER = 28, KEY_BYTES = 100 };
    static const struct {
        uint64_t key_bytes, payload_bytes, size;
        enum pj_entry_state state;
        const char *message;
    } cases[] = {
        {UINT64_C(2) << 30, 100, HEADER + (UINT64_C(2) << 30) + 100, PJ_ENTRY_NAME_WRONG,
         "its header says a key of 2147483648 bytes and a payload of 100, no module has either"},
        {100, UINT64_C(5) << 30, HEADER + 100 + (UINT64_C(5) << 30), PJ_ENTRY_NAME_WRONG,
         "its header says a key of 100 bytes and a payload of 5368709120, no module has either"},
        {100, 100, UINT64_C(5) << 30, PJ_ENTRY_TRUNCATED,
         "it has 5368709120 bytes, its header says 28 and a key of 100 and a payload of 100"},
        {KEY_BYTES, 128 << 20, HEADER + KEY_BYTES + (128 << 20), PJ_ENTRY_NAME_WRONG,
         "its name is not its key's hash"},
    };
    struct place *place = *state;
    char path[PJ_ENTRY_PATH_TEXT];
    write_bytes(place);
    PJ_CLEANUP_CLOSE int fd = openat(place->fd, pj_entry_path(place->hash, path), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        const struct pj_entry_header header = {.format = PJ_CACHE_FORMAT,
                                               .key_bytes = cases[i].key_bytes,
                                               .payload_bytes = cases[i].payload_bytes};
        unsigned char bytes[HEADER];
        pj_entry_header_write(&header, bytes);
        assert_int_equal(pwrite(fd, bytes, sizeof bytes, 0), HEADER);
        if (ftruncate(fd, (off_t)cases[i].size) != 0)
            skip(); /* this file system has no files of that size */
        expect(place, cases[i].state, cases[i].message);
    }
}

/* A right one of a size that is read in pieces first, and one with a wrong byte in it. */
static void test_large_and_right(void **state)
{
    struct place *place = *state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    place->hash = make_entry_bytes(STAMP, 90, "large", (size_t)PJ_ENTRY_LARGE_BYTES + 1000, &bytes);
    write_entry(place->cache, place->hash, bytes.data, bytes.size);
    expect(place, PJ_ENTRY_SOUND, NULL);
    bytes.data[bytes.size - 1] ^= 1;
    write_entry(place->cache, place->hash, bytes.data, bytes.size);
    expect(place, PJ_ENTRY_CHECKSUM_WRONG, "its payload's checksum is wrong");
}

static void test_whose(void **state)
{
    struct place *place = *state;
    static const char long_image[] =
        "// 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890\n";
    uint64_t ours = put_entry(place->cache, STAMP, long_image, 10);
    uint64_t stale = put_entry(place->cache, OTHER_STAMP, long_image, 10);
    uint64_t tool = put_entry(place->cache, OTHER_STAMP,
                              "BC\xc0\xde 01234567890123456789012345678901234567890123456789"
                              "01234567890123456789012345678901234567890",
                              10);
    assert_int_equal(pj_entry_peek(place->fd, ours, STAMP), PJ_ENTRY_ORIGIN_THIS);
    assert_int_equal(pj_entry_peek(place->fd, stale, STAMP), PJ_ENTRY_ORIGIN_STALE);
    assert_int_equal(pj_entry_peek(place->fd, tool, STAMP), PJ_ENTRY_ORIGIN_TOOL);
    assert_int_equal(pj_entry_peek(place->fd, place->hash, STAMP), PJ_ENTRY_ORIGIN_ABSENT);
    write_entry(place->cache, place->hash, "garbage", 7);
    assert_int_equal(pj_entry_peek(place->fd, place->hash, STAMP), PJ_ENTRY_ORIGIN_UNKNOWN);
}

static void test_texts(void **state)
{
    (void)state;
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_SOUND), "sound");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_ABSENT), "absent");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_EMPTY), "empty");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_TRUNCATED), "truncated");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_OTHER_FORMAT), "of another format");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_NAME_WRONG), "not named by its key");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_CHECKSUM_WRONG), "damaged");
    assert_string_equal(pj_entry_state_text(PJ_ENTRY_PAYLOAD_WRONG), "believed but wrong");
    assert_string_equal(pj_entry_state_text((enum pj_entry_state)99), "in an unknown state");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sound_and_absent),
        TEST(test_sizes),
        TEST(test_no_payload),
        TEST(test_format),
        TEST(test_name),
        TEST(test_checksum),
        TEST(test_payload),
        TEST(test_payload_of_a_tool),
        TEST(test_links),
        TEST(test_large),
        TEST(test_large_and_right),
        TEST(test_whose),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
