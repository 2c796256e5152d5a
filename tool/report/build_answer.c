/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a build: what it came to. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/build.h"
#include "report/named.h"
#include "report/phrase.h"

static bool failed(const struct pj_build_unit *unit)
{
    return unit->verdict != PJ_BUILD_BUILT && unit->verdict != PJ_BUILD_NOT_TRIED;
}

static size_t count_failed(const struct pj_build_report *report, bool required)
{
    size_t count = 0;
    for (size_t i = 0; i < report->unit_count; i++)
        count += failed(&report->units[i]) && report->units[i].required == required;
    return count;
}

static size_t count_built(const struct pj_build_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->unit_count; i++)
        count += report->units[i].verdict == PJ_BUILD_BUILT;
    return count;
}

/* Different targets of what was built. There are few; modules are many, and mostly in the order of targets.
 */
static size_t count_targets(const struct pj_build_report *report)
{
    enum { TARGETS_MAX = 256 };
    const char *seen[TARGETS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < report->unit_count; i++) {
        const struct pj_build_unit *unit = &report->units[i];
        size_t at = 0;
        while (at < count && strcmp(seen[at], unit->target) != 0)
            at++;
        if (unit->verdict == PJ_BUILD_BUILT && at == count && count < TARGETS_MAX)
            seen[count++] = unit->target;
    }
    return count;
}

/* " (rejected: no such kernel)"; `context` says whether the line stands below the table. */
static void put_why(const void *context, const void *row, struct pj_buffer *buffer)
{
    const bool *below_table = context;
    const struct pj_build_unit *unit = row;
    pj_named_put_why(pj_build_verdict_name(unit->verdict), unit->reason ? unit->reason : unit->reason_code,
                     *below_table, buffer);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_why(const void *first, const void *second)
{
    const struct pj_build_unit *a = first, *b = second;
    return a->verdict == b->verdict && same_text(a->reason, b->reason) &&
           same_text(a->reason_code, b->reason_code);
}

static void put_failed(const struct pj_build_report *report, bool required, bool below_table,
                       struct pj_buffer *buffer)
{
    struct pj_named named = {.alike = same_why};
    for (size_t i = 0; i < report->unit_count; i++) {
        const struct pj_build_unit *unit = &report->units[i];
        if (failed(unit) && unit->required == required)
            pj_named_add(&named, unit, unit->module, unit->target);
    }
    pj_named_put(&named, put_why, &below_table, buffer);
}

static void put_folder(const struct pj_build_report *report, struct pj_buffer *buffer)
{
    pj_buffer_puts(buffer, " into ");
    pj_text_escape(buffer, report->out_dir, strlen(report->out_dir));
}

/* "12 cubins built for 4 targets in 2.1 s into out", "12 cubins compile for 4 targets (nothing written)" */
static void put_success(const struct pj_build_report *report, struct pj_buffer *buffer)
{
    char duration[PJ_DURATION_TEXT];
    size_t built = count_built(report), targets = count_targets(report);
    pj_phrase_count(buffer, built, "cubin ", "cubins ");
    pj_buffer_puts(buffer, report->out_dir ? "built" : built == 1 ? "compiles" : "compile");
    if (targets > 0) {
        pj_buffer_puts(buffer, " for ");
        pj_phrase_count(buffer, targets, "target", "targets");
    }
    if (!report->out_dir) {
        pj_buffer_puts(buffer, " (nothing written)");
        return;
    }
    if (report->seconds >= 0)
        pj_buffer_printf(buffer, " in %s", pj_text_from_ms(report->seconds * 1e3, duration));
    put_folder(report, buffer);
}

/* "interrupted: 5 of 12 built into out" */
static void put_early_end(const struct pj_build_report *report, struct pj_buffer *buffer)
{
    pj_text_escape(buffer, report->ended_by, strlen(report->ended_by));
    pj_buffer_printf(buffer, ": %zu of %zu %s", count_built(report), report->unit_count,
                     report->out_dir ? "built" : "compiled");
    if (report->out_dir)
        put_folder(report, buffer);
}

int pj_build_render_answer(const struct pj_build_report *report, bool below_table, struct pj_buffer *buffer,
                           struct pj_error **err)
{
    size_t required = count_failed(report, true), not_required = count_failed(report, false);
    /* Who was interrupted dies by the signal: nobody sees the status. */
    bool by_signal = same_text(report->ended_by, "interrupted");
    if (report->exit_code != PJ_EXIT_OK && !by_signal)
        pj_buffer_printf(buffer, "exit %d: ", (int)report->exit_code);
    if (report->ended_by)
        put_early_end(report, buffer);
    else if (required == 0)
        put_success(report, buffer);
    if (required > 0) {
        pj_buffer_printf(buffer, "%s%zu", report->ended_by ? "; " : "", required);
        if (!report->ended_by)
            pj_buffer_printf(buffer, " of %zu", report->unit_count);
        pj_buffer_puts(buffer, " failed");
        put_failed(report, true, below_table, buffer);
    }
    if (not_required > 0) {
        pj_buffer_printf(buffer, "; %zu not required", not_required);
        put_failed(report, false, below_table, buffer);
    }
    if (report->left_out > 0) {
        pj_buffer_puts(buffer, "; ");
        pj_phrase_count(buffer, report->left_out, "target left out", "targets left out");
    }
    if (report->removed > 0) {
        pj_buffer_puts(buffer, "; ");
        pj_phrase_count(buffer, report->removed, "file of an earlier run removed",
                        "files of an earlier run removed");
    }
    return pj_buffer_check(buffer, err);
}
