/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a run: what the whole thing came to, and what to do about it. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/named.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/trouble.h"

/* A line that is being written. */
struct line {
    const struct pj_report *report;
    struct pj_buffer *buffer;
    bool below_table; /* long reasons are to be read there */
    bool begun;       /* the next clause needs a separator */
};

/* What each class of trouble is called behind its count. */
static const char *const trouble_texts[PJ_TROUBLE_COUNT] = {
    [PJ_TROUBLE_TOO_LARGE] = "too large for the cache",
    [PJ_TROUBLE_FAILED] = "failed",
    [PJ_TROUBLE_PASSING] = "could not be proven now",
    [PJ_TROUBLE_WRONG] = "with a wrong entry in the cache",
    [PJ_TROUBLE_COLD] = "will be compiled at first use",
    [PJ_TROUBLE_UNDONE] = "not done",
    [PJ_TROUBLE_UNPROVEN] = "not proven",
    [PJ_TROUBLE_SLOW] = "slower than asked",
};

/* Counts by class; those that are not required have a class of their own at the end. */
struct troubles {
    size_t counts[PJ_TROUBLE_COUNT];
    size_t required, not_required;
};

/* Where the run ended early, that is the reason of all that it did not come to: said once, in front. */
static enum pj_trouble trouble_of(const struct pj_report *report, const struct pj_report_job *job)
{
    const char *code = job->verdict == PJ_VERDICT_INCONCLUSIVE && job->reason_code ? job->reason_code : "";
    if (report->ended_early && (job->verdict == PJ_VERDICT_NONE || strcmp(code, "interrupted") == 0 ||
                                strcmp(code, "deadline") == 0))
        return PJ_TROUBLE_NONE;
    return pj_report_trouble(report, job);
}

static void count_troubles(const struct pj_report *report, struct troubles *ret_troubles)
{
    struct troubles troubles = {0};
    for (size_t i = 0; i < report->job_count; i++) {
        enum pj_trouble trouble = trouble_of(report, &report->jobs[i]);
        if (trouble == PJ_TROUBLE_NONE)
            continue;
        if (report->jobs[i].required) {
            troubles.counts[trouble]++;
            troubles.required++;
        } else {
            troubles.not_required++;
        }
    }
    *ret_troubles = troubles;
}

static const char *reason_of(const struct pj_report_job *job)
{
    return job->reason ? job->reason : job->reason_code;
}

static bool same_trouble(const void *first, const void *second)
{
    const struct pj_report_job *a = first, *b = second;
    const char *x = reason_of(a), *y = reason_of(b);
    return a->verdict == b->verdict && (x == y || (x && y && strcmp(x, y) == 0));
}

/* " (missed: entry deleted)" */
static void put_why(const void *context, const void *row, struct pj_buffer *buffer)
{
    const struct line *line = context;
    const struct pj_report_job *job = row;
    /* What a slow one's verdict is, proven, says nothing about the trouble. */
    bool slow = trouble_of(line->report, job) == PJ_TROUBLE_SLOW;
    pj_named_put_why(slow ? "" : pj_verdict_name(job->verdict), reason_of(job), line->below_table, buffer);
}

/* `trouble` NONE = the jobs of any class that are not required. */
static void put_jobs(const struct line *line, enum pj_trouble trouble)
{
    const struct pj_report *report = line->report;
    struct pj_named named = {.alike = same_trouble};
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        enum pj_trouble its = trouble_of(report, job);
        if (trouble == PJ_TROUBLE_NONE ? its != PJ_TROUBLE_NONE && !job->required
                                       : its == trouble && job->required)
            pj_named_add(&named, job, job->module, job->target);
    }
    pj_named_put(&named, put_why, line, line->buffer);
}

/* Starts a clause behind what the line already says. */
static void put_clause(struct line *line)
{
    pj_buffer_puts(line->buffer, line->begun ? "; " : "");
    line->begun = true;
}

/* "interrupted by SIGTERM: 30 of 60 compiled and kept, 4 reused, 0 proven" */
static void put_early_end(struct line *line)
{
    const struct pj_report *report = line->report;
    struct pj_report_summary summary;
    put_clause(line);
    pj_text_escape(line->buffer, report->exit_reason, strlen(report->exit_reason));
    pj_report_summarise(report, &summary);
    size_t kept = 0, reused = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        if (trouble_of(report, job) != PJ_TROUBLE_NONE)
            continue;
        kept += job->origin == PJ_ORIGIN_COMPILED || job->origin == PJ_ORIGIN_REPAIRED;
        reused += job->origin == PJ_ORIGIN_REUSED;
    }
    if (report->job_count == 0)
        return;
    if (report->command && strcmp(report->command, "verify") != 0) {
        pj_buffer_printf(line->buffer, ": %zu of %zu compiled and kept", kept, report->job_count);
        if (reused > 0)
            pj_buffer_printf(line->buffer, ", %zu reused", reused);
        if (report->offline.profile_count == 0)
            pj_buffer_printf(line->buffer, ", %zu proven", summary.verdicts[PJ_VERDICT_PROVEN]);
    } else {
        pj_buffer_printf(line->buffer, ": %zu of %zu proven", summary.verdicts[PJ_VERDICT_PROVEN],
                         report->job_count);
    }
}

static void put_troubles(struct line *line, const struct troubles *troubles)
{
    const struct pj_report *report = line->report;
    bool total_said = report->ended_early && report->exit_reason;
    if (total_said) {
        put_early_end(line);
    } else if (report->exit_reason) {
        put_clause(line);
        pj_text_escape(line->buffer, report->exit_reason, strlen(report->exit_reason));
    }
    for (unsigned i = PJ_TROUBLE_NONE + 1; i < PJ_TROUBLE_COUNT; i++) {
        size_t count = troubles->counts[i];
        if (count == 0)
            continue;
        put_clause(line);
        pj_buffer_printf(line->buffer, "%zu ", count);
        if (!total_said)
            pj_buffer_printf(line->buffer, "of %zu ", report->job_count);
        total_said = true;
        pj_buffer_puts(line->buffer, trouble_texts[i]);
        put_jobs(line, (enum pj_trouble)i);
    }
}

/* "2 modules have no target for the GPU here, sm_120, and will be compiled there at first use: a, b" */
static void put_unserved(struct line *line)
{
    const struct pj_report *report = line->report;
    for (size_t i = 0; i < report->unserved_count; i++) {
        const struct pj_report_unserved *unserved = &report->unserved[i];
        if (!unserved->required || (report->targets_given && report->exit_code != PJ_EXIT_OK))
            continue;
        put_clause(line);
        if (report->targets_given) {
            pj_buffer_printf(line->buffer, "not for the GPU here, %s, which -t does not name",
                             unserved->target);
            continue;
        }
        pj_phrase_count(line->buffer, unserved->module_count, "module has", "modules have");
        pj_buffer_printf(
            line->buffer,
            " no target for the GPU here, %s, and will be compiled there at first use: ", unserved->target);
        pj_phrase_names(line->buffer, unserved->modules, unserved->module_count, PJ_NAMED_MAX);
    }
}

static void put_not_required(struct line *line, const struct troubles *troubles)
{
    if (troubles->not_required == 0)
        return;
    put_clause(line);
    pj_buffer_printf(line->buffer, "%zu not required", troubles->not_required);
    put_jobs(line, PJ_TROUBLE_NONE);
}

static void put_manifest(const struct pj_report *report, struct pj_buffer *buffer)
{
    if (!report->manifest)
        return;
    /* A file named like an option. */
    bool dash = report->manifest[0] == '-' && report->manifest[1] != '\0';
    pj_buffer_puts(buffer, dash ? " ./" : " ");
    pj_phrase_quote(buffer, report->manifest);
}

/* The command line that continues or repeats the run. */
static void put_command(const struct pj_report *report, const char *command, struct pj_buffer *buffer)
{
    bool compares = report->against_driver && strcmp(command, "verify") == 0;
    pj_buffer_printf(buffer, "prejit %s%s", command, compares ? " --against-driver" : "");
    for (size_t i = 0; i < report->repeat_option_count; i++) {
        pj_buffer_putc(buffer, ' ');
        pj_phrase_quote(buffer, report->repeat_options[i]);
    }
    put_manifest(report, buffer);
}

/* What is compiled at first use because nobody may read it is not helped by compiling it. */
static bool is_unreadable(const struct pj_report_job *job)
{
    return job->reason_code && strcmp(job->reason_code, "index-not-writable") == 0;
}

static bool is_cured_by_warm(enum pj_trouble trouble)
{
    return trouble == PJ_TROUBLE_COLD || trouble == PJ_TROUBLE_WRONG || trouble == PJ_TROUBLE_UNDONE;
}

/* Is there a required job that is cold, and unreadable or not? */
static bool any_cold(const struct pj_report *report, bool unreadable)
{
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        enum pj_trouble trouble = trouble_of(report, job);
        if (is_cured_by_warm(trouble) && job->required && is_unreadable(job) == unreadable)
            return true;
    }
    return false;
}

/* "; see: prejit doctor": of this cache and this user, which it was asked about. */
static void put_doctor(const struct pj_report *report, struct pj_buffer *buffer)
{
    pj_buffer_puts(buffer, "; see: prejit doctor");
    for (size_t i = 0; i + 1 < report->repeat_option_count; i++) {
        const char *name = report->repeat_options[i];
        if (strcmp(name, "--cache") != 0 && strcmp(name, "--user") != 0 && strcmp(name, "--driver") != 0)
            continue;
        pj_buffer_printf(buffer, " %s ", name);
        pj_phrase_quote(buffer, report->repeat_options[++i]);
    }
    put_manifest(report, buffer);
}

/* What the manifest leaves out, a run of it cannot add. */
static void put_unserved_cure(const struct pj_report *report, struct pj_buffer *buffer)
{
    if (!pj_report_is_unserved(report))
        return;
    pj_buffer_puts(buffer, "; write native among the targets in");
    if (report->manifest && strcmp(report->manifest, "-") == 0)
        pj_buffer_puts(buffer, " the manifest");
    else
        put_manifest(report, buffer);
}

static void put_cure(const struct pj_report *report, const struct troubles *troubles,
                     struct pj_buffer *buffer)
{
    bool cold = any_cold(report, false);
    bool passing =
        troubles->counts[PJ_TROUBLE_PASSING] > 0 || report->exit_code == PJ_EXIT_RETRY || report->ended_early;
    /* A command without a manifest (refresh) is its own cure. */
    bool wait = report->exit_code == PJ_EXIT_RETRY && report->exit_reason && !report->ended_early;
    const char *command = cold && report->manifest && !wait ? "warm" : report->command;
    if (any_cold(report, true))
        put_doctor(report, buffer);
    if (!command || !(cold || passing))
        return;
    bool later = passing && !report->ended_early;
    pj_buffer_puts(buffer, later ? "; run again later: " : passing ? "; run again: " : "; run: ");
    put_command(report, command, buffer);
}

/* " (60 reused, 4 compiled, 1 of them twice)", " (4 compiled by ptxas 13.0.88, not yet seen by a driver)" */
static void put_origins(const struct pj_report *report, const struct pj_report_summary *summary,
                        struct pj_buffer *buffer)
{
    if (summary->reused == 0 && summary->compiled == 0)
        return;
    pj_buffer_puts(buffer, " (");
    if (summary->reused > 0)
        pj_buffer_printf(buffer, "%zu reused", summary->reused);
    if (summary->compiled > 0)
        pj_buffer_printf(buffer, "%s%zu compiled", summary->reused > 0 ? ", " : "", summary->compiled);
    if (summary->compiled > 0 && report->offline.compiler)
        pj_buffer_printf(buffer, " by %s", report->offline.compiler);
    if (summary->repaired > 0)
        pj_buffer_printf(buffer, ", %zu of them twice", summary->repaired);
    pj_buffer_puts(buffer, summary->verdicts[PJ_VERDICT_STORED] > 0 ? ", not yet seen by a driver)" : ")");
}

/* Appends "60 proven" to a list; nothing for 0. */
static void put_part(struct pj_buffer *buffer, bool *first, size_t count, const char *what)
{
    if (count == 0)
        return;
    pj_buffer_printf(buffer, "%s %zu %s", *first ? ":" : ",", count, what);
    *first = false;
}

static void put_plan_parts(const struct pj_report *report, struct pj_buffer *buffer, bool *first)
{
    size_t counts[3] = {0}; /* by enum pj_witness */
    for (size_t i = 0; i < report->job_count; i++) {
        if (report->jobs[i].verdict == PJ_VERDICT_NONE)
            counts[report->jobs[i].witnesses.entry_present]++;
    }
    put_part(buffer, first, counts[PJ_WITNESS_YES], "present");
    put_part(buffer, first, counts[PJ_WITNESS_NO], "to compile");
    size_t unknown = counts[PJ_WITNESS_UNKNOWN];
    if (unknown == 0)
        return;
    if (*first && unknown == report->job_count)
        pj_buffer_puts(buffer, ": presence not known yet");
    else
        pj_buffer_printf(buffer, "%s presence of %zu not known yet", *first ? ":" : ",", unknown);
    *first = false;
    /* plan opens no driver: what it knows of it is the receipt's. */
    if (!report->host.stamp)
        pj_buffer_puts(buffer, " (`prejit warm` has not met this driver yet)");
}

/* "64 jobs: 62 proven (60 reused, 2 compiled), 2 skipped" */
static void put_counts(const struct pj_report *report, struct pj_buffer *buffer)
{
    struct pj_report_summary summary;
    pj_report_summarise(report, &summary);
    bool first = true;
    pj_phrase_count(buffer, summary.jobs, "job", "jobs");
    if (pj_report_is_plan(report))
        put_plan_parts(report, buffer, &first);
    put_part(buffer, &first, summary.verdicts[PJ_VERDICT_PROVEN], "proven");
    put_part(buffer, &first, summary.verdicts[PJ_VERDICT_STORED], "stored");
    if (!first && !report->nothing_to_do && !pj_report_is_plan(report))
        put_origins(report, &summary, buffer);
    put_part(buffer, &first, summary.verdicts[PJ_VERDICT_SKIPPED], "skipped");
    if (report->left_out > 0) {
        pj_buffer_puts(buffer, first ? ": " : ", ");
        pj_phrase_count(buffer, report->left_out, "target", "targets");
        pj_buffer_puts(buffer, " left out");
        first = false;
    }
    if (report->nothing_to_do)
        pj_buffer_puts(buffer, first ? ": nothing to do" : ", nothing to do");
}

static void put_time(const struct pj_report *report, struct pj_buffer *buffer)
{
    char duration[PJ_DURATION_TEXT];
    if (!pj_report_ms_known(true, report->seconds * 1e3) || pj_report_is_plan(report))
        return;
    pj_buffer_printf(buffer, report->nothing_to_do ? " (checked in %s)" : " in %s",
                     pj_text_from_ms(report->seconds * 1e3, duration));
}

static void put_cache(const struct pj_report_cache *cache, struct pj_buffer *buffer)
{
    char used[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    if (!cache->path)
        return;
    pj_buffer_puts(buffer, "; ");
    if (cache->has_content)
        pj_buffer_printf(buffer, "%s of %s in ", pj_text_from_size(cache->bytes, used),
                         pj_text_from_limit(cache->limit_bytes, limit));
    else
        pj_buffer_puts(buffer, "cache ");
    pj_text_escape(buffer, cache->path, strlen(cache->path));
}

/* "; 3 entries of other driver builds made room": what a run removed must be seen, also where all went well.
 */
static void put_evicted(const struct pj_report *report, struct pj_buffer *buffer)
{
    if (!report->has_store || report->store.stale_evicted + report->store.evicted == 0)
        return;
    pj_buffer_puts(buffer, "; ");
    if (report->store.stale_evicted > 0) {
        pj_phrase_count(buffer, report->store.stale_evicted, "entry", "entries");
        pj_buffer_puts(buffer, " of other driver builds");
    }
    if (report->store.evicted > 0) {
        pj_buffer_puts(buffer, report->store.stale_evicted > 0 ? " and " : "");
        pj_phrase_count(buffer, report->store.evicted, "entry", "entries");
        pj_buffer_puts(buffer, " of this driver build");
    }
    pj_buffer_puts(buffer, report->store.evicted > 0 ? " made room (--evict)" : " made room");
}

/* "; code as the driver's own in 10 of 10": of the proven ones. */
static void put_against(const struct pj_report *report, struct pj_buffer *buffer)
{
    struct pj_report_summary summary;
    size_t same = 0;
    pj_report_summarise(report, &summary);
    if (!report->against_driver || summary.verdicts[PJ_VERDICT_PROVEN] == 0)
        return;
    for (size_t i = 0; i < report->job_count; i++)
        same += report->jobs[i].against_driver == PJ_AGAINST_SAME;
    pj_buffer_printf(buffer, "; code as the driver's own in %zu of %zu", same,
                     summary.verdicts[PJ_VERDICT_PROVEN]);
}

int pj_render_answer(const struct pj_report *report, bool below_table, struct pj_buffer *buffer,
                     struct pj_error **err)
{
    struct troubles troubles;
    struct line line = {.report = report, .buffer = buffer, .below_table = below_table};
    count_troubles(report, &troubles);
    if (report->exit_code != PJ_EXIT_OK && !report->dies_by_signal)
        pj_buffer_printf(buffer, "exit %d: ", (int)report->exit_code);
    bool trouble = troubles.required > 0 || report->exit_reason || pj_report_is_unserved(report);
    if (trouble)
        put_troubles(&line, &troubles);
    /* What is wrong may be none of the jobs' fault. */
    if (!trouble ||
        (report->exit_reason && !report->ended_early && troubles.required == 0 && report->job_count > 0)) {
        put_clause(&line);
        put_counts(report, buffer);
        put_time(report, buffer);
    }
    put_unserved(&line);
    put_not_required(&line, &troubles);
    put_evicted(report, buffer);
    put_against(report, buffer);
    if (!trouble)
        put_cache(&report->cache, buffer);
    put_unserved_cure(report, buffer);
    put_cure(report, &troubles, buffer);
    return pj_buffer_check(buffer, err);
}
