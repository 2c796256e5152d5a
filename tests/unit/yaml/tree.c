/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a good document: texts, kinds, keys and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "yaml/yaml.h"

static struct pj_yaml_node *parse(struct pj_arena *arena, const char *text, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_yaml_node *root = NULL;
    int r = pj_yaml_parse(text, size, "f", arena, arena, &root, &err);
    if (r != 0)
        fail_msg("%s", pj_error_message(err));
    return root;
}

/* The tree on one line: "{a@1:1=[x@1:5 y@1:8]@1:4}@1:1". Plain scalars as they are, others in quotes. */
static void print(struct pj_buffer *buffer, const struct pj_yaml_node *node)
{
    static const char *const brackets[] = {
        [PJ_YAML_SCALAR] = "''", [PJ_YAML_SEQUENCE] = "[]", [PJ_YAML_MAPPING] = "{}"};
    const char *bracket = brackets[node->kind];
    size_t count = 0;
    if (node->kind == PJ_YAML_SCALAR) {
        assert_int_equal(strlen(node->text), node->size);
        pj_buffer_printf(buffer, node->plain ? "%s" : "'%s'", node->text);
    } else {
        assert_null(node->text);
        pj_buffer_putc(buffer, bracket[0]);
        for (const struct pj_yaml_node *item = node->first; item; item = item->next, count++) {
            pj_buffer_puts(buffer, count == 0 ? "" : " ");
            assert_int_equal(item->key != NULL, node->kind == PJ_YAML_MAPPING);
            if (item->key) {
                print(buffer, item->key);
                pj_buffer_putc(buffer, '=');
            }
            print(buffer, item);
        }
        pj_buffer_putc(buffer, bracket[1]);
    }
    assert_int_equal(count, node->count);
    pj_buffer_printf(buffer, "@%zu:%zu", node->line, node->column);
}

static const struct {
    const char *text;
    const char *tree;
} cases[] = {
    {"a", "a@1:1"},
    {"a: [x, y]", "{a@1:1=[x@1:5 y@1:8]@1:4}@1:1"},
    {"a: 12.0\nb: yes\nc: ~\nd: \"12.0\"\n",
     "{a@1:1=12.0@1:4 b@2:1=yes@2:4 c@3:1=~@3:4 d@4:1='12.0'@4:4}@1:1"},
    {"- a\n- b: {}\n  c: []\n", "[a@1:3 {b@2:3={}@2:6 c@3:3=[]@3:6}@2:3]@1:1"},
    {"a:\n", "{a@1:1=@1:3}@1:1"},
    {"a: ''\n", "{a@1:1=''@1:4}@1:1"},
    {"a: |\n  b\n", "{a@1:1='b\n'@1:4}@1:1"},
    {"a: b\n  c\n", "{a@1:1=b c@1:4}@1:1"},
    {"é: ü\nb: c\n", "{é@1:1=ü@1:4 b@2:1=c@2:4}@1:1"},
    {"\xef\xbb\xbf"
     "a: b\n",
     "{a@1:1=b@1:4}@1:1"},
    {"a: b\r\nc: d\r\n", "{a@1:1=b@1:4 c@2:1=d@2:4}@1:1"},
    {"%YAML 1.2\n---\na: b\n...\n", "{a@3:1=b@3:4}@3:1"},
    {"\"<<\": b\n", "{'<<'@1:1=b@1:7}@1:1"},
    {"a: 'x&y !z *w'\nb: x&y!*\n", "{a@1:1='x&y !z *w'@1:4 b@2:1=x&y!*@2:4}@1:1"},
    {"a: {b: , c: d}\n", "{a@1:1={b@1:5=@1:8 c@1:10=d@1:13}@1:4}@1:1"},
    {"? a\n: b\n", "{a@1:3=b@2:3}@1:1"},
};

static void each_text_gives_its_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        PJ_CLEANUP_BUFFER struct pj_buffer tree = {0};
        print(&tree, parse(&arena, cases[i].text, strlen(cases[i].text)));
        assert_string_equal(pj_buffer_text(&tree), cases[i].tree);
    }
}

static void no_document_gives_no_root(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# comment\n", "\n\n", "\xef\xbb\xbf", "%YAML 1.1\n"};
    for (size_t i = 0; i < 4; i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        assert_null(parse(&arena, texts[i], strlen(texts[i])));
    }
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    assert_null(parse(&arena, NULL, 0));
}

static void only_the_given_bytes_are_read(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    assert_string_equal(parse(&arena, "abc: [", 3)->text, "abc");
}

static void kinds_have_names(void **state)
{
    (void)state;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    static const char text[] = "[a, '', [], [b], {}, {c: d}]";
    static const char *const names[] = {"text",   "an empty value",   "an empty list",
                                        "a list", "an empty mapping", "a mapping"};
    const struct pj_yaml_node *item = parse(&arena, text, sizeof text - 1)->first;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++, item = item->next)
        assert_string_equal(pj_yaml_kind_name(item), names[i]);
    assert_null(item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_gives_its_tree),
        cmocka_unit_test(no_document_gives_no_root),
        cmocka_unit_test(only_the_given_bytes_are_read),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
