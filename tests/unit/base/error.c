/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: codes and names are pinned, context is added on the way up. */
#include "unit.h"

#include <errno.h>

static void test_codes_are_pinned(void **state)
{
    static const struct {
        enum pj_error_code code;
        int value;
        const char *name;
    } codes[] = {
        {PJ_OK, 0, "ok"},
        {PJ_ERROR_USAGE, -1, "usage"},
        {PJ_ERROR_MANIFEST, -2, "manifest"},
        {PJ_ERROR_ENVIRONMENT, -3, "environment"},
        {PJ_ERROR_IO, -4, "io"},
        {PJ_ERROR_NO_MEMORY, -5, "no-memory"},
        {PJ_ERROR_FORMAT, -6, "format"},
        {PJ_ERROR_CUDA, -7, "cuda"},
        {PJ_ERROR_WORKER, -8, "worker"},
        {PJ_ERROR_BUSY, -9, "busy"},
        {PJ_ERROR_INTERRUPTED, -10, "interrupted"},
        {PJ_ERROR_UNSUPPORTED, -11, "unsupported"},
        {PJ_ERROR_INTERNAL, -12, "internal"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(codes[i].code, codes[i].value);
        assert_string_equal(pj_error_code_name(codes[i].code), codes[i].name);
    }
    assert_string_equal(pj_error_code_name((enum pj_error_code) - 13), "unknown");
    assert_string_equal(pj_error_code_name((enum pj_error_code)1), "unknown");
}

static void test_set(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_error_set(&err, PJ_ERROR_USAGE, "%s has %d", "x", 3), PJ_ERROR_USAGE);
    assert_int_equal(err->errnum, 0);
    expect_error(PJ_ERROR_USAGE, &err, PJ_ERROR_USAGE, "x has 3");
    assert_null(err);
    assert_int_equal(pj_error_set(NULL, PJ_ERROR_BUSY, "%s", "nobody asks"), PJ_ERROR_BUSY);
}

static void test_errno(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_error_errno(&err, PJ_ERROR_IO, ENOENT, "cannot open %s", "a"), PJ_ERROR_IO);
    assert_int_equal(err->errnum, ENOENT);
    assert_string_equal(pj_error_message(err), "cannot open a: No such file or directory");
    assert_int_equal(pj_error_errno(NULL, PJ_ERROR_IO, ENOENT, "cannot open %s", "a"), PJ_ERROR_IO);
}

static void test_wrap(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    int r = pj_error_errno(&err, PJ_ERROR_IO, EACCES, "cannot open b");
    r = pj_error_wrap(&err, r, "reading %s", "a");
    r = pj_error_wrap(&err, r, "warming");
    assert_int_equal(r, PJ_ERROR_IO);
    assert_int_equal(err->errnum, EACCES);
    assert_string_equal(err->message, "warming: reading a: cannot open b: Permission denied");
    /* Where nobody wants the text, the code goes up all the same. */
    struct pj_error *none = NULL;
    assert_int_equal(pj_error_wrap(NULL, PJ_ERROR_CUDA, "x"), PJ_ERROR_CUDA);
    assert_int_equal(pj_error_wrap(&none, PJ_ERROR_CUDA, "x"), PJ_ERROR_CUDA);
    assert_null(none);
}

static void test_no_memory(void **state)
{
    (void)state;
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    assert_int_equal(pj_error_no_memory(&err), PJ_ERROR_NO_MEMORY);
    assert_int_equal(pj_error_no_memory(NULL), PJ_ERROR_NO_MEMORY);
    /* It is one static object: context is not added, and freeing it twice does no harm. */
    assert_int_equal(pj_error_wrap(&err, PJ_ERROR_IO, "reading"), PJ_ERROR_NO_MEMORY);
    assert_string_equal(pj_error_message(err), "out of memory");
    assert_int_equal(pj_error_code(err), PJ_ERROR_NO_MEMORY);
    pj_error_free(err);
    pj_error_free(err);
}

static void test_none(void **state)
{
    (void)state;
    struct pj_error *err = NULL;
    assert_int_equal(pj_error_code(NULL), PJ_OK);
    assert_string_equal(pj_error_message(NULL), "unknown error");
    pj_error_free(NULL);
    pj_error_clear(&err);
    assert_null(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_pinned),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
