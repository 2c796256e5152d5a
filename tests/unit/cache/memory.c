/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a run fails once: it ends with "out of memory", nothing in the cache is lost, and the
 * next run completes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache/assemble.h"
#include "fixture.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **ret_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
int __real_vasprintf(char **ret_text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static long allowed = -1; /* allocations until one fails; -1 = none fails */
static bool failed;

static bool fails(void)
{
    if (allowed < 0)
        return false;
    if (allowed-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments)
{
    return fails() ? -1 : __real_vasprintf(ret_text, format, arguments);
}

int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return __wrap_vasprintf(ret_text, format, arguments);
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    int length = __wrap_vasprintf(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

enum { OURS = 3, FOREIGN = 3 };

/* A repair with an adoption, a harvest, a commit that evicts, a removal: all that allocates. */
static int run(const struct pj_store_options *options, const char *const *images, struct pj_error **err)
{
    struct pj_store *store = NULL;
    struct pj_store_preparation done;
    struct pj_commit_item items[OURS] = {{.hash = 0}};
    bool listed[OURS];
    uint64_t hashes[OURS];
    const char *path = NULL;
    long left = allowed;
    int r = pj_store_open(options, &store, err);
    if (r == 0)
        r = pj_store_prepare(store, &done, err);
    if (r == 0)
        r = pj_store_private_folder(store, 0, &path, err);
    if (r == 0) {
        left = allowed;
        allowed = -1; /* the test's own allocations do not count */
        for (size_t i = 0; i < OURS; i++) {
            items[i] = put_item(store, 0, STAMP, images[i], 400);
            hashes[i] = items[i].hash;
        }
        allowed = left;
        r = pj_store_commit(store, STAMP, items, OURS, err);
    }
    if (r == 0)
        r = pj_store_listed(store, hashes, OURS, listed, err);
    for (size_t i = 0; i < OURS && r == 0; i++)
        assert_true(listed[i]);
    for (size_t i = 0; i < OURS; i++)
        free(items[i].message);
    allowed = -1;
    pj_store_close(store, false);
    return r;
}

static void test_every_allocation(void **state)
{
    static const char *const images[OURS] = {"ours 0", "ours 1", "ours 2"};
    long count = 0;
    (void)state;
    for (failed = true; failed; count++) {
        char *cache = make_cache();
        uint64_t foreign[FOREIGN];
        struct pj_error *err = NULL;
        char dead[256];
        for (size_t i = 0; i < FOREIGN; i++) {
            char image[128];
            (void)snprintf(image, sizeof image, "foreign %zu %0100d", i, 0);
            foreign[i] = put_entry(cache, i == 2 ? OTHER_STAMP : STAMP, image, 1000);
        }
        put_index(cache, foreign, FOREIGN);
        put_index_bytes(cache, "", 0);
        (void)snprintf(dead, sizeof dead, "%s/.prejit/run-999999999-3/w0", cache);
        (void)put_entry(dead, STAMP, "of a dead run", 200);
        struct pj_store_options options = fixture_options(cache);
        options.limit_bytes = 4500; /* the stale one must go */
        failed = false;
        allowed = count;
        int r = run(&options, images, &err);
        allowed = -1;
        if (failed && r < 0) {
            assert_int_equal(r, PJ_ERROR_NO_MEMORY);
            assert_non_null(err);
            pj_error_free(err);
        } else {
            assert_int_equal(r, 0);
        }
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(entry_state(cache, foreign[i]), PJ_ENTRY_SOUND);
        err = NULL;
        if (run(&options, images, &err) < 0)
            fail_msg("after allocation %ld: %s", count, pj_error_message(err));
        expect_no_rubbish(cache);
        struct pj_snapshot snapshot;
        assert_int_equal(pj_snapshot_take(cache, &snapshot, NULL), 0);
        assert_int_equal(snapshot.index_state, PJ_INDEX_VALID);
        assert_null(pj_snapshot_find(&snapshot, foreign[2]));
        pj_snapshot_free(&snapshot);
        remove_cache(cache);
    }
    assert_true(count > 40);
}

static void test_assembling(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer file = {.data = NULL};
    struct pj_error *err = NULL;
    uint64_t hash = 7;
    allowed = 0;
    assert_int_equal(pj_entry_assemble(STAMP, 90, "ptx", 3, "", "cubin", 5, &file, &hash, &err),
                     PJ_ERROR_NO_MEMORY);
    allowed = -1;
    assert_int_equal(pj_error_code(err), PJ_ERROR_NO_MEMORY);
    pj_error_free(err);
    assert_int_equal(hash, 7);
    assert_int_equal(file.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation),
                                       cmocka_unit_test(test_assembling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
