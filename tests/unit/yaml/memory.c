/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: each time the answer is "out of memory", and nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "yaml/yaml.h"

#include "../support/failing_memory.h"

static void sweep(const char *text, int without_failure)
{
    int r = PJ_ERROR_NO_MEMORY;
    size_t failures = 0;
    for (size_t n = 1; r == PJ_ERROR_NO_MEMORY; n++, failures++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_yaml_node *root = NULL;
        failing_memory_start(n);
        r = pj_yaml_parse(text, strlen(text), "f", &arena, &arena, &root, &err);
        bool failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : without_failure);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
    assert_true(failures > 10); /* libyaml alone allocates more */
}

static void allocations_fail_cleanly(void **state)
{
    (void)state;
    sweep("a: [b, 'c', {d: e}]\nf: |\n  g\n", 0);
    sweep("a: 1\na: 2\n", PJ_ERROR_FORMAT);
    sweep("a: *x\n", PJ_ERROR_FORMAT);
    sweep("a: !x\n", PJ_ERROR_FORMAT);
    sweep("a: [b\n", PJ_ERROR_FORMAT);
    sweep("a: \"\\q\"\n", PJ_ERROR_FORMAT);
    sweep("a: \xff\n", PJ_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail_cleanly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
