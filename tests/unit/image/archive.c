/* SPDX-License-Identifier: Apache-2.0 */
/* ar archives: GNU's and BSD's names, tables, odd sizes, cut and damaged ones. */
#include "data.h"

#include "image/archive.h"

/* The header of a member. */
static void put(struct pj_buffer *bytes, const char *name, size_t size, const char *content)
{
    pj_buffer_printf(bytes, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", size);
    pj_buffer_append(bytes, content, size);
    if (size % 2 != 0)
        pj_buffer_putc(bytes, '\n');
}

static void check_next(struct pj_archive *archive, const char *name, const char *content)
{
    struct pj_member member;
    assert_int_equal(pj_archive_next(archive, &member, NULL), 1);
    assert_int_equal(member.name_size, strlen(name));
    assert_memory_equal(member.name, name, member.name_size);
    assert_int_equal(member.size, strlen(content));
    assert_memory_equal(archive->bytes + member.offset, content, member.size);
}

static void test_names(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct pj_archive archive;
    struct pj_member member;
    pj_buffer_puts(&bytes, "!<arch>\n");
    put(&bytes, "/", 4, "symb");
    put(&bytes, "/SYM64/", 3, "sym");
    put(&bytes, "//", 45, "a_name_longer_than_fifteen.o/\nanother_one.o/\n");
    put(&bytes, "short.o/", 3, "abc");
    put(&bytes, "/0", 2, "de");
    put(&bytes, "/30", 0, "");
    put(&bytes, "bsd.o", 1, "f");
    put(&bytes, "#1/12", 17, "bsd long.o\0\0bytes");
    put(&bytes, "__.SYMDEF", 1, "x");
    put(&bytes, "before/", 2, "//");
    put(&bytes, "", 4, "none");
    put(&bytes, "last.o/", 5, "odd!!");
    bytes.size--; /* some write no padding behind the last */
    char *memory = data_odd_copy(bytes.data, bytes.size);
    assert_int_equal(pj_archive_start(memory + 1, bytes.size, &archive, NULL), 0);
    check_next(&archive, "short.o", "abc");
    check_next(&archive, "a_name_longer_than_fifteen.o", "de");
    check_next(&archive, "another_one.o", "");
    check_next(&archive, "bsd.o", "f");
    check_next(&archive, "bsd long.o", "bytes");
    check_next(&archive, "before", "//");
    check_next(&archive, "", "none");
    check_next(&archive, "last.o", "odd!!");
    assert_int_equal(pj_archive_next(&archive, &member, NULL), 0);
    assert_int_equal(pj_archive_next(&archive, &member, NULL), 0);
    free(memory);
}

static void test_real(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    struct pj_archive archive;
    struct pj_member member;
    data_read("link/host_and_rdc.a", &bytes);
    assert_int_equal(pj_archive_start(bytes.data, bytes.size, &archive, NULL), 0);
    assert_int_equal(pj_archive_next(&archive, &member, NULL), 1);
    assert_int_equal(member.name_size, 6);
    assert_memory_equal(member.name, "host.o", 6);
    assert_int_equal(member.size, 840);
    assert_int_equal(pj_archive_next(&archive, &member, NULL), 1);
    assert_memory_equal(member.name, "rdc.o", 5);
    assert_int_equal(member.size, 8448);
    assert_int_equal(member.offset + member.size, bytes.size);
    assert_int_equal(pj_archive_next(&archive, &member, NULL), 0);
}

static void test_start(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *message;
    } rows[] = {
        {"!<thin>\n",
         "a thin ar archive holds the names of its members and not their bytes: make a whole one "
         "(ar rcs, without T)"},
        {"!<arch>", "no ar archive: it does not start with !<arch>"},
        {"", "no ar archive: it does not start with !<arch>"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_archive archive;
        assert_int_equal(pj_archive_start(rows[i].bytes, strlen(rows[i].bytes), &archive, &error),
                         PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
    }
}

static void test_damage(void **state)
{
    (void)state;
    static const struct {
        const char *name, *change; /* `change` at `at` of the member's header */
        size_t at, cut;
        const char *message;
    } rows[] = {
        {"a.o/", "", 0, 5, "cut ar archive: the member at byte 8 has 4 bytes, and 3 follow its header"},
        {"a.o/", "", 0, 55, "cut ar archive: 13 bytes at byte 8, where a member has a header of 60"},
        {"a.o/", "x", 58, 0, "damaged ar archive: no member's header at byte 8"},
        {"a.o/", "-", 48, 0, "damaged ar archive: no member's header at byte 8"},
        {"a.o/", "4x", 48, 0, "damaged ar archive: no member's header at byte 8"},
        {"a.o/", "  ", 48, 0, "damaged ar archive: no member's header at byte 8"},
        {"a.o/", "9999999999", 48, 0,
         "cut ar archive: the member at byte 8 has 9999999999 bytes, and 8 follow its header"},
        {"/0", "", 0, 0, "damaged ar archive: the name of the member at byte 8 is nowhere"},
        {"/0x", "", 0, 0, "damaged ar archive: the name of the member at byte 8 is nowhere"},
        {"#1/5", "", 0, 0, "damaged ar archive: the name of the member at byte 8 is nowhere"},
        {"#1/", "", 0, 0, "damaged ar archive: the name of the member at byte 8 is nowhere"},
    };
    for (size_t i = 0; i < PJ_COUNT(rows); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_archive archive;
        struct pj_member member = {.size = 7};
        pj_buffer_puts(&bytes, "!<arch>\n");
        put(&bytes, rows[i].name, 4, "abcd");
        pj_buffer_puts(&bytes, "more");
        memcpy(bytes.data + 8 + rows[i].at, rows[i].change, strlen(rows[i].change));
        char *memory = data_odd_copy(bytes.data, bytes.size - rows[i].cut);
        assert_int_equal(pj_archive_start(memory + 1, bytes.size - rows[i].cut, &archive, NULL), 0);
        assert_int_equal(pj_archive_next(&archive, &member, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error), rows[i].message);
        assert_int_equal(member.size, 7);
        free(memory);
    }
}

/* A number that is behind the table, and a name that no line end closes. */
static void test_long_name_damage(void **state)
{
    (void)state;
    static const char *const names[] = {"/5", "/3", "/999999999999999"};
    for (size_t i = 0; i < PJ_COUNT(names); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
        PJ_CLEANUP_ERROR struct pj_error *error = NULL;
        struct pj_archive archive;
        struct pj_member member;
        pj_buffer_puts(&bytes, "!<arch>\n");
        put(&bytes, "//", 5, "a/\nbc");
        put(&bytes, names[i], 0, "");
        assert_int_equal(pj_archive_start(bytes.data, bytes.size, &archive, NULL), 0);
        assert_int_equal(pj_archive_next(&archive, &member, &error), PJ_ERROR_FORMAT);
        assert_string_equal(pj_error_message(error),
                            "damaged ar archive: the name of the member at byte 74 is nowhere");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_long_name_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
