/* SPDX-License-Identifier: Apache-2.0 */
/* Says below a table what failed and why, each reason once. */
#include "report/detail.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/phrase.h"
#include "report/trouble.h"

/* Without -v: reasons explained. Always: jobs named with one reason, how many reasons back an equal one is
 * looked for, lines of one log, bytes of one line. */
enum {
    DETAILS_MAX = 20,
    NAMED_MAX = 8,
    LOOK_BACK_MAX = 64,
    LOG_LINES_MAX = 20,
    LOG_LINE_BYTES = 400,
};

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* The log without the blank lines at its end, and without its first line where the reason says that. */
static const char *log_begin(const struct pj_detail *detail, size_t *ret_size)
{
    const char *log = detail->log ? detail->log : "";
    size_t size = strlen(log), first = line_length(log);
    while (size > 0 && strchr(" \t\r\n", log[size - 1]))
        size--;
    size_t said = first > 0 && log[first - 1] == '\r' ? first - 1 : first;
    size_t reason = detail->reason ? strlen(detail->reason) : 0;
    const char *there = said > 0 && reason > 0 ? memmem(detail->reason, reason, log, said) : NULL;
    /* What to do about it may follow. */
    bool repeats = there && (there[said] == '\0' || there[said] == ';');
    size_t skipped = !repeats ? 0 : first < size ? first + 1 : size;
    *ret_size = size - skipped;
    return log + skipped;
}

static void put_log(const char *log, size_t size, struct pj_buffer *buffer)
{
    const char *end = log + size;
    size_t lines = 0, hidden = 0;
    for (const char *line = log; line < end; lines++) {
        size_t length = line_length(line);
        if (line + length > end)
            length = (size_t)(end - line);
        size_t shown = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        if (lines < LOG_LINES_MAX) {
            pj_buffer_puts(buffer, shown > 0 ? "    " : "");
            pj_phrase_cut(buffer, line, shown, LOG_LINE_BYTES);
            pj_buffer_putc(buffer, '\n');
        } else {
            hidden++;
        }
        line += length + 1;
    }
    if (hidden > 0) {
        pj_buffer_puts(buffer, "    ... ");
        pj_phrase_count(buffer, hidden, "more line", "more lines");
        pj_buffer_puts(buffer, " (--format json has all)\n");
    }
}

/* Those that are explained together: one verdict, one reason, one log. */
struct group {
    const struct pj_detail *named[NAMED_MAX];
    size_t count;
    bool required; /* one of them is */
};

struct groups {
    struct group *items;
    size_t count, capacity;
};

static void free_groups(struct groups *groups)
{
    free(groups->items);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool add_detail(struct groups *groups, const struct pj_detail *detail)
{
    struct group *group = NULL;
    for (size_t back = 1; back <= groups->count && back <= LOOK_BACK_MAX && !group; back++) {
        struct group *other = &groups->items[groups->count - back];
        const struct pj_detail *first = other->named[0];
        if (same_text(first->verdict, detail->verdict) && same_text(first->reason, detail->reason) &&
            same_text(first->log, detail->log))
            group = other;
    }
    if (!group) {
        group = PJ_ARRAY_PUSH(groups);
        if (!group)
            return false;
        *group = (struct group){.count = 0};
    }
    if (group->count < NAMED_MAX)
        group->named[group->count] = detail;
    group->count++;
    group->required |= detail->required;
    return true;
}

/* "x sm_80, sm_90, y sm_90: rejected: …", with the log below it. Returns whether more than that line was
 * needed. */
static bool put_group(const struct group *group, struct pj_buffer *buffer)
{
    const struct pj_detail *first = group->named[0];
    for (size_t i = 0; i < group->count && i < NAMED_MAX; i++) {
        const struct pj_detail *detail = group->named[i];
        bool same_module = i > 0 && strcmp(group->named[i - 1]->module, detail->module) == 0;
        pj_buffer_puts(buffer, i == 0 ? "" : ",");
        if (!same_module) {
            pj_buffer_puts(buffer, i == 0 ? "" : " ");
            pj_text_escape(buffer, detail->module, strlen(detail->module));
        }
        pj_buffer_printf(buffer, " %s", detail->target);
    }
    if (group->count > NAMED_MAX)
        pj_buffer_printf(buffer, " and %zu more", group->count - NAMED_MAX);
    if (first->verdict)
        pj_buffer_printf(buffer, ": %s", first->verdict);
    if (first->reason) {
        pj_buffer_puts(buffer, ": ");
        pj_phrase_lines(buffer, first->reason);
    }
    pj_buffer_putc(buffer, '\n');
    size_t size;
    const char *log = log_begin(first, &size);
    put_log(log, size, buffer);
    /* What its reason does not say: that a run need not fail for it. */
    bool may_be_left_out = group->required && first->may_be_left_out;
    if (may_be_left_out)
        pj_buffer_puts(buffer, "    to let the run succeed without it, give the module `required: false`\n");
    return size > 0 || may_be_left_out;
}

void pj_details_free(struct pj_details *details)
{
    free(details->items);
    *details = (struct pj_details){0};
}

int pj_details_put(const struct pj_details *details, bool verbose, struct pj_buffer *buffer,
                   struct pj_error **err)
{
    __attribute__((cleanup(free_groups))) struct groups groups = {0};
    for (size_t i = 0; i < details->count; i++) {
        if (!add_detail(&groups, &details->items[i]))
            return pj_error_no_memory(err);
    }
    size_t hidden = 0;
    bool apart = true; /* a blank line before the first, and around what takes several lines */
    for (size_t i = 0; i < groups.count; i++) {
        if (!verbose && i >= DETAILS_MAX) {
            hidden += groups.items[i].count;
            continue;
        }
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        bool long_one = put_group(&groups.items[i], &text);
        buffer->failed |= text.failed;
        pj_buffer_puts(buffer, apart || long_one ? "\n" : "");
        pj_buffer_append(buffer, pj_buffer_text(&text), text.size);
        apart = long_one;
    }
    if (hidden > 0)
        pj_buffer_printf(buffer, "\n... the reasons of %zu more (-v shows all)\n", hidden);
    return 0;
}

static bool has_detail(const struct pj_report *report, const struct pj_report_job *job, bool verbose)
{
    bool told = job->verdict == PJ_VERDICT_SKIPPED || verbose ||
                pj_report_trouble(report, job) != PJ_TROUBLE_NONE || job->reason_code;
    return told && (job->reason || job->log);
}

/* Why a proven job's code is not the driver's, or was not compared with it. */
static bool push_against(struct pj_details *details, const struct pj_report_job *job)
{
    if (!job->against_detail)
        return true;
    struct pj_detail *detail = PJ_ARRAY_PUSH(details);
    if (!detail)
        return false;
    *detail = (struct pj_detail){
        .module = job->module,
        .target = job->target,
        .verdict = pj_against_name(job->against_driver),
        .reason = job->against_detail,
    };
    return true;
}

int pj_report_details(const struct pj_report *report, const void *const *rows, size_t row_count, bool verbose,
                      struct pj_buffer *buffer, struct pj_error **err)
{
    PJ_CLEANUP_DETAILS struct pj_details details = {0};
    for (size_t i = 0; i < row_count; i++) {
        const struct pj_report_job *job = rows[i];
        enum pj_verdict verdict = job->verdict;
        if (!push_against(&details, job))
            return pj_error_no_memory(err);
        if (!has_detail(report, job, verbose))
            continue;
        struct pj_detail *detail = PJ_ARRAY_PUSH(&details);
        if (!detail)
            return pj_error_no_memory(err);
        *detail = (struct pj_detail){
            .module = job->module,
            .target = job->target,
            .verdict = verdict == PJ_VERDICT_NONE ? NULL : pj_verdict_name(verdict),
            .reason = job->reason,
            .log = job->log,
            .required = job->required,
            .may_be_left_out = verdict == PJ_VERDICT_CRASHED || verdict == PJ_VERDICT_TIMED_OUT ||
                               verdict == PJ_VERDICT_OUT_OF_MEMORY,
        };
    }
    return pj_details_put(&details, verbose, buffer, err);
}

void pj_notes_put(const char *const *notes, size_t count, size_t start, struct pj_buffer *buffer)
{
    if (buffer->size > start)
        pj_buffer_putc(buffer, '\n');
    for (size_t i = 0; i < count; i++) {
        pj_buffer_puts(buffer, "note: ");
        pj_phrase_lines(buffer, notes[i]);
        pj_buffer_putc(buffer, '\n');
    }
}

void pj_report_entries(const void *const *rows, size_t row_count, struct pj_buffer *buffer)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct pj_report_job *job = rows[i];
        char size[PJ_SIZE_TEXT];
        if (job->entry_count < 2)
            continue;
        pj_buffer_putc(buffer, '\n');
        pj_text_escape(buffer, job->module, strlen(job->module));
        pj_buffer_printf(buffer, " %s: %zu entries\n", job->target, job->entry_count);
        for (size_t k = 0; k < job->entry_count; k++) {
            const struct pj_report_entry *entry = &job->entries[k];
            pj_buffer_printf(buffer, "    %s  %s\n", entry->name,
                             entry->has_bytes ? pj_text_from_size(entry->bytes, size) : "-");
        }
    }
}
