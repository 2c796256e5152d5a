/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings: made from the table, ordered by severity. */
#include "host/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One word of a shell command. */
static void put_word(struct pj_buffer *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-~";
    if (*word && strspn(word, plain) == strlen(word)) {
        pj_buffer_puts(text, word);
        return;
    }
    pj_buffer_putc(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            pj_buffer_puts(text, "'\\''");
        else
            pj_buffer_putc(text, *word);
    }
    pj_buffer_putc(text, '\'');
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* NULL without a template, too: see pj_finding_add. */
static char *fill_in(struct pj_arena *arena, const char *template, const char *subject, const char *value)
{
    static const char subject_mark[] = "{subject}", value_mark[] = "{value}", folder_mark[] = "{folder}";
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    if (!template)
        return NULL;
    const char *slash = strrchr(subject, '/');
    PJ_CLEANUP_FREE char *folder = strndup(subject, slash ? (size_t)(slash - subject) : 0);
    if (!folder)
        return NULL;
    while (*template) {
        if (starts_with(template, subject_mark)) {
            put_word(&text, subject);
            template += strlen(subject_mark);
        } else if (starts_with(template, value_mark)) {
            put_word(&text, value ? value : "");
            template += strlen(value_mark);
        } else if (starts_with(template, folder_mark)) {
            put_word(&text, folder);
            template += strlen(folder_mark);
        } else {
            pj_buffer_putc(&text, *template ++);
        }
    }
    return text.failed ? NULL : pj_arena_strdup(arena, pj_buffer_text(&text));
}

static bool is_there(const struct pj_finding_list *findings, enum pj_finding_code code, const char *subject)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].code == code && strcmp(findings->items[i].subject, subject) == 0)
            return true;
    }
    return false;
}

/* Behind the last one that is at least as severe. */
static void insert(struct pj_finding_list *findings, const struct pj_finding *finding)
{
    size_t at = findings->count;
    while (at > 0 && findings->items[at - 1].severity > finding->severity)
        at--;
    memmove(&findings->items[at + 1], &findings->items[at],
            (findings->count - at) * sizeof findings->items[0]);
    findings->items[at] = *finding;
    findings->count++;
}

int pj_finding_add(struct pj_finding_list *findings, enum pj_finding_code code, const char *subject,
                   const char *value, struct pj_error **err, const char *format, ...)
{
    const struct pj_finding_info *info = pj_finding_info(code);
    PJ_CLEANUP_FREE char *found = NULL;
    va_list arguments;
    if (is_there(findings, code, subject))
        return 0;
    va_start(arguments, format);
    int length = vasprintf(&found, format, arguments);
    va_end(arguments);
    if (length < 0) {
        found = NULL;
        return pj_error_no_memory(err);
    }
    struct pj_finding finding = {
        .code = code,
        .severity = findings->as_notes ? PJ_SEVERITY_NOTE : info->severity,
        .subject = pj_arena_strdup(&findings->arena, subject),
        .found = pj_arena_strdup(&findings->arena, found),
        .cure = fill_in(&findings->arena, info->cure, subject, value),
    };
    if (!finding.subject || !finding.found || (info->cure && !finding.cure) ||
        !pj_array_reserve((void **)&findings->items, findings->count, &findings->capacity,
                          sizeof *findings->items))
        return pj_error_no_memory(err);
    insert(findings, &finding);
    return 0;
}

const struct pj_finding *pj_finding_with(const struct pj_finding_list *findings, unsigned effects)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (pj_finding_info(findings->items[i].code)->effects & effects)
            return &findings->items[i];
    }
    return NULL;
}

size_t pj_finding_number(const struct pj_finding_list *findings, enum pj_severity severity)
{
    size_t number = 0;
    for (size_t i = 0; i < findings->count; i++)
        number += findings->items[i].severity == severity;
    return number;
}

void pj_finding_list_free(struct pj_finding_list *findings)
{
    free(findings->items);
    pj_arena_free(&findings->arena);
    *findings = (struct pj_finding_list){0};
}
