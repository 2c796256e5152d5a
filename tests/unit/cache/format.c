/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, names and headers against values worked out by hand. */
#include "cache/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static void test_fnv_reference(void **state)
{
    (void)state;
    assert_int_equal(pj_fnv1a(PJ_FNV_START, "", 0), UINT64_C(0xcbf29ce484222325));
    assert_int_equal(pj_fnv1a(PJ_FNV_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    assert_int_equal(pj_fnv1a(PJ_FNV_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
    assert_int_equal(pj_fnv1a(pj_fnv1a(PJ_FNV_START, "foo", 3), "bar", 3), UINT64_C(0x85944171f73967e8));
}

static void test_key_is_its_bytes(void **state)
{
    static const char key[] = "Apr 29 202617:12:06HOST64sm_90.version 9.0\n\0 -O4 -g";
    (void)state;
    uint64_t wanted = pj_fnv1a(PJ_FNV_START, key, sizeof key - 1);
    assert_int_equal(pj_cache_key_hash("Apr 29 202617:12:06", 90, ".version 9.0\n", 13, "-O4 -g"), wanted);
    /* what lies behind the first NUL is not read by the driver */
    assert_int_equal(pj_cache_key_hash("Apr 29 202617:12:06", 90, ".version 9.0\n\0rest", 18, "-O4 -g"),
                     wanted);
    assert_int_equal(pj_cache_key_hash_exact("Apr 29 202617:12:06", 90, ".version 9.0\n\0", 14, "-O4 -g"),
                     wanted);
    assert_int_not_equal(pj_cache_key_hash("Apr 29 202617:12:06", 90, ".version 9.0\n", 13, ""), wanted);
}

static void test_empty_image(void **state)
{
    static const char key[] = "SHOST64sm_90\0 ";
    (void)state;
    assert_int_equal(pj_cache_key_hash("S", 90, NULL, 0, ""), pj_fnv1a(PJ_FNV_START, key, sizeof key - 1));
}

static void test_many_are_as_one(void **state)
{
    static const uint16_t numbers[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    uint64_t hashes[PJ_COUNT(numbers)];
    (void)state;
    for (size_t count = 0; count <= PJ_COUNT(numbers); count++) {
        memset(hashes, 0, sizeof hashes);
        pj_cache_key_hashes("stamp", numbers, count, "text", 4, "-c", hashes);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(hashes[i], pj_cache_key_hash("stamp", numbers[i], "text", 4, "-c"));
        if (count < PJ_COUNT(numbers))
            assert_int_equal(hashes[count], 0);
    }
}

static void test_path(void **state)
{
    char text[PJ_ENTRY_PATH_TEXT];
    (void)state;
    assert_string_equal(pj_entry_path(UINT64_C(0xca920786966c763d), text), "c/a/920786966c763d");
    assert_string_equal(pj_entry_path(0, text), "0/0/00000000000000");
}

static void test_header(void **state)
{
    static const unsigned char bytes[PJ_ENTRY_HEADER_BYTES] = {
        0x41, 0, 0, 0, 0x56, 0x03, 0, 0, 0, 0, 0, 0, 0xf8, 0x0e, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char again[PJ_ENTRY_HEADER_BYTES];
    struct pj_entry_header header;
    uint64_t size;
    (void)state;
    pj_entry_header_read(bytes, &header);
    assert_int_equal(header.format, 65);
    assert_int_equal(header.key_bytes, 854);
    assert_int_equal(header.payload_bytes, 3832);
    assert_int_equal(header.payload_checksum, UINT64_C(0x0807060504030201));
    pj_entry_header_write(&header, again);
    assert_memory_equal(again, bytes, sizeof bytes);
    assert_true(pj_entry_size(&header, &size));
    assert_int_equal(size, 4714);
    header.key_bytes = UINT64_MAX - 27;
    header.payload_bytes = 0;
    assert_false(pj_entry_size(&header, &size));
    header.payload_bytes = 28;
    assert_false(pj_entry_size(&header, &size));
}

static void test_key_taken_apart(void **state)
{
    static const char text[] = "Apr 29 202617:12:06HOST64sm_103//\n\0x\0\0 -O2 --maxrregcount 40";
    struct pj_cache_key key;
    (void)state;
    assert_int_equal(pj_cache_key_read(text, sizeof text - 1, &key, NULL), 0);
    assert_string_equal(key.stamp, "Apr 29 202617:12:06");
    assert_int_equal(key.arch_number, 103);
    assert_int_equal(key.image_size, 7);
    assert_memory_equal(key.image, "//\n\0x\0\0", 7);
    assert_int_equal(key.options_size, 21);
    assert_memory_equal(key.options, "-O2 --maxrregcount 40", 21);
}

static void expect_no_key(const void *bytes, size_t size, const char *message)
{
    struct pj_cache_key key;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_cache_key_read(bytes, size, &key, &err), PJ_ERROR_FORMAT);
    assert_string_equal(pj_error_message(err), message);
}

static void test_no_key(void **state)
{
    static const char no_front[] =
        "the key does not begin with a build stamp of 1 to 63 characters and \"HOST64sm_\"";
    static const char no_end[] = "the key's image does not end in a NUL and a space";
    char far[PJ_STAMP_MAX + 32];
    struct pj_cache_key key;
    (void)state;
    expect_no_key("", 0, no_front);
    expect_no_key("HOST64sm_90\0 ", 13, no_front);
    expect_no_key("SHOST64sm_", 10, "the key names no architecture behind \"HOST64sm_\"");
    expect_no_key("SHOST64sm_x\0 ", 13, "the key names no architecture behind \"HOST64sm_\"");
    expect_no_key("S\nHOST64sm_90\0 ", 15, "the key's build stamp holds the byte 0x0a");
    expect_no_key("S\xffHOST64sm_90\0 ", 15, "the key's build stamp holds the byte 0xff");
    expect_no_key("SHOST64sm_90", 12, no_end);
    expect_no_key("SHOST64sm_90 -c", 15, no_end);
    expect_no_key("SHOST64sm_90\0", 13, no_end);
    expect_no_key("SHOST64sm_90\0x", 14, no_end);
    memset(far, 'x', sizeof far);
    memcpy(far + PJ_STAMP_MAX + 1, "HOST64sm_90\0 ", 13);
    expect_no_key(far, PJ_STAMP_MAX + 14, no_front);
    memcpy(far + PJ_STAMP_MAX, "HOST64sm_90\0 ", 13);
    assert_int_equal(pj_cache_key_read(far, PJ_STAMP_MAX + 13, &key, NULL), 0);
    assert_int_equal(strlen(key.stamp), PJ_STAMP_MAX);
}

static void test_whose_key(void **state)
{
    static const char plain[] = "SHOST64sm_90//\n\0 -c -O1";
    static const char bitcode[] = "SHOST64sm_90BC\xc0\xde\0\0 -arch=sm_90";
    static const char linker[] = "SHOST64sm_90//\n\0 -arch=sm_90 -c";
    struct pj_cache_key key;
    (void)state;
    assert_int_equal(pj_cache_key_read(plain, sizeof plain - 1, &key, NULL), 0);
    assert_true(pj_cache_key_of_driver(&key));
    assert_int_equal(pj_cache_key_read(bitcode, sizeof bitcode - 1, &key, NULL), 0);
    assert_false(pj_cache_key_of_driver(&key));
    assert_int_equal(pj_cache_key_read(linker, sizeof linker - 1, &key, NULL), 0);
    assert_false(pj_cache_key_of_driver(&key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fnv_reference),
        cmocka_unit_test(test_key_is_its_bytes),
        cmocka_unit_test(test_empty_image),
        cmocka_unit_test(test_many_are_as_one),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_key_taken_apart),
        cmocka_unit_test(test_no_key),
        cmocka_unit_test(test_whose_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
