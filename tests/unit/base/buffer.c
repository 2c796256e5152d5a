/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers grow, stay terminated, and keep a failure until it is asked for. */
#include "unit.h"

#include "base/buffer.h"

static void test_append(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    assert_string_equal(pj_buffer_text(&buffer), "");
    pj_buffer_puts(&buffer, "a=");
    pj_buffer_printf(&buffer, "%d%s", 12, "");
    pj_buffer_putc(&buffer, ';');
    pj_buffer_append(&buffer, "\0b", 2);
    pj_buffer_append(&buffer, NULL, 0);
    assert_int_equal(buffer.size, 7);
    assert_memory_equal(buffer.data, "a=12;\0b", 8);
    assert_int_equal(pj_buffer_check(&buffer, NULL), 0);
}

static void test_growth(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    for (unsigned i = 0; i < 100000; i++)
        pj_buffer_putc(&buffer, (char)('a' + i % 26));
    assert_int_equal(buffer.size, 100000);
    assert_true(buffer.capacity > buffer.size);
    for (size_t i = 0; i < buffer.size; i++)
        assert_int_equal(buffer.data[i], 'a' + (int)(i % 26));
    assert_int_equal(buffer.data[buffer.size], '\0');
}

static void test_reserve_and_commit(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_buffer_puts(&buffer, "x");
    char *room = pj_buffer_reserve(&buffer, 1000);
    assert_non_null(room);
    assert_ptr_equal(room, buffer.data + 1);
    assert_int_equal(buffer.size, 1);
    memcpy(room, "yz", 2);
    pj_buffer_commit(&buffer, 2);
    assert_string_equal(pj_buffer_text(&buffer), "xyz");
}

static void test_too_much_sticks(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_buffer_puts(&buffer, "kept");
    assert_null(pj_buffer_reserve(&buffer, SIZE_MAX - 4)); /* no room for the NUL */
    pj_buffer_puts(&buffer, "dropped");
    pj_buffer_printf(&buffer, "%s", "dropped");
    assert_null(pj_buffer_reserve(&buffer, 1));
    assert_string_equal(pj_buffer_text(&buffer), "kept");
    expect_error(pj_buffer_check(&buffer, &err), &err, PJ_ERROR_NO_MEMORY, "out of memory");
    pj_buffer_reset(&buffer);
    assert_int_equal(pj_buffer_check(&buffer, NULL), 0);
    assert_null(pj_buffer_reserve(&buffer, SIZE_MAX)); /* the sum itself overflows, or its NUL does */
    assert_true(buffer.failed);
}

static void test_reset_keeps_memory(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_buffer_puts(&buffer, "long ago");
    const char *memory = buffer.data;
    pj_buffer_reset(&buffer);
    assert_int_equal(buffer.size, 0);
    assert_string_equal(pj_buffer_text(&buffer), "");
    pj_buffer_puts(&buffer, "now");
    assert_ptr_equal(buffer.data, memory);
    assert_string_equal(pj_buffer_text(&buffer), "now");
    pj_buffer_free(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.capacity, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_reserve_and_commit),
        cmocka_unit_test(test_too_much_sticks),
        cmocka_unit_test(test_reset_keeps_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
