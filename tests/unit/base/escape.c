/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin made safe to print: nothing but printable UTF-8 comes out. */
#include "unit.h"

#include "base/memory.h"
#include "base/text.h"

static void expect_escaped(const char *text, size_t size, const char *wanted)
{
    PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
    pj_text_escape(&buffer, text, size);
    assert_int_equal(pj_buffer_check(&buffer, NULL), 0);
    assert_string_equal(pj_buffer_text(&buffer), wanted);
}

#define EXPECT(text, wanted) expect_escaped(text, sizeof(text) - 1, wanted)

static void test_ascii(void **state)
{
    (void)state;
    EXPECT("", "");
    EXPECT("plain ~text!", "plain ~text!");
    EXPECT("a\nb\tc\r", "a\\x0ab\\x09c\\x0d");
    EXPECT("\0\x1b[31m\x7f", "\\x00\\x1b[31m\\x7f");
}

static void test_utf8(void **state)
{
    (void)state;
    EXPECT("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    EXPECT("\xe2\x82\xac", "\xe2\x82\xac");
    EXPECT("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
    EXPECT("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"); /* U+10FFFF */
    EXPECT("\xc2\xa0", "\xc2\xa0");
    EXPECT("\xc2\x9b", "\\xc2\\x9b"); /* U+009B starts a terminal's control sequence */
}

static void test_invalid_utf8(void **state)
{
    (void)state;
    EXPECT("\x80", "\\x80");
    EXPECT("\xc3", "\\xc3");
    EXPECT("\xc3(", "\\xc3(");
    EXPECT("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
    EXPECT("\xe0\x80\x80", "\\xe0\\x80\\x80");          /* overlong */
    EXPECT("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
    EXPECT("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
    EXPECT("\xf0\x9f\x98", "\\xf0\\x9f\\x98");          /* cut off */
    EXPECT("\xe2\x82\xc3\xbc", "\\xe2\\x82\xc3\xbc");   /* cut off by another one */
    EXPECT("\xff\xfe", "\\xff\\xfe");
}

/* Every byte and pair of bytes: the output has neither control characters nor loose high bytes. */
static void test_all_pairs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer buffer = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer again = {0};
        const char text[2] = {(char)(i >> 8), (char)(i & 255)};
        pj_text_escape(&buffer, text, sizeof text);
        for (size_t k = 0; k < buffer.size; k++)
            assert_true((unsigned char)buffer.data[k] >= 0x20 && buffer.data[k] != 0x7f);
        pj_text_escape(&again, buffer.data, buffer.size);
        assert_string_equal(pj_buffer_text(&again), pj_buffer_text(&buffer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
