/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a document, each at its edge: allowed there, and refused one beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "yaml/yaml.h"

static void expect(const struct pj_buffer *text, const char *message)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    struct pj_yaml_node *root = NULL;
    assert_false(text->failed);
    int r = pj_yaml_parse(text->data, text->size, "f", &arena, &arena, &root, &err);
    assert_string_equal(r == 0 ? "accepted" : pj_error_message(err), message);
    assert_int_equal(r, strcmp(message, "accepted") == 0 ? 0 : PJ_ERROR_FORMAT);
}

static void repeat(struct pj_buffer *buffer, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        pj_buffer_puts(buffer, text);
}

static void sixteen_levels_are_allowed(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    repeat(&text, "[", 16);
    repeat(&text, "]", 16);
    expect(&text, "accepted");
    pj_buffer_reset(&text);
    repeat(&text, "[", 17);
    repeat(&text, "]", 17);
    expect(&text,
           "f:1:17: read lists and mappings more than 16 levels deep, which is the most allowed: write it "
           "flatter");
    pj_buffer_reset(&text);
    repeat(&text, "{a: ", 17);
    expect(&text,
           "f:1:65: read lists and mappings more than 16 levels deep, which is the most allowed: write it "
           "flatter");
    pj_buffer_reset(&text);
    repeat(&text, "- ", 100000);
    expect(&text,
           "f:1:33: read lists and mappings more than 16 levels deep, which is the most allowed: write it "
           "flatter");
}

static void a_million_nodes_are_allowed(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_putc(&text, '[');
    repeat(&text, "1,", PJ_YAML_MAX_NODES - 1); /* the list is a node too */
    size_t allowed = text.size;
    pj_buffer_putc(&text, ']');
    expect(&text, "accepted");
    text.size = allowed;
    pj_buffer_puts(&text, "1]");
    expect(&text,
           "f:1:2000000: read more than 1,000,000 keys and values, which is the most that one file may hold: "
           "split it");
}

static void sixty_four_megabytes_are_allowed(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    char *room = pj_buffer_reserve(&text, PJ_YAML_MAX_BYTES + 1);
    assert_non_null(room);
    memset(room, '\n', PJ_YAML_MAX_BYTES + 1);
    pj_buffer_commit(&text, PJ_YAML_MAX_BYTES + 1);
    expect(&text, "f:1:1: the file has 64000001 bytes, more than the 64000000 (64 MB) allowed: split it");
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_yaml_node *root = NULL;
    room[PJ_YAML_MAX_BYTES - 1] = 'a';
    assert_int_equal(pj_yaml_parse(text.data, PJ_YAML_MAX_BYTES, "f", &arena, &arena, &root, NULL), 0);
    assert_string_equal(root->text, "a");
    assert_int_equal(root->line, PJ_YAML_MAX_BYTES);
}

/* Compared pairwise, so many keys would take hours. */
static void many_keys_are_compared_quickly(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (unsigned i = 0; i < 50000; i++)
        pj_buffer_printf(&text, "k%u: v\n", i);
    expect(&text, "accepted");
    pj_buffer_puts(&text, "k7: again\n");
    expect(&text, "f:50001:1: the key `k7` is given twice, first at line 8, column 1: remove one of them");
}

static void long_words_are_cut_in_messages(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_buffer_puts(&text, "a: *");
    repeat(&text, "x", 100000);
    expect(&text,
           "f:1:4: read the alias `*xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`; anchors and aliases are not "
           "allowed: write the value out at each place that needs it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_levels_are_allowed),       cmocka_unit_test(a_million_nodes_are_allowed),
        cmocka_unit_test(sixty_four_megabytes_are_allowed), cmocka_unit_test(many_keys_are_compared_quickly),
        cmocka_unit_test(long_words_are_cut_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
