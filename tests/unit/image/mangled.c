/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel a name of C++ stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "image/mangled.h"

static void test_find(void **state)
{
    (void)state;
    static const char *const names[] = {
        "plain", "_Z6saxpy2ifPfS_", "_Z5saxpyifPfS_",  "_ZN4math4cubeEPf", "_ZL6hiddenPf", "_Z4fillIfEvPT_i",
        "_Z",    "_ZN1a1b1cEv",     "_Z4deepN4math1vE"};
    static const struct {
        const char *wanted, *found;
    } rows[] = {
        {"saxpy", "_Z5saxpyifPfS_"},
        {"saxpy(int, float, float*, float*)", "_Z5saxpyifPfS_"},
        {"saxpy2", "_Z6saxpy2ifPfS_"},
        {"math::cube", "_ZN4math4cubeEPf"},
        {"math::cube(float *)", "_ZN4math4cubeEPf"},
        {"hidden", "_ZL6hiddenPf"},
        {"fill<float>", "_Z4fillIfEvPT_i"},
        {"fill", "_Z4fillIfEvPT_i"},
        {"a::b::c", "_ZN1a1b1cEv"},
        {"a::b", NULL}, /* a namespace */
        {"cube", NULL}, /* of another one */
        {"deep", "_Z4deepN4math1vE"},
        {"sax", NULL},
        {"plain", NULL}, /* as it is */
        {"", NULL},
        {"(", NULL},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        const char *found = pj_mangled_find(names, PJ_COUNT(names), rows[i].wanted);
        if (found && rows[i].found)
            assert_string_equal(found, rows[i].found);
        else if (found || rows[i].found)
            fail_msg("%s: %s", rows[i].wanted, found ? found : "none");
    }
    assert_null(pj_mangled_find(NULL, 0, "saxpy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
