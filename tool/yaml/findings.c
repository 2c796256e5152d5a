/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting findings and putting them into one error. */
#include "yaml/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

void pj_findings_add(struct pj_findings *findings, const struct pj_yaml_node *node, const char *format, ...)
{
    if (findings->failed)
        return;
    if (findings->count == PJ_FINDINGS_MAX) {
        findings->left_out++;
        return;
    }
    va_list arguments;
    char *message = NULL;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    struct pj_finding *finding = message ? PJ_ARRAY_PUSH(findings) : NULL;
    if (!finding) {
        free(message);
        findings->failed = true;
        return;
    }
    *finding = (struct pj_finding){
        .line = node->line, .column = node->column, .order = findings->count, .message = message};
}

static int compare(const void *left, const void *right)
{
    const struct pj_finding *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

int pj_findings_result(struct pj_findings *findings, enum pj_error_code code, struct pj_error **err)
{
    if (findings->failed)
        return pj_error_no_memory(err);
    if (findings->count == 0)
        return 0;
    qsort(findings->items, findings->count, sizeof *findings->items, compare);
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const struct pj_finding *finding = &findings->items[i];
        pj_buffer_printf(&text, "%s%s:%zu:%zu: %s", i == 0 ? "" : "\n", findings->name, finding->line,
                         finding->column, finding->message);
    }
    if (findings->left_out > 0)
        pj_buffer_printf(&text, "\n%s: %zu more errors are not shown", findings->name, findings->left_out);
    int r = pj_buffer_check(&text, err);
    return r < 0 ? r : pj_error_set(err, code, "%s", pj_buffer_text(&text));
}

void pj_findings_free(struct pj_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->items[i].message);
    free(findings->items);
    findings->items = NULL;
    findings->count = findings->capacity = 0;
}

char *pj_findings_read(struct pj_findings *findings, const struct pj_yaml_node *node,
                       char ret_text[PJ_READ_TEXT])
{
    enum { SHOWN_MAX = 60 };
    if (node->kind != PJ_YAML_SCALAR || node->size == 0) {
        (void)snprintf(ret_text, PJ_READ_TEXT, "%s", pj_yaml_kind_name(node));
        return ret_text;
    }
    size_t size = node->size;
    if (size > SHOWN_MAX) {
        size = SHOWN_MAX;
        while (size > 0 && ((unsigned char)node->text[size] & 0xc0U) == 0x80U)
            size--; /* cut between characters */
    }
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_text_escape(&text, node->text, size);
    findings->failed = findings->failed || text.failed;
    (void)snprintf(ret_text, PJ_READ_TEXT, "`%s%s`", pj_buffer_text(&text), size < node->size ? "…" : "");
    return ret_text;
}

bool pj_findings_printable(struct pj_findings *findings, const char *text)
{
    PJ_CLEANUP_BUFFER struct pj_buffer escaped = {0};
    size_t size = strlen(text);
    pj_text_escape(&escaped, text, size);
    findings->failed = findings->failed || escaped.failed;
    return escaped.size == size && memcmp(pj_buffer_text(&escaped), text, size) == 0;
}
