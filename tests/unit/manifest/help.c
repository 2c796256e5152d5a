/* SPDX-License-Identifier: Apache-2.0 */
/* The help that is made from the schema table, and the examples in that table. */
#include "manifest/help.h"
#include "folder.h"
#include "manifest/schema.h"

/* Puts a key's example where it belongs. */
static void put_example(struct pj_buffer *text, enum pj_schema_section section, size_t index)
{
    struct pj_schema_key key = pj_schema_key(section, index);
    bool module = section == PJ_SECTION_MODULE;
    if (section == PJ_SECTION_ROOT && index == PJ_ROOT_VERSION)
        pj_buffer_puts(text, "modules: [{name: a, ptx: a.ptx}]\n");
    else if (section == PJ_SECTION_ROOT && index == PJ_ROOT_MODULES)
        pj_buffer_puts(text, "version: 1\n");
    else if (!module)
        pj_buffer_puts(text, WHOLE);
    if (section == PJ_SECTION_CACHE)
        pj_buffer_puts(text, "cache:\n  ");
    if (section == PJ_SECTION_VERIFY)
        pj_buffer_puts(text, "verify:\n  ");
    if (module) {
        bool kind = index >= PJ_MODULE_KEY_PTX && index <= PJ_MODULE_KEY_BINARY;
        const char *other = key.kinds == 1U << PJ_MODULE_SOURCE ? "  source: a.cu\n"
                            : key.kinds == 1U << PJ_MODULE_LINK ? "  link: [a.ptx]\n"
                            : kind                              ? ""
                                                                : "  ptx: a.ptx\n";
        pj_buffer_printf(text, HEAD "-\n%s%s  ", index == PJ_MODULE_KEY_NAME ? "" : "  name: a\n", other);
    }
    pj_buffer_printf(text, "%s\n", key.example);
}

static void the_example_of_every_key_parses(void **state)
{
    (void)state;
    for (int section = 0; section < PJ_SECTION_OPTIONS; section++) {
        for (size_t i = 0; i < pj_schema_count((enum pj_schema_section)section); i++) {
            PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
            put_example(&text, (enum pj_schema_section)section, i);
            pj_manifest_free(parse_in(pj_buffer_text(&text), ".", true));
        }
    }
}

static void the_help_has_every_key_and_short_lines(void **state)
{
    (void)state;
    PJ_CLEANUP_BUFFER struct pj_buffer help = {0};
    assert_int_equal(pj_manifest_help(&help, NULL), 0);
    for (int section = 0; section < PJ_SECTION_COUNT; section++) {
        for (size_t i = 0; i < pj_schema_count((enum pj_schema_section)section); i++) {
            struct pj_schema_key key = pj_schema_key((enum pj_schema_section)section, i);
            PJ_CLEANUP_BUFFER struct pj_buffer line = {0};
            pj_buffer_printf(&line, "\n  %s%s%s\n", key.name, key.required ? " (needed)" : "",
                             key.later ? " (not supported by this version)" : "");
            assert_non_null(strstr(pj_buffer_text(&help), pj_buffer_text(&line)));
        }
    }
    for (const char *line = pj_buffer_text(&help); *line;) {
        size_t length = strcspn(line, "\n");
        assert_true(length <= 80);
        assert_true(length == 0 || line[length - 1] != ' ');
        line += length + (line[length] == '\n');
    }
}

/* A CUjit_option is either taken or refused, never both. */
static void refused_options_are_no_keys(void **state)
{
    (void)state;
    size_t count;
    const struct pj_refused_option *refused = pj_schema_refused_options(&count);
    assert_int_equal(count + PJ_JIT_OPTION_COUNT, 35); /* CU_JIT_NUM_OPTIONS of CUDA 13.0 */
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pj_schema_find(PJ_SECTION_OPTIONS, refused[i].name), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_every_key_parses),
        cmocka_unit_test(the_help_has_every_key_and_short_lines),
        cmocka_unit_test(refused_options_are_no_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
