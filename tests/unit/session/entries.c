/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a private cache are a job's: the predicted ones, and those that only its own load can have
 * made. */
#include "folder.h"

#include "cache/format.h"
#include "session/engine/compile_private.h"

enum { MOST = 4 };

static const uint64_t A = UINT64_C(0xa000000000000001), B = UINT64_C(0xb000000000000002),
                      C = UINT64_C(0xc000000000000003), D = UINT64_C(0xd000000000000004);

/* Lists end with 0. */
struct entries_case {
    const char *name;
    bool link, has_names, in_place;
    uint64_t predicted[MOST], stored_before[MOST], fresh[MOST];
    bool complete, is_fresh;
    uint64_t expected[MOST];
};

static size_t length(const uint64_t *hashes)
{
    size_t count = 0;
    while (count < MOST && hashes[count])
        count++;
    return count;
}

static void store(const struct folder *folder, uint64_t hash)
{
    char path[PJ_ENTRY_PATH_TEXT];
    folder_write(folder, pj_entry_path(hash, path), "more than the header of an entry has");
}

static void check(const struct entries_case *one)
{
    CLEANUP_FOLDER struct folder folder;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    folder_make(&folder);
    struct pj_wire_entry fresh[MOST];
    struct pj_wire_loaded loaded = {.entry_count = (uint32_t)length(one->fresh), .entries = fresh};
    for (size_t i = 0; i < loaded.entry_count; i++) {
        char path[PJ_ENTRY_PATH_TEXT];
        store(&folder, one->fresh[i]);
        fresh[i] = (struct pj_wire_entry){pj_arena_strdup(&arena, pj_entry_path(one->fresh[i], path)), 36};
    }
    for (size_t i = 0; i < length(one->stored_before); i++)
        store(&folder, one->stored_before[i]);
    const struct pj_job job = {.link = one->link,
                               .has_names = one->has_names,
                               .entries = one->predicted,
                               .entry_count = length(one->predicted)};
    const struct pj_compile compile = {.in_place = one->in_place};
    const struct pj_compile_seat seat = {.folder_path = folder.path};
    struct pj_compile_entries found = {.hashes = NULL};
    assert_int_equal(pj_compile_find_entries(&compile, &seat, &job, &loaded, &found, NULL), 0);
    bool right = found.complete == one->complete && (found.fresh == one->is_fresh || !found.complete) &&
                 found.count == length(one->expected);
    for (size_t i = 0; right && i < found.count; i++)
        right = found.hashes[i] == one->expected[i];
    if (!right)
        fail_msg("%s: complete %d, fresh %d, %zu entries", one->name, found.complete, found.fresh,
                 found.count);
    free(found.hashes);
}

static void test_loads(void **state)
{
    const struct entries_case cases[] = {
        {.name = "the stamp is not known", .fresh = {A}, .complete = true, .is_fresh = true, .expected = {A}},
        {.name = "nothing", .complete = false},
        {.name = "predicted",
         .has_names = true,
         .predicted = {A},
         .fresh = {A},
         .complete = true,
         .is_fresh = true,
         .expected = {A}},
        {.name = "among others",
         .has_names = true,
         .predicted = {A},
         .fresh = {B, A},
         .complete = true,
         .is_fresh = true,
         .expected = {A}},
        {.name = "by an earlier try",
         .has_names = true,
         .predicted = {A},
         .stored_before = {A},
         .complete = true,
         .expected = {A}},
        {.name = "the only one, whatever was predicted",
         .has_names = true,
         .predicted = {A},
         .fresh = {B},
         .complete = true,
         .is_fresh = true,
         .expected = {B}},
        {.name = "two others", .has_names = true, .predicted = {A}, .fresh = {B, C}},
        {.name = "two, and no name is known", .fresh = {B, C}},
        {.name = "in the cache itself",
         .has_names = true,
         .in_place = true,
         .predicted = {A},
         .stored_before = {A}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++)
        check(&cases[i]);
}

static void test_links(void **state)
{
    const struct entries_case cases[] = {
        {.name = "all are new",
         .has_names = true,
         .predicted = {A, B},
         .fresh = {B, A},
         .complete = true,
         .is_fresh = true,
         .expected = {A, B}},
        {.name = "one was another link's",
         .has_names = true,
         .predicted = {A, B},
         .stored_before = {A},
         .fresh = {B},
         .complete = true,
         .expected = {A, B}},
        {.name = "one is missing", .has_names = true, .predicted = {A, B}, .fresh = {A}},
        {.name = "others, as many as were predicted",
         .has_names = true,
         .predicted = {A, B},
         .fresh = {C, D},
         .complete = true,
         .is_fresh = true,
         .expected = {C, D}},
        {.name = "no name is known",
         .fresh = {A, B, C},
         .complete = true,
         .is_fresh = true,
         .expected = {A, B, C}},
        {.name = "nothing at all", .complete = false},
        {.name = "some are predicted",
         .predicted = {B},
         .fresh = {A, B, C},
         .complete = true,
         .is_fresh = true,
         .expected = {B, A, C}},
        {.name = "some are predicted, and were another link's",
         .predicted = {B},
         .stored_before = {B},
         .fresh = {A},
         .complete = true,
         .expected = {B, A}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct entries_case one = cases[i];
        one.link = true;
        check(&one);
    }
}

/* A worker's word is no reason to take anything else for an entry. */
static void test_odd_paths(void **state)
{
    (void)state;
    struct pj_wire_entry fresh[] = {{"../../etc/passwd", 1}, {"index", 16}};
    const struct pj_wire_loaded loaded = {.entry_count = PJ_COUNT(fresh), .entries = fresh};
    const struct pj_job job = {.link = true};
    const struct pj_compile compile = {.in_place = false};
    const struct pj_compile_seat seat = {.folder_path = "/nonexistent"};
    struct pj_compile_entries found;
    assert_int_equal(pj_compile_find_entries(&compile, &seat, &job, &loaded, &found, NULL), 0);
    assert_false(found.complete);
    assert_int_equal(found.count, 0);
    free(found.hashes);
}

static void test_may_store_nothing(void **state)
{
    (void)state;
    static const uint64_t predicted[] = {1};
    struct pj_plan_image fatbin = {.contents = {.kind = PJ_INPUT_FATBIN}};
    struct pj_plan_image ptx = {.contents = {.kind = PJ_INPUT_PTX}};
    const struct pj_plan_image *images[] = {&fatbin, &ptx};
    struct pj_job job = {.link = true, .images = images, .image_count = 1};
    assert_true(pj_compile_may_store_nothing(&job));
    job.image_count = 2;
    assert_false(pj_compile_may_store_nothing(&job));
    job.image_count = 1;
    job.entries = predicted;
    job.entry_count = 1;
    assert_false(pj_compile_may_store_nothing(&job));
    job.entry_count = 0;
    job.link = false;
    assert_false(pj_compile_may_store_nothing(&job));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_odd_paths),
        cmocka_unit_test(test_may_store_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
