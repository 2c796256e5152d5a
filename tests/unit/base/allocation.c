/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of base fails once: the answer is "out of memory", nothing leaks, no output is set. */
#include "folder.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/way.h"

#include "failing_memory.h"

typedef int attempt(const struct folder *folder, struct pj_error **err);

static int try_read(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(folder->path, "a");
    return path ? pj_file_read(AT_FDCWD, path, 100, &bytes, err) : pj_error_no_memory(err);
}

static int try_read_special(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    (void)folder;
    return pj_file_read_special(AT_FDCWD, "/proc/self/status", 1 << 20, &bytes, err);
}

static int try_replace(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_CLOSE int at = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return pj_file_replace(at, "a", "b", 1, 0644, err);
}

static int try_create(const struct folder *folder, struct pj_error **err)
{
    return pj_directory_create(folder->path, 0755, err);
}

/* Nobody's folder may be taken for root's because memory was out. */
static int try_way(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    (void)folder;
    int r = pj_way_walk("", "/tmp", PJ_WAY_TO_PARENT, &way, err);
    assert_int_equal(way.fd >= 0, r == 0);
    assert_int_equal(way.exists, r == 0);
    return r;
}

static int try_missing_way(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_WAY struct pj_way way = PJ_WAY_NONE;
    (void)folder;
    int r = pj_way_walk("", "/none/none", PJ_WAY_TO_CACHE, &way, err);
    assert_int_equal(way.fd >= 0, r == 0);
    return r;
}

static int try_absolute(const struct folder *folder, struct pj_error **err)
{
    char *path = NULL;
    (void)folder;
    int r = pj_path_absolute("/a", &path, err);
    assert_int_equal(path != NULL, r == 0);
    free(path);
    return r;
}

static int try_buffer(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    (void)folder;
    for (int i = 0; i < 200; i++)
        pj_buffer_printf(&buffer, "%d\n", i);
    pj_text_escape(&buffer, "\xff\n", 2);
    return pj_buffer_check(&buffer, err);
}

static int try_arena(const struct folder *folder, struct pj_error **err)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    (void)folder;
    bool made = pj_arena_alloc(&arena, 100) && pj_arena_calloc(&arena, 1000, 1000) &&
                pj_arena_strdup(&arena, "a") && pj_arena_printf(&arena, "%s", "b");
    return made ? 0 : pj_error_no_memory(err);
}

static int try_array(const struct folder *folder, struct pj_error **err)
{
    struct {
        int *items;
        size_t count, capacity;
    } array = {0};
    bool made = true;
    (void)folder;
    for (int i = 0; i < 100 && made; i++)
        made = PJ_ARRAY_PUSH(&array) != NULL;
    free(array.items);
    return made ? 0 : pj_error_no_memory(err);
}

static void sweep(attempt *what, size_t expected)
{
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a", "text");
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed; n++, failures += failed) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        failing_memory_start(n);
        int r = what(&folder, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
        assert_string_equal(failed ? pj_error_message(err) : "", failed ? "out of memory" : "");
    }
    assert_int_equal(failures, expected);
}

static void test_everything_fails_cleanly(void **state)
{
    (void)state;
    sweep(try_read, 2);
    sweep(try_read_special, 1);
    sweep(try_replace, 1);
    sweep(try_create, 1);
    sweep(try_way, 3);
    sweep(try_missing_way, 4);
    sweep(try_absolute, 2);
    sweep(try_buffer, 205);
    sweep(try_arena, 4);
    sweep(try_array, 5);
}

/* An error that cannot be made is still an error, of the one kind that needs no memory. */
static void test_errors_without_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        failing_memory_start(n);
        int r = pj_error_errno(&err, PJ_ERROR_IO, 2, "opening");
        bool failed = failing_memory_stop();
        assert_int_equal(failed, n <= 3);
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : PJ_ERROR_IO);
        assert_string_equal(pj_error_message(err),
                            failed ? "out of memory" : "opening: No such file or directory");
    }
    for (size_t n = 1; n <= 3; n++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        failing_memory_start(n);
        int r = pj_error_set(&err, PJ_ERROR_FORMAT, "odd");
        assert_int_equal(r, failing_memory_stop() ? PJ_ERROR_NO_MEMORY : PJ_ERROR_FORMAT);
        assert_int_equal(pj_error_code(err), r);
    }
}

/* Context that cannot be added is left out; the error itself stays. */
static void test_wrap_without_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        (void)pj_error_set(&err, PJ_ERROR_FORMAT, "odd");
        failing_memory_start(n);
        assert_int_equal(pj_error_wrap(&err, PJ_ERROR_FORMAT, "reading %s", "a"), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(err), failing_memory_stop() ? "odd" : "reading a: odd");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_fails_cleanly),
        cmocka_unit_test(test_errors_without_memory),
        cmocka_unit_test(test_wrap_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
