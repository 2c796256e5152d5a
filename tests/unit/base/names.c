/* SPDX-License-Identifier: Apache-2.0 */
/* A set of names finds what was added, and nothing else. */
#include "unit.h"

#include "base/memory.h"
#include "base/names.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const added[] = {"saxpy", "axpb", "saxpy", "", "saxp", "z"};
    static const char *const others[] = {"s", "saxpyy", "a", "zz", "Z"};
    PJ_CLEANUP_NAMES struct pj_names names = {0};
    pj_names_sort(&names);
    assert_false(pj_names_have(&names, ""));
    for (size_t i = 0; i < PJ_COUNT(added); i++)
        assert_true(pj_names_add(&names, added[i]));
    pj_names_sort(&names);
    for (size_t i = 0; i < PJ_COUNT(added); i++)
        assert_true(pj_names_have(&names, added[i]));
    for (size_t i = 0; i < PJ_COUNT(others); i++)
        assert_false(pj_names_have(&names, others[i]));
    pj_names_free(&names);
    assert_false(pj_names_have(&names, "saxpy"));
    assert_true(pj_names_add(&names, "again"));
    pj_names_sort(&names);
    assert_true(pj_names_have(&names, "again"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
