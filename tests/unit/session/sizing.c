/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers a run is worth. */
#include "unit.h"

#include "base/memory.h"
#include "session/engine/sizing.h"

#define GIB (UINT64_C(1) << 30)

static void test_cases(void **state)
{
    static const struct {
        size_t workers;
        struct pj_sizing sizing;
    } cases[] = {
        {1, {.jobs = 0, .cores = 16}},
        {1, {.jobs = 1, .image_bytes = 50 << 20, .cores = 16}},
        {2, {.jobs = 2, .image_bytes = 50 << 20, .cores = 16}},
        {1, {.jobs = 4, .image_bytes = 4000, .cores = 16}}, /* two would cost more than they save */
        {4, {.jobs = 100, .image_bytes = 20000, .cores = 16}},
        {8, {.jobs = 1000, .image_bytes = 100 << 20, .cores = 8}},
        {1, {.jobs = 1000, .image_bytes = 100 << 20, .cores = 0}},
        {57, {.jobs = 1000, .image_bytes = 100 << 20, .cores = 256}}, /* the start-up of more eats it up */
        {256, {.jobs = 100000, .image_bytes = 100 * GIB, .cores = 4096}},
        /* Memory: about 150 MiB a worker. */
        {6, {.jobs = 1000, .image_bytes = 100 << 20, .cores = 16, .memory_bytes = GIB}},
        {1, {.jobs = 1000, .image_bytes = 100 << 20, .cores = 16, .memory_bytes = 1}},
        /* -j is obeyed, but not beyond the jobs and the memory. */
        {16, {.jobs = 100, .image_bytes = 1, .cores = 2, .requested = 16}},
        {3, {.jobs = 3, .image_bytes = 1, .cores = 2, .requested = 16}},
        {6, {.jobs = 100, .image_bytes = 1, .cores = 2, .memory_bytes = GIB, .requested = 16}},
        {256, {.jobs = 100000, .image_bytes = 1, .cores = 2, .requested = 4000000000}},
        {1, {.jobs = 100, .image_bytes = 100 << 20, .cores = 16, .requested = 1}},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        size_t found = pj_worker_count(&cases[i].sizing);
        if (found != cases[i].workers)
            fail_msg("case %zu: %zu", i, found);
    }
}

/* Never none, never more than there is work or cores for. */
static void test_bounds(void **state)
{
    (void)state;
    for (size_t jobs = 0; jobs < 40; jobs++) {
        for (size_t cores = 0; cores < 40; cores += 3) {
            const struct pj_sizing sizing = {.jobs = jobs, .image_bytes = jobs * 200000, .cores = cores};
            size_t workers = pj_worker_count(&sizing);
            assert_true(workers >= 1);
            assert_true(workers <= (jobs ? jobs : 1));
            assert_true(workers <= (cores ? cores : 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
