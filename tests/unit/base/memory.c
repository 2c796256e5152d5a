/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas give zeroed, aligned memory of any size; arrays grow and refuse what does not fit. */
#include "unit.h"

#include "base/memory.h"

static void test_arena_alloc(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    unsigned char *last = NULL;
    static const size_t sizes[] = {1, 0, 17, 4096, 65536, 65537, 1000000, 3, 65000, 600};
    for (size_t i = 0; i < PJ_COUNT(sizes); i++) {
        unsigned char *bytes = pj_arena_alloc(&arena, sizes[i]);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(bytes[k], 0);
        memset(bytes, 0xee, sizes[i]); /* a later one that overlaps would not be zero */
        assert_ptr_not_equal(bytes, last);
        last = sizes[i] ? bytes : NULL;
    }
    pj_arena_free(&arena);
    assert_null(arena.blocks);
    assert_non_null(pj_arena_alloc(&arena, 1)); /* usable afterwards */
}

static void test_arena_limits(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    assert_null(pj_arena_alloc(&arena, SIZE_MAX));
    assert_null(pj_arena_alloc(&arena, SIZE_MAX - 20));
    assert_null(pj_arena_calloc(&arena, SIZE_MAX / 2, 3));
    assert_null(pj_arena_calloc(&arena, 3, SIZE_MAX / 2));
    assert_null(pj_arena_strndup(&arena, "a", SIZE_MAX));
    assert_null(arena.blocks);
    uint64_t *numbers = pj_arena_calloc(&arena, 3, sizeof *numbers);
    assert_int_equal(numbers[2], 0);
}

static void test_arena_text(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    char source[] = "abc";
    char *copy = pj_arena_strdup(&arena, source);
    char *part = pj_arena_strndup(&arena, source, 2);
    source[0] = 'x';
    assert_string_equal(copy, "abc");
    assert_string_equal(part, "ab");
    assert_string_equal(pj_arena_strndup(&arena, NULL, 0), "");
    assert_string_equal(pj_arena_printf(&arena, "%s-%05d", copy, 42), "abc-00042");
}

struct item {
    int value;
    char filler[20];
};

static void test_array(void **state)
{
    (void)state;
    struct {
        struct item *items;
        size_t count, capacity;
    } array = {0};
    for (int i = 0; i < 1000; i++) {
        struct item *item = PJ_ARRAY_PUSH(&array);
        assert_non_null(item);
        assert_int_equal(item->value, 0);
        assert_int_equal(item->filler[19], 0);
        memset(item, 0xff, sizeof *item);
        item->value = i;
    }
    assert_int_equal(array.count, 1000);
    assert_int_equal(array.capacity, 1024);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array.items[i].value, i);
    free(array.items);
}

/* AddressSanitizer ends a program that asks for too much, unless it is told that the program minds. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_array_overflow(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = SIZE_MAX / 16;
    assert_false(pj_array_reserve(&items, capacity, &capacity, 64));
    assert_null(items);
    assert_int_equal(capacity, SIZE_MAX / 16);
}

static void test_steal(void **state)
{
    (void)state;
    PJ_CLEANUP_FREE char *owner = malloc(1);
    PJ_CLEANUP_FREE char *heir = NULL;
    char *address = owner;
    heir = PJ_STEAL(owner);
    assert_null(owner);
    assert_ptr_equal(heir, address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_alloc), cmocka_unit_test(test_arena_limits),
        cmocka_unit_test(test_arena_text),  cmocka_unit_test(test_array),
        cmocka_unit_test(test_steal),       cmocka_unit_test(test_array_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
