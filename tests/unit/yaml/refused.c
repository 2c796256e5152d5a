/* SPDX-License-Identifier: Apache-2.0 */
/* What is no YAML, and YAML that is refused: each with its exact message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "yaml/yaml.h"

#define NO_ANCHOR "anchors and aliases are not allowed: write the value out at each place that needs it"
#define NO_TAG    "tags are not allowed: every value means the text that is written"
#define COLUMNS   "keys of one mapping stand in one column"

/* A text with a NUL needs its size; for all others it is the literal's. */
#define TEXT(literal) literal, sizeof(literal) - 1

static const struct {
    const char *text;
    size_t size;
    const char *message;
} cases[] = {
    {TEXT("a: &x 1\nb: *x\n"), "f:1:4: read the anchor `&x`; " NO_ANCHOR},
    {TEXT("&top a: 1\n"), "f:1:1: read the anchor `&top`; " NO_ANCHOR},
    {TEXT("a: &list [1]\n"), "f:1:4: read the anchor `&list`; " NO_ANCHOR},
    {TEXT("a: &m\n  b: 1\n"), "f:1:4: read the anchor `&m`; " NO_ANCHOR},
    {TEXT("a: *x\n"), "f:1:4: read the alias `*x`; " NO_ANCHOR},
    {TEXT("a: [b, *x]\n"), "f:1:8: read the alias `*x`; " NO_ANCHOR},
    {TEXT("é: *x\n"), "f:1:4: read the alias `*x`; " NO_ANCHOR},
    {TEXT("a: !!str 1\n"), "f:1:4: read the tag `!!str`; " NO_TAG},
    {TEXT("a: ! 1\n"), "f:1:4: read the tag `!`; " NO_TAG},
    {TEXT("a: ! '1'\n"), "f:1:4: read the tag `!`; " NO_TAG},
    {TEXT("a: !local [1]\n"), "f:1:4: read the tag `!local`; " NO_TAG},
    {TEXT("!m {a: 1}\n"), "f:1:1: read the tag `!m`; " NO_TAG},
    {TEXT("a: !<tag:x> 1\n"), "f:1:4: read the tag `!<tag:x>`; " NO_TAG},
    {TEXT("a: !e!x 1\n"),
     "f:1:4: not YAML: found undefined tag handle while parsing a node; tags are not allowed: "
     "write the value without it"},
    {TEXT("%TAG ! tag:x,2000:\n---\na: 1\n"), "f:1:1: read a `%TAG` directive; " NO_TAG},
    {TEXT("<<: {a: 1}\n"),
     "f:1:1: read the merge key `<<`; merge keys are not allowed: write the keys out at each "
     "place that needs them"},
    {TEXT("a: 1\n---\nb: 2\n"),
     "f:2:1: read the start of a second document; one file holds one: put the second into "
     "a file of its own"},
    {TEXT("---\n---\n"),
     "f:2:1: read the start of a second document; one file holds one: put the second into a file "
     "of its own"},
    {TEXT("a: 1\nb: 2\na: 3\n"),
     "f:3:1: the key `a` is given twice, first at line 1, column 1: remove one of them"},
    {TEXT("a: {b: 1, b: 2}\n"),
     "f:1:11: the key `b` is given twice, first at line 1, column 5: remove one of them"},
    {TEXT("a: 1\n\"a\": 2\n"),
     "f:2:1: the key `a` is given twice, first at line 1, column 1: remove one of them"},
    {TEXT("z: 1\na: 2\nz: 3\na: 4\n"),
     "f:3:1: the key `z` is given twice, first at line 1, column 1: remove one of "
     "them"},
    {TEXT("b: 1\nb: 2\nb: 3\n"),
     "f:2:1: the key `b` is given twice, first at line 1, column 1: remove one of them"},
    {TEXT("[a]: 1\n"),
     "f:1:1: read a list where a key belongs; a key is text: put text that starts with `[` into "
     "quotes"},
    {TEXT("? {a: 1}\n: 2\n"),
     "f:1:3: read a mapping where a key belongs; a key is text: put text that starts with "
     "`{` into quotes"},
    {TEXT("a: \"b\\0c\"\n"),
     "f:1:4: read text with a NUL byte (\\0) in it; no name, path or option can hold one: "
     "remove it"},
    {TEXT("a: \0b\n"),
     "f:1:4: read the control character U+0000; YAML allows none but tabs and line ends: remove it"},
    {TEXT("a: 1\nb: \x1b[31m\n"),
     "f:2:4: read the control character U+001B; YAML allows none but tabs and line ends: "
     "remove it"},
    {TEXT("a: \x7f\n"),
     "f:1:4: read the control character U+007F; YAML allows none but tabs and line ends: remove "
     "it"},
    {TEXT("a: 1\r\nb: \xff\r\n"),
     "f:2:4: byte 0xff is not UTF-8 (invalid leading UTF-8 octet): save the file as "
     "UTF-8"},
    {TEXT("é: caf\xe9\n"),
     "f:1:7: byte 0xe9 is not UTF-8 (incomplete UTF-8 octet sequence): save the file as UTF-8"},
    {TEXT("\xc3( is no character\n"),
     "f:1:1: byte 0xc3 is not UTF-8 (invalid trailing UTF-8 octet): save the file "
     "as UTF-8"},
    {TEXT("\xff\xfe"
          "a"),
     "f:1:1: the file is UTF-16 (it starts with its byte order mark): save it as UTF-8"},
    {TEXT("\xfe\xff\0a"), "f:1:1: the file is UTF-16 (it starts with its byte order mark): save it as UTF-8"},
    {TEXT("a: b: c\n"), "f:1:5: not YAML: mapping values are not allowed in this context; " COLUMNS
                        ", and text that holds `: ` needs quotes"},
    {TEXT("a: 1\n  b: 2\n"), "f:2:4: not YAML: mapping values are not allowed in this context; " COLUMNS
                             ", and text that holds `: ` needs quotes"},
    {TEXT("a:\n  b: 1\n c: 2\n"),
     "f:3:2: not YAML: did not find expected key while parsing a block mapping that "
     "starts at line 1, column 1; " COLUMNS ": check how this line is indented"},
    {TEXT("a:\n\t- b\n"), "f:2:1: not YAML: read a tab where a value starts: indent with spaces"},
    {TEXT("a: @b\n"), "f:1:4: not YAML: a value cannot start with '@': put it into quotes"},
    {TEXT("a: `b`\n"), "f:1:4: not YAML: a value cannot start with '`': put it into quotes"},
    {TEXT("a: 'b\n"),
     "f:2:1: not YAML: found unexpected end of stream while scanning a quoted scalar that starts at "
     "line 1, column 4; a quote is not closed"},
    {TEXT("a: \"\\q\"\n"),
     "f:1:5: not YAML: found unknown escape character while parsing a quoted scalar that starts "
     "at line 1, column 4; between double quotes a backslash is written `\\\\`; between single "
     "quotes it stands for itself"},
    {TEXT("a: [1\nb: 2\n"),
     "f:2:2: not YAML: did not find expected ',' or ']' while parsing a flow sequence that "
     "starts at line 1, column 4; items between `[` and `]` are separated by commas"},
    {TEXT("a: {b: 1\n"),
     "f:2:1: not YAML: did not find expected ',' or '}' while parsing a flow mapping that starts "
     "at line 1, column 4; keys between `{` and `}` are separated by commas"},
    {TEXT("a: ["),
     "f:2:1: not YAML: did not find expected node content while parsing a flow node; a value is missing "
     "here, or text needs quotes"},
    {TEXT("- a\nb: 1\n"),
     "f:2:1: not YAML: did not find expected '-' indicator while parsing a block collection that "
     "starts at line 1, column 1; items of one list stand in one column and start with `- `: "
     "check how this line is indented"},
    {TEXT("a: - b\n"),
     "f:1:4: not YAML: block sequence entries are not allowed in this context; a list starts on a "
     "line of its own behind its key"},
};

static void each_text_is_refused_with_its_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        struct pj_yaml_node *root = (struct pj_yaml_node *)&arena;
        int r = pj_yaml_parse(cases[i].text, cases[i].size, "f", &arena, &arena, &root, &err);
        assert_non_null(err);
        assert_string_equal(err->message, cases[i].message);
        assert_int_equal(r, PJ_ERROR_FORMAT);
        assert_int_equal(err->code, PJ_ERROR_FORMAT);
        assert_ptr_equal(root, &arena); /* left alone */
    }
}

static void the_error_may_be_left_out(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_yaml_node *root;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pj_yaml_parse(cases[i].text, cases[i].size, "f", &arena, &arena, &root, NULL),
                         PJ_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_refused_with_its_message),
        cmocka_unit_test(the_error_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
