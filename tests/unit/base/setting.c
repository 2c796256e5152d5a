/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver reads, and what was meant. */
#include "base/setting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/memory.h"

static void test_size(void **state)
{
    static const struct {
        const char *text;
        enum pj_size_reading reading;
        uint64_t read, meant;
    } cases[] = {
        {"2147483648", PJ_SIZE_PLAIN, UINT64_C(2147483648), UINT64_C(2147483648)},
        {"256", PJ_SIZE_PLAIN, 256, 256},
        {"255", PJ_SIZE_NOTHING, 255, UINT64_C(1) << 30},
        {"", PJ_SIZE_NOTHING, 0, UINT64_C(1) << 30},
        {"unlimited", PJ_SIZE_NOTHING, 0, UINT64_C(1) << 30},
        {"2G", PJ_SIZE_NOTHING, 2, UINT64_C(2) << 30},
        {"500M", PJ_SIZE_NOTHING, 500, UINT64_C(500) << 20},
        {"512 MB", PJ_SIZE_NOTHING, 512, 512000000},
        {"4096k", PJ_SIZE_NOTHING, 4096, 4096 << 10},
        {"65536k", PJ_SIZE_ODD, 65536, 65536 << 10},
        {" 5000000", PJ_SIZE_ODD, 5000000, 5000000},
        {"5000000.5", PJ_SIZE_ODD, 5000000, 5000000},
        {"-0", PJ_SIZE_NOTHING, 0, UINT64_C(1) << 30},
        {"-1", PJ_SIZE_NO_LIMIT, UINT64_MAX, UINT64_C(1) << 32},
        {"18446744073709551616", PJ_SIZE_NO_LIMIT, UINT64_MAX, UINT64_C(1) << 32},
    };
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        struct pj_size_setting size = pj_setting_size(cases[i].text);
        if (size.reading != cases[i].reading || size.read_bytes != cases[i].read ||
            size.meant_bytes != cases[i].meant)
            fail_msg("\"%s\": reading %d, read %llu, meant %llu", cases[i].text, (int)size.reading,
                     (unsigned long long)size.read_bytes, (unsigned long long)size.meant_bytes);
    }
}

static void test_literal(void **state)
{
    static const struct {
        const char *path, *home, *meant; /* NULL: nobody can tell */
    } literal[] = {
        {"~/nv", "/home/u", "/home/u/nv"},
        {"~", "/home/u", "/home/u"},
        {"~/nv", NULL, NULL},
        {"~other/nv", "/home/u", NULL},
        {"$HOME/nv", "/home/u", "/home/u/nv"},
        {"${HOME}/nv", "/home/u", "/home/u/nv"},
        {"$HOMER/nv", "/home/u", NULL},
        {"/var/$USER/nv", "/home/u", NULL},
        {"/var/${X}", "/home/u", NULL},
        {"\"/var/nv\"", "/home/u", "/var/nv"},
        {"'~/nv'", "/home/u", "/home/u/nv"},
    };
    static const char *const plain[] = {"", "nv", "/var/nv", "/a/~b", "/a/$", "/a/$1", "a'b"};
    (void)state;
    for (size_t i = 0; i < PJ_COUNT(literal); i++) {
        PJ_CLEANUP_FREE char *meant = pj_setting_written_out(literal[i].path, literal[i].home);
        assert_true(pj_setting_is_literal(literal[i].path));
        if (!literal[i].meant) {
            assert_null(meant);
            continue;
        }
        assert_non_null(meant);
        assert_string_equal(meant, literal[i].meant);
    }
    for (size_t i = 0; i < PJ_COUNT(plain); i++)
        assert_false(pj_setting_is_literal(plain[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_literal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
