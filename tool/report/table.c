/* SPDX-License-Identifier: Apache-2.0 */
/* The table of jobs for people, with what programs must know below it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/column.h"
#include "report/detail.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/saving.h"
#include "report/trouble.h"

/* Lines of the table without -v. */
enum { ROWS_MAX = 40 };

static bool put_text(struct pj_cell *cell, const char *text)
{
    if (text)
        pj_buffer_puts(&cell->text, text);
    return text != NULL;
}

static bool get_module(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    return put_text(cell, job->module);
}

static bool get_target(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    return put_text(cell, job->target);
}

static bool get_options(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    pj_jit_options_text(&job->options, &cell->text);
    return cell->text.size > 0;
}

static bool get_verdict(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    if (job->verdict == PJ_VERDICT_NONE) {
        if (job->witnesses.entry_present == PJ_WITNESS_UNKNOWN)
            return false;
        return put_text(cell, job->witnesses.entry_present == PJ_WITNESS_YES ? "present" : "to compile");
    }
    pj_buffer_puts(&cell->text, pj_verdict_name(job->verdict));
    if (job->slow)
        pj_buffer_puts(&cell->text, ", slow");
    return true;
}

static bool get_to_ptx(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    cell->number = job->to_ptx_ms;
    return pj_report_ms_known(job->has_to_ptx_ms, job->to_ptx_ms);
}

static bool get_cold(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    cell->number = job->cold_ms;
    return pj_report_ms_known(job->has_cold_ms, job->cold_ms);
}

static bool get_warm(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    double minimum, maximum;
    return pj_samples_summary(&job->warm, &cell->number, &minimum, &maximum);
}

static bool get_minimum(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    double median, maximum;
    return pj_samples_summary(&job->warm, &median, &cell->number, &maximum);
}

static bool get_maximum(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    double median, minimum;
    return pj_samples_summary(&job->warm, &median, &minimum, &cell->number);
}

static bool get_speedup(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    return pj_report_speedup(job, &cell->number);
}

/* Of all its entries, where all are known. */
static bool get_entry_bytes(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    bool known = job->entry_count > 0;
    cell->count = 0;
    for (size_t i = 0; i < job->entry_count; i++) {
        known &= job->entries[i].has_bytes;
        if (__builtin_add_overflow(cell->count, job->entries[i].bytes, &cell->count))
            return false;
    }
    return known;
}

/* The name of the only one, or how many there are: the lines below name them. */
static bool get_entry(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    if (job->entry_count > 1)
        pj_buffer_printf(&cell->text, "%zu entries", job->entry_count);
    else if (job->entry_count == 1)
        return put_text(cell, job->entries[0].name);
    return job->entry_count > 0;
}

static void put_witness(struct pj_buffer *text, const char *name, enum pj_witness witness)
{
    if (witness == PJ_WITNESS_UNKNOWN)
        return;
    pj_buffer_printf(text, "%s%s%s", text->size > 0 ? ", " : "", witness == PJ_WITNESS_NO ? "not " : "",
                     name);
}

static bool get_witnesses(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    put_witness(&cell->text, "jit-disabled", job->witnesses.jit_disabled);
    put_witness(&cell->text, "canary", job->witnesses.canary);
    put_witness(&cell->text, "wall-time", job->witnesses.wall_time_zero);
    put_witness(&cell->text, "entry", job->witnesses.entry_present);
    put_witness(&cell->text, "faster", job->witnesses.faster);
    return cell->text.size > 0;
}

static bool get_peak_rss(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    cell->count = job->peak_rss_bytes;
    return job->has_peak_rss;
}

static bool get_against(const void *row, struct pj_cell *cell)
{
    const struct pj_report_job *job = row;
    pj_buffer_puts(&cell->text, pj_against_name(job->against_driver));
    return cell->text.size > 0;
}

static const struct pj_column job_columns[] = {
    {"MODULE", NULL, PJ_COLUMN_TEXT, false, get_module},
    {"TARGET", NULL, PJ_COLUMN_TEXT, false, get_target},
    {"OPTIONS", NULL, PJ_COLUMN_TEXT, true, get_options},
    {"VERDICT", NULL, PJ_COLUMN_TEXT, false, get_verdict},
    {"TO PTX", NULL, PJ_COLUMN_MS, false, get_to_ptx}, /* where a module has PTX made first */
    {"COMPILE", NULL, PJ_COLUMN_MS, false, get_cold},
    {"WARM", NULL, PJ_COLUMN_MS, false, get_warm},
    {"MIN", NULL, PJ_COLUMN_MS, true, get_minimum},
    {"MAX", NULL, PJ_COLUMN_MS, true, get_maximum},
    {"SPEEDUP", NULL, PJ_COLUMN_RATIO, false, get_speedup},
    {"SIZE", NULL, PJ_COLUMN_BYTES, false, get_entry_bytes},
    {"PEAK RSS", NULL, PJ_COLUMN_BYTES, true, get_peak_rss},
    {"ENTRY", NULL, PJ_COLUMN_TEXT, true, get_entry},
    {"WITNESSES", NULL, PJ_COLUMN_TEXT, true, get_witnesses},
    {"CODE", NULL, PJ_COLUMN_TEXT, false, get_against}, /* of runs that compared code */
};

/* Without the columns that are of no use in this run; returns how many are left. */
static size_t choose_columns(const struct pj_report *report, struct pj_column ret_columns[])
{
    bool prepared = false;
    size_t count = 0;
    for (size_t i = 0; i < report->job_count; i++)
        prepared |= report->jobs[i].has_to_ptx_ms;
    for (size_t i = 0; i < PJ_COUNT(job_columns); i++) {
        const struct pj_column *column = &job_columns[i];
        if ((column->get != get_to_ptx || prepared) && (column->get != get_against || report->against_driver))
            ret_columns[count++] = *column;
    }
    return count;
}

/* The jobs that get a line; the others are counted, those in trouble apart. */
struct choice {
    const void **rows;
    size_t row_count;
    size_t hidden[PJ_VERDICT_COUNT], hidden_trouble;
};

static void free_choice(struct choice *choice)
{
    free(choice->rows);
}

static void hide(struct choice *choice, const struct pj_report_job *job, bool trouble)
{
    if (trouble)
        choice->hidden_trouble++;
    else if (job->verdict < PJ_VERDICT_COUNT)
        choice->hidden[job->verdict]++;
}

static int choose(const struct pj_report *report, bool verbose, struct choice *ret_choice,
                  struct pj_error **err)
{
    /* Where there was nothing to do the answer says it all. */
    bool all = verbose || (report->job_count <= ROWS_MAX && !report->nothing_to_do);
    size_t maximum = all ? report->job_count : ROWS_MAX;
    struct choice choice = {.rows = calloc(maximum + 1, sizeof *choice.rows)};
    if (!choice.rows)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < report->job_count; i++) {
        const struct pj_report_job *job = &report->jobs[i];
        bool trouble = pj_report_trouble(report, job) != PJ_TROUBLE_NONE;
        if ((all || trouble || job->against_detail) && choice.row_count < maximum)
            choice.rows[choice.row_count++] = job;
        else
            hide(&choice, job, trouble);
    }
    *ret_choice = choice;
    return 0;
}

/* "... 900 more proven, 60 more skipped (-v shows all)"; "60 proven (-v lists them)" where no job has a line.
 */
static void put_hidden(const struct pj_report *report, const struct choice *choice, struct pj_buffer *buffer)
{
    bool some = false, none_shown = choice->row_count == 0;
    if (none_shown && report->nothing_to_do)
        return;
    if (choice->hidden_trouble > 0) {
        pj_buffer_printf(buffer, "... %zu more in trouble", choice->hidden_trouble);
        some = true;
    }
    for (unsigned i = 0; i < PJ_VERDICT_COUNT; i++) {
        if (choice->hidden[i] == 0)
            continue;
        const char *name = i == PJ_VERDICT_NONE ? "planned" : pj_verdict_name((enum pj_verdict)i);
        const char *before = some ? ", " : none_shown ? "" : "... ";
        pj_buffer_printf(buffer, "%s%zu %s%s", before, choice->hidden[i], none_shown ? "" : "more ", name);
        some = true;
    }
    if (some)
        pj_buffer_puts(buffer, none_shown ? " (-v lists them)\n" : " (-v shows all)\n");
}

/* Each part has a blank line before it, unless it is on top. */
static void put_environment(const struct pj_report *report, size_t start, struct pj_buffer *buffer)
{
    if (report->environment_count == 0)
        return;
    pj_buffer_puts(buffer, buffer->size > start ? "\n" : "");
    pj_buffer_puts(buffer, "programs must have in their environment:\n");
    for (size_t i = 0; i < report->environment_count; i++) {
        pj_buffer_printf(buffer, "    %s=", report->environment[i].name);
        pj_phrase_quote(buffer, report->environment[i].value);
        pj_buffer_putc(buffer, '\n');
    }
}

static void put_compiler(const char *name, const char *version, const char *path, struct pj_buffer *buffer)
{
    pj_buffer_printf(buffer, "    %s%s%s  ", name, version ? " " : "", version ? version : "");
    pj_text_escape(buffer, path, strlen(path));
    pj_buffer_putc(buffer, '\n');
}

/* What made the PTX of modules, and what compiled in place of a driver. */
static void put_compilers(const struct pj_report *report, size_t start, struct pj_buffer *buffer)
{
    const struct pj_report_library *nvrtc = &report->nvrtc;
    const struct pj_report_library *linker = &report->nvjitlink;
    const struct pj_report_offline *offline = &report->offline;
    if (!nvrtc->path && !linker->path && !offline->compiler_path)
        return;
    pj_buffer_puts(buffer, buffer->size > start ? "\n" : "");
    pj_buffer_puts(buffer, "compilers:\n");
    if (nvrtc->path)
        put_compiler("NVRTC", nvrtc->build ? nvrtc->build : nvrtc->version, nvrtc->path, buffer);
    if (linker->path)
        put_compiler("nvJitLink", linker->build ? linker->build : linker->version, linker->path, buffer);
    if (offline->compiler_path)
        put_compiler(offline->compiler ? offline->compiler : "?", NULL, offline->compiler_path, buffer);
}

int pj_render_table(const struct pj_report *report, bool verbose, struct pj_buffer *buffer,
                    struct pj_error **err)
{
    __attribute__((cleanup(free_choice))) struct choice choice = {0};
    size_t start = buffer->size;
    int result = choose(report, verbose, &choice, err);
    if (result)
        return result;
    struct pj_column columns[PJ_COUNT(job_columns)];
    const struct pj_column_table table = {.columns = columns,
                                          .column_count = choose_columns(report, columns),
                                          .rows = choice.rows,
                                          .row_count = choice.row_count};
    result = pj_column_text(&table, verbose, buffer, err);
    if (result)
        return result;
    put_hidden(report, &choice, buffer);
    if (verbose)
        pj_report_entries(choice.rows, choice.row_count, buffer);
    result = pj_report_details(report, choice.rows, choice.row_count, verbose, buffer, err);
    if (result)
        return result;
    if (!report->nothing_to_do || verbose) {
        put_environment(report, start, buffer);
        result = pj_report_put_saving(report, start, buffer, err);
    }
    if (result)
        return result;
    if (verbose)
        put_compilers(report, start, buffer);
    pj_notes_put(report->notes, report->note_count, start, buffer);
    return pj_buffer_check(buffer, err);
}
