/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the report model and hands it out as a result. */
#include "session/run/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "manifest/help.h"
#include "report/render.h"
#include "version.h"

struct pj_result {
    struct pj_session *session; /* owns every string of the report */
    struct pj_report report;
    char early_end[64]; /* why the run ended early, where exit_reason says that */
};

const char *pj_result_tool_version(void)
{
    return PREJIT_VERSION;
}

static int fill_entries(struct pj_session *session, const struct pj_outcome *outcome,
                        struct pj_report_job *row, struct pj_error **err)
{
    char path[PJ_ENTRY_PATH_TEXT];
    row->entries = pj_arena_calloc(&session->arena, outcome->entry_count + 1, sizeof *row->entries);
    if (!row->entries)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < outcome->entry_count; i++) {
        const struct pj_outcome_entry *entry = &outcome->entries[i];
        row->entries[i] = (struct pj_report_entry){
            .name = pj_arena_strdup(&session->arena, pj_entry_path(entry->hash, path)),
            .has_bytes = entry->file_bytes > 0,
            .bytes = entry->file_bytes,
        };
        if (!row->entries[i].name)
            return pj_error_no_memory(err);
    }
    row->entry_count = outcome->entry_count;
    return 0;
}

static bool has_entry(const struct pj_receipt_job *job, const struct pj_outcome_entry *entry)
{
    for (size_t i = 0; i < job->entry_count; i++) {
        if (job->entries[i].hash == entry->hash && job->entries[i].size_bytes == entry->file_bytes)
            return true;
    }
    return false;
}

/* What made the entries in place of a driver: in this run, or in the one that the receipt tells of, where
 * they still are those. */
static const char *made_offline_by(const struct pj_outcome *outcome)
{
    const struct pj_receipt_job *before = outcome->before;
    bool same = outcome->origin == PJ_ORIGIN_REUSED && before && outcome->entry_count > 0;
    for (size_t i = 0; same && i < outcome->entry_count; i++)
        same = has_entry(before, &outcome->entries[i]);
    return same ? before->row.offline_compiler : outcome->offline_compiler;
}

int pj_result_row(struct pj_session *session, size_t index, struct pj_report_job *ret_row,
                  struct pj_error **err)
{
    const struct pj_job *job = &session->plan->jobs[index];
    const struct pj_outcome *outcome = &session->outcomes[index];
    struct pj_report_job row = {
        .id = job->id,
        .module = job->name,
        .modules = job->names,
        .module_count = job->name_count,
        .target_kind = job->kind == PJ_JOB_FOREIGN ? PJ_TARGET_KIND_FOREIGN : PJ_TARGET_KIND_NATIVE,
        .options = job->options,
        .required = job->required,
        .verdict = outcome->verdict,
        .reason_code = outcome->reason_code,
        .reason = outcome->reason,
        .passing = outcome->passing,
        .slow = outcome->slow,
        .origin = outcome->origin,
        .offline_compiler = made_offline_by(outcome),
        .against_driver = outcome->against_driver,
        .against_detail = outcome->against_detail,
        .has_compile_ms = outcome->has_compile_ms,
        .compile_ms = outcome->compile_ms,
        .has_cold_ms = outcome->has_cold_ms,
        .cold_ms = outcome->cold_ms,
        .cold_from_receipt = outcome->cold_from_receipt,
        .warm = outcome->warm,
        .witnesses = outcome->witnesses,
        .has_peak_rss = outcome->peak_rss_bytes > 0,
        .peak_rss_bytes = outcome->peak_rss_bytes,
        .log = outcome->log,
        .has_to_ptx_ms = job->has_to_ptx_ms,
        .to_ptx_ms = job->to_ptx_ms,
        .header_note = job->header_note,
    };
    row.target = job->target ? pj_arena_printf(&session->arena, "sm_%u", job->target)
                             : pj_arena_strdup(&session->arena, "native");
    int r = row.target ? fill_entries(session, outcome, &row, err) : pj_error_no_memory(err);
    if (r == 0)
        *ret_row = row;
    return r;
}

/* What a program must have set to read this cache, where that is not the default. */
static int fill_environment(struct pj_session *session, struct pj_report *report, struct pj_error **err)
{
    const struct pj_cache_location *location = &session->location;
    struct pj_report_variable *variables = pj_arena_calloc(&session->arena, 2, sizeof *variables);
    if (!variables)
        return pj_error_no_memory(err);
    if (location->path_source != PJ_CACHE_FROM_DEFAULT) {
        variables[report->environment_count++] =
            (struct pj_report_variable){.name = "CUDA_CACHE_PATH", .value = location->path};
    }
    if (location->limit_bytes != PJ_CACHE_DEFAULT_LIMIT_BYTES) {
        const char *value = pj_arena_printf(&session->arena, "%" PRIu64, location->limit_bytes);
        if (!value)
            return pj_error_no_memory(err);
        variables[report->environment_count++] =
            (struct pj_report_variable){.name = "CUDA_CACHE_MAXSIZE", .value = value};
    }
    report->environment = variables;
    return 0;
}

static int fill_cache(struct pj_session *session, struct pj_report *report, struct pj_error **err)
{
    report->cache = (struct pj_report_cache){.path = session->location.path,
                                             .limit_bytes = session->location.limit_bytes};
    struct pj_snapshot snapshot = {0};
    PJ_CLEANUP_ERROR struct pj_error *unreadable = NULL;
    int r = pj_session_snapshot(session, &snapshot, &unreadable);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0) /* a directory that this user may not read: what is in it stays unknown */
        return 0;
    report->cache.has_content = snapshot.exists;
    report->cache.bytes = snapshot.bytes;
    report->cache.entries = snapshot.count;
    pj_snapshot_free(&snapshot);
    return 0;
}

/* A cure that leaves out `--cache DIR` would warm another cache than the one that was asked for. */
static int fill_repeat_options(struct pj_session *session, struct pj_report *report, struct pj_error **err)
{
    const struct pj_options *options = session->options;
    size_t most = 14 + 2 * (options->target_count + options->module_count + options->offline_count);
    report->repeat_options = pj_arena_calloc(&session->arena, most, sizeof *report->repeat_options);
    if (!report->repeat_options)
        return pj_error_no_memory(err);
    size_t used = 0;
    if (options->cache) {
        report->repeat_options[used++] = "--cache";
        report->repeat_options[used++] = options->cache;
    }
    if (options->repeat_driver) {
        report->repeat_options[used++] = "--driver";
        report->repeat_options[used++] = options->repeat_driver;
    }
    if (options->nvrtc) {
        report->repeat_options[used++] = "--nvrtc";
        report->repeat_options[used++] = options->nvrtc;
    }
    for (size_t i = 0; i < options->offline_count; i++) {
        report->repeat_options[used++] = "--offline";
        report->repeat_options[used++] = options->offline[i];
    }
    if (options->ptxas) {
        report->repeat_options[used++] = "--ptxas";
        report->repeat_options[used++] = options->ptxas;
    }
    if (options->nvjitlink) {
        report->repeat_options[used++] = "--nvjitlink";
        report->repeat_options[used++] = options->nvjitlink;
    }
    if (options->user) {
        report->repeat_options[used++] = "--user";
        report->repeat_options[used++] = options->user;
    }
    for (size_t i = 0; i < options->target_count; i++) {
        report->repeat_options[used++] = "-t";
        report->repeat_options[used++] = options->targets[i];
    }
    for (size_t i = 0; i < options->module_count; i++) {
        report->repeat_options[used++] = "-m";
        report->repeat_options[used++] = options->modules[i];
    }
    report->repeat_option_count = used;
    return 0;
}

/* The modules with the note of the job number `first`; none where one before that has it. */
static void name_modules(const struct pj_report *report, size_t first, struct pj_buffer *names)
{
    enum { NAMED_MAX = 8 };
    const char *note = report->jobs[first].header_note, *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        if (!job->header_note || strcmp(job->header_note, note) != 0)
            continue;
        if (i < first)
            return;
        if ((!last || strcmp(last, job->module) != 0) && count++ < NAMED_MAX)
            pj_buffer_printf(names, "%s%s", last ? ", " : "", job->module);
        last = job->module;
    }
    if (count > NAMED_MAX)
        pj_buffer_printf(names, " and %zu more", count - NAMED_MAX);
}

/* What a program would not find, once for all jobs that have it: said in every run, also one with nothing to
 * do. */
static int note_headers(struct pj_session *session, const struct pj_report *report, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < report->job_count && r == 0; i++) {
        PJ_CLEANUP_BUFFER struct pj_buffer names = {0};
        if (!report->jobs[i].header_note)
            continue;
        name_modules(report, i, &names);
        if (names.failed)
            r = pj_error_no_memory(err);
        else if (names.size > 0)
            r = pj_session_note(session, err, "%s: %s", pj_buffer_text(&names), report->jobs[i].header_note);
    }
    return r;
}

static int fill_common(struct pj_session *session, struct pj_report *report, struct pj_error **err)
{
    report->command = session->command;
    report->manifest = session->options->manifest;
    report->unserved = session->unserved;
    report->unserved_count = session->unserved_count;
    report->targets_given = session->selection.target_count > 0;
    int r = note_headers(session, report, err);
    report->notes = session->notes;
    report->note_count = session->note_count;
    if (r == 0)
        r = fill_environment(session, report, err);
    if (r == 0)
        r = fill_cache(session, report, err);
    return r == 0 ? fill_repeat_options(session, report, err) : r;
}

static void fill_store(const struct pj_session *session, struct pj_report *report)
{
    if (!session->store)
        return;
    struct pj_store_statistics statistics;
    pj_store_statistics(session->store, &statistics);
    report->has_store = true;
    report->store = (struct pj_report_store){
        .lock_holds = statistics.lock_holds,
        .longest_hold_ms = statistics.longest_hold_ms,
        .longest_wait_ms = statistics.longest_wait_ms,
        .stale_evicted = statistics.stale_evicted,
        .evicted = statistics.evicted,
    };
}

static int fill_jobs(struct pj_session *session, struct pj_report *report, struct pj_error **err)
{
    size_t count = session->plan ? session->plan->job_count : 0;
    if (!session->outcomes)
        count = 0;
    report->jobs = pj_arena_calloc(&session->arena, count + 1, sizeof *report->jobs);
    if (!report->jobs)
        return pj_error_no_memory(err);
    report->job_count = count;
    report->left_out = session->plan ? session->plan->left_out.count : 0;
    for (size_t i = 0; i < count; i++) {
        int r = pj_result_row(session, i, &report->jobs[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* `signal_number` 0 = not known, or no signal. A run that ended before it knew its jobs has none to say so.
 */
static void judge_early_end(struct pj_result *result, int signal_number)
{
    const struct pj_session *session = result->session;
    struct pj_report *report = &result->report;
    bool in_vain = !session->outcomes && !report->nothing_to_do;
    bool too_late = !session->interrupted && !in_vain && pj_report_exit(report) == PJ_EXIT_OK;
    bool impossible = session->exit_reason && session->exit_status == PJ_EXIT_ENVIRONMENT;
    if (!(session->interrupted || session->deadline_passed) || impossible || too_late)
        return;
    const char *name = signal_number > 0 ? sigabbrev_np(signal_number) : NULL;
    (void)snprintf(result->early_end, sizeof result->early_end, "%s%s%s%s",
                   session->interrupted ? "interrupted" : "the deadline passed", name ? " by SIG" : "",
                   name ? name : "", in_vain ? " before the jobs were known" : "");
    report->ended_early = true;
    report->exit_reason = result->early_end;
    if (in_vain)
        report->exit_code = PJ_EXIT_RETRY;
}

static int finish(struct pj_session **session, struct pj_result *result, struct pj_result **ret_result)
{
    result->session = PJ_STEAL(*session);
    result->report.seconds = (pj_clock_ms() - result->session->begin_ms) / 1e3;
    result->report.exit_code = pj_report_exit(&result->report);
    result->report.exit_reason = result->session->exit_reason;
    if (result->report.exit_reason)
        result->report.exit_code = pj_exit_combine(result->report.exit_code, result->session->exit_status);
    judge_early_end(result, 0);
    *ret_result = result;
    return 0;
}

int pj_result_from_session(struct pj_session **session, struct pj_result **ret_result, struct pj_error **err)
{
    struct pj_session *from = *session;
    struct pj_result *result = calloc(1, sizeof *result);
    if (!result)
        return pj_error_no_memory(err);
    struct pj_report *report = &result->report;
    report->host = (struct pj_report_host){
        .driver_version = from->machine.driver_version,
        .kernel_driver = from->now.host.kernel_driver,
        .cuda_version = from->machine.cuda_version,
        .stamp = from->stamp,
        .devices = from->machine.devices,
        .device_count = from->machine.device_count,
    };
    report->phases = (struct pj_report_phases){
        .has_prepare = from->phases.has_prepare,
        .prepare_ms = from->phases.prepare_ms,
        .has_compile = from->phases.has_compile,
        .compile_ms = from->phases.compile_ms,
        .has_prove = from->phases.has_prove,
        .prove_ms = from->phases.prove_ms,
    };
    report->nvrtc = from->nvrtc.library;
    report->nvjitlink = from->nvjitlink.library;
    report->offline = from->offline;
    report->against_driver = from->options->against_driver;
    int r = fill_jobs(from, report, err);
    if (r == 0)
        r = fill_common(from, report, err);
    if (r < 0) {
        free(result);
        return r;
    }
    fill_store(from, report);
    pj_store_close(PJ_STEAL(from->store), false);
    return finish(session, result, ret_result);
}

int pj_result_from_receipt(struct pj_session **session, struct pj_result **ret_result, struct pj_error **err)
{
    struct pj_session *from = *session;
    const struct pj_receipt *receipt = from->receipt;
    struct pj_result *result = calloc(1, sizeof *result);
    if (!result)
        return pj_error_no_memory(err);
    struct pj_report *report = &result->report;
    report->jobs = pj_arena_calloc(&from->arena, receipt->job_count + 1, sizeof *report->jobs);
    if (!report->jobs) {
        free(result);
        return pj_error_no_memory(err);
    }
    report->host = receipt->host;
    report->host.kernel_driver = from->now.host.kernel_driver;
    report->nvrtc = receipt->nvrtc;
    report->nvjitlink = receipt->nvjitlink;
    report->nothing_to_do = true;
    report->left_out = receipt->left_out;
    report->job_count = receipt->job_count;
    for (size_t i = 0; i < receipt->job_count; i++) {
        struct pj_report_job *row = &report->jobs[i];
        *row = receipt->jobs[i].row;
        row->origin = PJ_ORIGIN_REUSED;
        row->has_compile_ms = false; /* nothing was compiled in this run */
        row->cold_from_receipt = true;
        row->has_peak_rss = false;
        row->log = NULL;
    }
    int r = fill_common(from, report, err);
    if (r < 0) {
        free(result);
        return r;
    }
    pj_store_close(PJ_STEAL(from->store), false);
    return finish(session, result, ret_result);
}

int pj_result_exit_code(const struct pj_result *result)
{
    return (int)result->report.exit_code;
}

bool pj_result_interrupted(const struct pj_result *result)
{
    return result->session->interrupted;
}

void pj_result_set_signal(struct pj_result *result, int signal_number)
{
    result->report.dies_by_signal = true;
    judge_early_end(result, signal_number);
}

static int steal_text(int r, struct pj_buffer *buffer, char **ret_text, struct pj_error **err)
{
    if (r == 0)
        r = pj_buffer_check(buffer, err);
    if (r == 0 && !buffer->data && !pj_buffer_reserve(buffer, 0))
        r = pj_error_no_memory(err);
    if (r == 0) {
        buffer->data[buffer->size] = '\0';
        *ret_text = PJ_STEAL(buffer->data);
    }
    pj_buffer_free(buffer);
    return r;
}

int pj_result_table(const struct pj_result *result, bool verbose, char **ret_text, struct pj_error **err)
{
    struct pj_buffer buffer = {0};
    return steal_text(pj_render_table(&result->report, verbose, &buffer, err), &buffer, ret_text, err);
}

int pj_result_json(const struct pj_result *result, char **ret_text, struct pj_error **err)
{
    struct pj_buffer buffer = {0};
    return steal_text(pj_render_json(&result->report, &buffer, err), &buffer, ret_text, err);
}

int pj_result_answer(const struct pj_result *result, bool below_table, char **ret_text, struct pj_error **err)
{
    struct pj_buffer buffer = {0};
    return steal_text(pj_render_answer(&result->report, below_table, &buffer, err), &buffer, ret_text, err);
}

int pj_manifest_help_text(char **ret_text, struct pj_error **err)
{
    struct pj_buffer buffer = {0};
    return steal_text(pj_manifest_help(&buffer, err), &buffer, ret_text, err);
}

void pj_result_free(struct pj_result *result)
{
    if (!result)
        return;
    pj_session_free(result->session);
    free(result);
}

int pj_error_exit_code(const struct pj_error *error)
{
    switch (pj_error_code(error)) {
    case PJ_OK:
        return PJ_EXIT_OK;
    case PJ_ERROR_USAGE:
    case PJ_ERROR_MANIFEST:
    case PJ_ERROR_UNSUPPORTED:
        return PJ_EXIT_USAGE;
    case PJ_ERROR_ENVIRONMENT:
    case PJ_ERROR_IO:
    case PJ_ERROR_NO_MEMORY:
        return PJ_EXIT_ENVIRONMENT;
    case PJ_ERROR_BUSY:
    case PJ_ERROR_INTERRUPTED:
        return PJ_EXIT_RETRY;
    default:
        /* A system call that failed (no more descriptors, no more processes) is the machine's fault. */
        return error->errnum != 0 ? PJ_EXIT_ENVIRONMENT : PJ_EXIT_FAILED;
    }
}
