/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to bytes and back: nothing is lost, and nothing malformed is taken. */
#include "messages.h"

#include <stdio.h>

#include "job/wire_codec.h"

static void encode(size_t i, struct pj_buffer *bytes)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_wire_message message = message_make(i);
    expect_success(pj_wire_encode(&message, bytes, &err), &err);
}

/* Decodes a copy of the exact size, so that a sanitizer sees any read behind it. */
static int decode(const char *bytes, size_t size, struct pj_arena *arena, struct pj_wire_message *message,
                  struct pj_error **err)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, bytes, size);
    int r = pj_wire_decode(copy, size, arena, message, err);
    free(copy); /* what was decoded must not point into it */
    return r;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const struct pj_wire_message sent = message_make(i);
        struct pj_wire_message got;
        encode(i, &bytes);
        expect_success(decode(bytes.data, bytes.size, &arena, &got, &err), &err);
        message_expect_equal(&sent, &got);
    }
}

/* NULL texts and empty lists come back as "" and nothing. */
static void test_empty(void **state)
{
    (void)state;
    static const enum pj_wire_type types[] = {PJ_WIRE_HELLO,  PJ_WIRE_START, PJ_WIRE_STARTED, PJ_WIRE_LOAD,
                                              PJ_WIRE_LOADED, PJ_WIRE_MAKE,  PJ_WIRE_MADE};
    for (size_t i = 0; i < PJ_COUNT(types); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_wire_message got, empty;
        memset(&empty, 0, sizeof empty);
        empty.type = types[i];
        assert_int_equal(pj_wire_encode(&empty, &bytes, NULL), 0);
        assert_int_equal(decode(bytes.data, bytes.size, &arena, &got, NULL), 0);
        assert_int_equal(got.type, types[i]);
        if (types[i] == PJ_WIRE_LOADED)
            assert_string_equal(got.loaded.log, "");
        if (types[i] == PJ_WIRE_LOAD)
            assert_string_equal(got.load.run_kernel, "");
    }
}

static void expect_malformed(const char *bytes, size_t size)
{
    struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_wire_message got, before;
    char message[128];
    uint32_t type = 0;
    memset(&got, 0x33, sizeof got);
    before = got;
    if (size >= sizeof type)
        memcpy(&type, bytes, sizeof type);
    (void)snprintf(message, sizeof message, "a message of %zu bytes and type %u is malformed", size, type);
    expect_error(decode(bytes, size, &arena, &got, &err), &err, PJ_ERROR_WORKER, message);
    assert_memory_equal(&got, &before, sizeof got);
}

static void test_every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        encode(i, &bytes);
        for (size_t size = 0; size < bytes.size; size++)
            expect_malformed(bytes.data, size);
        pj_buffer_putc(&bytes, '\0');
        expect_malformed(bytes.data, bytes.size);
    }
}

static void test_types(void **state)
{
    (void)state;
    static const uint32_t types[] = {0, PJ_WIRE_MADE + 1, 0x01000000, UINT32_MAX};
    for (size_t i = 0; i < PJ_COUNT(types); i++) {
        char bytes[64] = "";
        memcpy(bytes, &types[i], sizeof types[i]);
        expect_malformed(bytes, 4);
        expect_malformed(bytes, sizeof bytes);
    }
}

/* Every byte set to every value: refused, or something whose parts are all within their limits. */
static void test_every_corruption(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGE_TYPES; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        encode(i, &bytes);
        for (size_t at = 0; at < bytes.size; at++) {
            const char was = bytes.data[at];
            for (unsigned value = 0; value < 256; value += 5) {
                PJ_CLEANUP_BUFFER struct pj_buffer again = {0};
                PJ_CLEANUP_ARENA struct pj_arena arena = {0};
                struct pj_wire_message got;
                bytes.data[at] = (char)value;
                if (decode(bytes.data, bytes.size, &arena, &got, NULL) == 0) {
                    assert_int_equal(pj_wire_encode(&got, &again, NULL), 0);
                    assert_int_equal(again.size, bytes.size);
                    assert_memory_equal(again.data, bytes.data, bytes.size);
                }
            }
            bytes.data[at] = was;
        }
    }
}

static void expect_too_long(struct pj_wire_message *message, int code, const char *text)
{
    struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    expect_error(pj_wire_encode(message, &bytes, &err), &err, (enum pj_error_code)code, text);
    expect_error(pj_wire_fits(message, &err), &err, (enum pj_error_code)code, text);
}

static void test_lists_too_long(void **state)
{
    (void)state;
    struct pj_wire_message message = message_make(2);
    message.started.device_count = PJ_WIRE_DEVICES_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 3 has a list that is too long");
    message = message_make(2);
    message.started.file_count = PJ_WIRE_FILES_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 3 has a list that is too long");
    message = message_make(3);
    message.load.option_count = PJ_WIRE_OPTIONS_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 4 has a list that is too long");
    message = message_make(4);
    message.loaded.entry_count = PJ_WIRE_ENTRIES_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 5 has a list that is too long");
    message = message_make(1);
    message.start.path_count = PJ_WIRE_PATHS_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 2 has a list that is too long");
    message = message_make(2);
    message.started.arch_count = PJ_WIRE_ARCHS_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 3 has a list that is too long");
    message = message_make(3);
    message.load.part_count = PJ_WIRE_PARTS_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 4 has a list that is too long");
    for (int i = 0; i < 3; i++) {
        message = message_make(5);
        message.make.part_count += i == 0 ? PJ_WIRE_PARTS_MAX : 0;
        message.make.argument_count += i == 1 ? PJ_WIRE_ARGUMENTS_MAX : 0;
        message.make.expression_count += i == 2 ? PJ_WIRE_ARGUMENTS_MAX : 0;
        expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 6 has a list that is too long");
    }
    message = message_make(6);
    message.made.file_count = PJ_WIRE_FILES_MAX + 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED, "a message of type 7 has a list that is too long");
    message.type = (enum pj_wire_type)9;
    expect_too_long(&message, PJ_ERROR_INTERNAL, "message type 9 does not exist");
}

/* As many bytes as a message may have, and one more. */
static void test_longest(void **state)
{
    (void)state;
    enum { HEAD = 8 }; /* type and length of the text */
    static char text[PJ_WIRE_MAX_BYTES + 1];
    memset(text, 'x', PJ_WIRE_MAX_BYTES);
    struct pj_wire_message message = {.type = PJ_WIRE_HELLO, .hello = {.build_id = text + HEAD}}, got;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    assert_int_equal(pj_wire_encode(&message, &bytes, NULL), 0);
    assert_int_equal(bytes.size, PJ_WIRE_MAX_BYTES);
    assert_int_equal(pj_wire_fits(&message, NULL), 0);
    assert_int_equal(decode(bytes.data, bytes.size, &arena, &got, NULL), 0);
    message_expect_equal(&message, &got);
    message.hello.build_id = text + HEAD - 1;
    expect_too_long(&message, PJ_ERROR_UNSUPPORTED,
                    "a message of 65537 bytes is longer than the 65536 allowed");
}

/* Counts and lengths that promise more than there is, up to 4 GiB: refused without asking for the memory. */
static void test_promises(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {5, 0x7fffffff, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < PJ_COUNT(lengths); i++) {
        const uint32_t type = PJ_WIRE_HELLO;
        char bytes[12] = "--------abcd";
        memcpy(bytes, &type, sizeof type);
        memcpy(bytes + 4, &lengths[i], sizeof lengths[i]);
        expect_malformed(bytes, sizeof bytes);
    }
    const uint32_t hello[3] = {PJ_WIRE_HELLO, 4, 0x00610061}; /* a NUL inside a text */
    expect_malformed((const char *)hello, sizeof hello);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_empty),
        cmocka_unit_test(test_every_truncation), cmocka_unit_test(test_types),
        cmocka_unit_test(test_every_corruption), cmocka_unit_test(test_lists_too_long),
        cmocka_unit_test(test_longest),          cmocka_unit_test(test_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
