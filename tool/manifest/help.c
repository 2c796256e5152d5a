/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `prejit --help manifest`. */
#include "manifest/help.h"

#include <stddef.h>
#include <string.h>

#include "manifest/schema.h"

enum { HELP_COLUMNS = 80, TEXT_INDENT = 6 };

/* `text` in lines that start `indent` columns in; words are not split. */
static void wrap(struct pj_buffer *buffer, const char *text, size_t indent)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > HELP_COLUMNS) {
            pj_buffer_putc(buffer, '\n');
            column = 0;
        }
        if (column == 0) {
            pj_buffer_printf(buffer, "%*s", (int)indent, "");
            column = indent;
        } else {
            pj_buffer_putc(buffer, ' ');
            column++;
        }
        pj_buffer_append(buffer, text, length);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    pj_buffer_putc(buffer, '\n');
}

static void add_key(struct pj_buffer *buffer, const struct pj_schema_key *key)
{
    PJ_CLEANUP_BUFFER struct pj_buffer value = {0};
    pj_buffer_printf(buffer, "  %s%s%s\n", key->name, key->required ? " (needed)" : "",
                     key->later ? " (not supported by this version)" : "");
    wrap(buffer, key->help, TEXT_INDENT);
    pj_buffer_puts(&value, "Value: ");
    pj_schema_allowed(key, &value);
    pj_buffer_puts(&value, ".");
    if (key->default_text)
        pj_buffer_printf(&value, " Default: %s.", key->default_text);
    wrap(buffer, pj_buffer_text(&value), TEXT_INDENT);
    buffer->failed = buffer->failed || value.failed;
}

static void add_section(struct pj_buffer *buffer, enum pj_schema_section section)
{
    pj_buffer_printf(buffer, "\nKeys of %s:\n", pj_schema_section_name(section));
    for (size_t i = 0; i < pj_schema_count(section); i++) {
        struct pj_schema_key key = pj_schema_key(section, i);
        add_key(buffer, &key);
    }
}

int pj_manifest_help(struct pj_buffer *buffer, struct pj_error **err)
{
    pj_buffer_puts(buffer, "A manifest is a YAML file that says which modules to warm, for which GPU\n"
                           "architectures, and in which cache. The shortest one:\n"
                           "\n"
                           "  version: 1\n"
                           "  modules:\n"
                           "    - name: saxpy\n"
                           "      ptx: kernels/saxpy.ptx\n"
                           "\n");
    wrap(buffer,
         "Paths start from the manifest's folder (from the working directory where the manifest comes from "
         "standard input); `~` and `$` are not expanded. A target is `native`, `all`, one architecture "
         "(sm_90, 90, 9.0, 9.0a), a range (sm_80..sm_90), a family (turing, ampere, ada, hopper, "
         "blackwell) or a GPU (h100, rtx 4090).",
         0);
    for (int section = 0; section < PJ_SECTION_COUNT; section++)
        add_section(buffer, (enum pj_schema_section)section);
    return pj_buffer_check(buffer, err);
}
