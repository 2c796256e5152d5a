/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a source ask when it is compiled. */
#include "session/prepare/clock_macros.h"

#include "runs.h"

static void test_find(void **state)
{
    static const struct {
        const char *bytes;
        size_t size; /* 0 = of the text */
        bool time, date;
    } rows[] = {
        {"", 0, false, false},
        {"int TIME, __TIME, _DATE__;\n", 0, false, false},
        {"const char *t = __TIME__;", 0, true, false},
        {"// __TIMESTAMP__\n", 0, true, false},
        {"__DATE__", 0, false, true},
        {"a\0__DATE__ __TIME__", 19, true, true}, /* behind a NUL as well */
    };
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, "a.h");
    PJ_CLEANUP_FREE char *gone = pj_path_join(folder.path, "gone.h");
    const struct pj_plan_file files[] = {{.path = gone}, {.path = path, .absent = true}, {.path = path}};
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        const char *time = "", *date = "";
        size_t size = rows[i].size ? rows[i].size : strlen(rows[i].bytes);
        folder_write_bytes(&folder, "a.h", rows[i].bytes, size);
        expect_success(pj_clock_macros_find(files, 3, &time, &date, &err), &err);
        assert_ptr_equal(time, rows[i].time ? path : NULL);
        assert_ptr_equal(date, rows[i].date ? path : NULL);
        expect_success(pj_clock_macros_find(files, 2, &time, &date, &err), &err); /* what cannot be read */
        assert_null(time);
        assert_null(date);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
