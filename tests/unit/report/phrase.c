/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting, quoting and measuring of text that comes from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "report/phrase.h"

static void words_are_quoted_only_where_needed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *quoted;
    } cases[] = {
        {"m.yaml", "m.yaml"},
        {"/a/b-c_d/e:f=g@h%i+j,k", "/a/b-c_d/e:f=g@h%i+j,k"},
        {"", "''"},
        {"my file.yaml", "'my file.yaml'"},
        {"it's", "'it'\\''s'"},
        {"$HOME/*", "'$HOME/*'"},
        {"~/x", "'~/x'"},
        {"caf\xc3\xa9", "'caf\xc3\xa9'"},
        {"a\nb", "$'a\\x0ab'"},
        {"it's\x1b\\", "$'it\\'s\\x1b\\\\'"},
        {"\xff", "$'\\xff'"},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
        pj_phrase_quote(&buffer, cases[i].text);
        assert_string_equal(pj_buffer_text(&buffer), cases[i].quoted);
    }
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t maximum;
        const char *cut;
    } cases[] = {
        {"abc", 3, "abc"},
        {"abcd", 3, "abc..."},
        {"a\xc3\xa9xyz", 2, "a..."},
        {"a\xc3\xa9xyz", 3, "a\xc3\xa9..."},
        {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 7, "\xf0\x9f\x98\x80..."},
        {"a\x1b[0m", 2, "a\\x1b..."},
        {"\x80\x80\x80\x80\x80\x80", 5, "\\x80\\x80..."},
        {"", 0, ""},
        {"x", 0, "..."},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
        pj_phrase_cut(&buffer, cases[i].text, strlen(cases[i].text), cases[i].maximum);
        assert_string_equal(pj_buffer_text(&buffer), cases[i].cut);
    }
}

static void the_middle_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shortened;
        size_t maximum;
    } cases[] = {
        {"cause: cure", "cause: cure", 11},
        {"a cause, and much more: cure", "a c ... ure", 6},
        {"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", "\xe2\x82\xac ... \xe2\x82\xac", 8},
        {"a\x1b", "a\\x1b", 2},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
        pj_phrase_shorten(&buffer, cases[i].text, strlen(cases[i].text), cases[i].maximum);
        assert_string_equal(pj_buffer_text(&buffer), cases[i].shortened);
    }
}

static void lines_stay_lines(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_phrase_lines(&buffer, "one\ntwo\x1b\n\nfour");
    assert_string_equal(pj_buffer_text(&buffer), "one\n    two\\x1b\n\n    four");
}

static void characters_are_told_from_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc3\xa9", 2},
        {"\xe2\x82\xac", 3},
        {"\xf0\x9f\x98\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xc0\xaf", 0},         /* too long */
        {"\xe0\x80\xaf", 0},
        {"\xed\xa0\x80", 0}, /* a surrogate */
        {"\xc3", 0},
        {"\xe2\x82", 0},
        {"\x80", 0},
        {"\xff", 0},
    };
    for (size_t i = 0; i < PJ_COUNT(cases); i++) {
        assert_int_equal(pj_phrase_character(cases[i].text, strlen(cases[i].text)), cases[i].length);
        assert_int_equal(pj_phrase_is_utf8(cases[i].text, strlen(cases[i].text)), cases[i].length > 0);
    }
    assert_int_equal(pj_phrase_character("\xc3\xa9", 1), 0);
    assert_int_equal(pj_phrase_character("", 0), 0);
}

static void columns_are_counted_in_characters(void **state)
{
    (void)state;
    assert_int_equal(pj_phrase_columns("a\xc3\xa9z", 4), 3);
    assert_int_equal(pj_phrase_fit("a\xc3\xa9z", 4, 2), 3);
    assert_int_equal(pj_phrase_fit("a\xc3\xa9z", 4, 1), 1);
    assert_int_equal(pj_phrase_fit("a\xc3\xa9z", 4, 0), 0);
    assert_int_equal(pj_phrase_fit("a\xc3\xa9z", 4, 80), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_only_where_needed),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(the_middle_is_left_out),
        cmocka_unit_test(lines_stay_lines),
        cmocka_unit_test(characters_are_told_from_bytes),
        cmocka_unit_test(columns_are_counted_in_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
