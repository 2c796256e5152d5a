/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted of a job's file, and when its inode's time may be believed. */
#include "unit.h"

#include <sys/stat.h>

#include "base/memory.h"

#include "session/receipt/input.h"

#define SECOND INT64_C(1000000000)

static void test_what_may_change_unseen(void **state)
{
    static const struct {
        const char *name;
        struct timespec changed;
        bool settled;
    } cases[] = {
        {"long before", {500, 1}, true},
        {"a tenth of a second before", {999, 900000000}, true},
        {"just before", {999, 900000001}, false},
        {"long before, in whole seconds: a read-only image, whose files may all have one time",
         {500, 0},
         false},
        {"later", {1001, 5}, false},
        {"before 1970", {-1, 5}, true},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        const struct pj_session session = {.begin_time = {1000, 0}};
        const struct pj_plan_file file = {
            .path = "a.ptx",
            .sha256 = {{7}},
            .named = true,
            .status = {
                .st_dev = 3, .st_ino = 42, .st_size = 9, .st_mtim.tv_sec = 77, .st_ctim = cases[i].changed}};
        struct pj_receipt_input input = pj_receipt_input_of(&session, &file);
        if ((input.file.inode == 42) != cases[i].settled)
            fail_msg("%s: inode %llu", cases[i].name, (unsigned long long)input.file.inode);
        assert_true(input.ctime_ns == cases[i].changed.tv_sec * SECOND + cases[i].changed.tv_nsec);
        struct pj_plan_file again = pj_receipt_input_file(&input);
        assert_string_equal(again.path, "a.ptx");
        assert_memory_equal(&again.sha256, &file.sha256, sizeof file.sha256);
        assert_true(again.named && !again.absent);
        assert_int_equal(again.status.st_dev, 3);
        assert_int_equal(again.status.st_size, 9);
        assert_int_equal(again.status.st_mtim.tv_sec, 77);
        assert_int_equal(again.status.st_ctim.tv_sec, cases[i].changed.tv_sec);
        assert_int_equal(again.status.st_ctim.tv_nsec, cases[i].changed.tv_nsec);
    }
}

static void test_a_time_that_no_clock_shows(void **state)
{
    (void)state;
    const struct pj_session session = {.begin_time = {1000, 0}};
    const struct pj_plan_file file = {.path = "a.ptx", .status = {.st_ino = 42, .st_ctim = {INT64_MAX, 7}}};
    const struct pj_receipt_input input = pj_receipt_input_of(&session, &file);
    assert_true(input.ctime_ns == 0);
    assert_true(input.file.inode == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_may_change_unseen),
        cmocka_unit_test(test_a_time_that_no_clock_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
