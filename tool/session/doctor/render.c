/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says: the findings as blocks of lines, as JSON, and the answer. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/column.h"
#include "report/envelope.h"
#include "report/phrase.h"
#include "session/doctor/doctor.h"

static bool put_optional(struct pj_cell *cell, const char *text)
{
    if (text)
        pj_buffer_puts(&cell->text, text);
    return text != NULL;
}

static bool get_code(const void *row, struct pj_cell *cell)
{
    const struct pj_finding *finding = row;
    pj_buffer_puts(&cell->text, pj_finding_info(finding->code)->code);
    return true;
}

static bool get_severity(const void *row, struct pj_cell *cell)
{
    const struct pj_finding *finding = row;
    pj_buffer_puts(&cell->text, pj_severity_name(finding->severity));
    return true;
}

static bool get_subject(const void *row, struct pj_cell *cell)
{
    const struct pj_finding *finding = row;
    pj_buffer_puts(&cell->text, finding->subject);
    return true;
}

static bool get_found(const void *row, struct pj_cell *cell)
{
    const struct pj_finding *finding = row;
    pj_buffer_puts(&cell->text, finding->found);
    return true;
}

static bool get_cure(const void *row, struct pj_cell *cell)
{
    const struct pj_finding *finding = row;
    return put_optional(cell, finding->cure);
}

static const struct pj_column finding_columns[] = {
    {NULL, "code", PJ_COLUMN_TEXT, false, get_code},
    {NULL, "severity", PJ_COLUMN_TEXT, false, get_severity},
    {NULL, "subject", PJ_COLUMN_TEXT, false, get_subject},
    {NULL, "found", PJ_COLUMN_TEXT, false, get_found},
    {NULL, "cure", PJ_COLUMN_TEXT, false, get_cure},
};

static bool get_who(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->program.who);
}

static bool get_user(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    cell->count = doctor->program.uid;
    return doctor->program.uid != (uid_t)-1;
}

static bool get_read(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->read_path);
}

static bool get_filled(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->filled_path);
}

static bool get_limit(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    cell->count = doctor->limit_bytes <= INT64_MAX ? doctor->limit_bytes : INT64_MAX;
    return doctor->program.environment_known;
}

static bool get_bytes(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    cell->count = doctor->bytes;
    return doctor->has_content;
}

static bool get_entries(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    cell->count = doctor->entries;
    return doctor->has_content;
}

static bool get_driver(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->facts.library);
}

static bool get_driver_version(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->facts.version);
}

static bool get_kernel_driver(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->facts.kernel_version);
}

static bool get_nvrtc(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->toolkit.nvrtc);
}

static bool get_nvjitlink(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->toolkit.nvjitlink);
}

static bool get_ptxas(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->toolkit.ptxas);
}

static bool get_offline_compiler(const void *row, struct pj_cell *cell)
{
    const struct pj_doctor *doctor = row;
    return put_optional(cell, doctor->offline_compiler);
}

static bool get_answer(const void *row, struct pj_cell *cell)
{
    pj_doctor_answer(row, &cell->text);
    return true;
}

static bool get_exit_code(const void *row, struct pj_cell *cell)
{
    cell->count = (uint64_t)pj_doctor_exit_code(row);
    return true;
}

static const struct pj_column doctor_columns[] = {
    {NULL, "program", PJ_COLUMN_TEXT, false, get_who},
    {NULL, "uid", PJ_COLUMN_COUNT, false, get_user},
    {NULL, "reads", PJ_COLUMN_TEXT, false, get_read},
    {NULL, "fills", PJ_COLUMN_TEXT, false, get_filled},
    {NULL, "limit_bytes", PJ_COLUMN_COUNT, false, get_limit},
    {NULL, "bytes", PJ_COLUMN_COUNT, false, get_bytes},
    {NULL, "entries", PJ_COLUMN_COUNT, false, get_entries},
    {NULL, "driver", PJ_COLUMN_TEXT, false, get_driver},
    {NULL, "driver_version", PJ_COLUMN_TEXT, false, get_driver_version},
    {NULL, "kernel_driver", PJ_COLUMN_TEXT, false, get_kernel_driver},
    {NULL, "nvrtc", PJ_COLUMN_TEXT, false, get_nvrtc},
    {NULL, "nvjitlink", PJ_COLUMN_TEXT, false, get_nvjitlink},
    {NULL, "ptxas", PJ_COLUMN_TEXT, false, get_ptxas},
    {NULL, "offline_compiler", PJ_COLUMN_TEXT, false, get_offline_compiler},
    {NULL, "answer", PJ_COLUMN_TEXT, false, get_answer},
    {NULL, "exit_code", PJ_COLUMN_COUNT, false, get_exit_code},
};

int pj_doctor_render_json(const struct pj_doctor *doctor, struct pj_buffer *text, struct pj_error **err)
{
    PJ_CLEANUP_FREE const void **rows = calloc(doctor->findings.count + 1, sizeof *rows);
    if (!rows)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < doctor->findings.count; i++)
        rows[i] = &doctor->findings.items[i];
    const struct pj_column_table findings = {
        .columns = finding_columns,
        .column_count = PJ_COUNT(finding_columns),
        .rows = rows,
        .row_count = doctor->findings.count,
    };
    const struct pj_envelope envelope = {.command = "doctor", .exit_code = pj_doctor_exit_code(doctor)};
    pj_envelope_begin(&envelope, text);
    pj_buffer_puts(text, ",\n  \"result\": ");
    int r = pj_column_json_object(doctor_columns, PJ_COUNT(doctor_columns), doctor, text, err);
    pj_buffer_puts(text, ",\n  \"findings\": ");
    if (r == 0)
        r = pj_column_json(&findings, text, err);
    return r == 0 ? pj_envelope_end(&envelope, text, err) : r;
}

/* One line, or several: broken at blanks before `columns`, those behind the first set in by `indent`. */
static void put_wrapped(struct pj_buffer *text, const char *line, size_t indent, size_t columns)
{
    size_t at = indent;
    bool first = true;
    for (const char *word = line; *word;) {
        size_t size = strcspn(word, " ");
        size_t width = pj_phrase_columns(word, size);
        if (!first && columns > 0 && at + 1 + width > columns) {
            pj_buffer_printf(text, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            pj_buffer_putc(text, ' ');
            at++;
        }
        pj_buffer_append(text, word, size);
        at += width;
        first = false;
        word += size;
        word += *word == ' ';
    }
    pj_buffer_putc(text, '\n');
}

static void put_field(struct pj_buffer *text, const char *label, const char *value, size_t columns)
{
    PJ_CLEANUP_BUFFER struct pj_buffer safe = {0};
    pj_text_escape(&safe, value, strlen(value));
    text->failed |= safe.failed;
    pj_buffer_puts(text, label);
    put_wrapped(text, pj_buffer_text(&safe), strlen(label), columns);
}

/* The explanation without the marks of the page that it is written for: `code` and [line of cache-model.md].
 */
static void put_reason(struct pj_buffer *text, const char *explanation, size_t columns)
{
    PJ_CLEANUP_BUFFER struct pj_buffer plain = {0};
    while (*explanation) {
        if (strncmp(explanation, " [", 2) == 0)
            explanation += strcspn(explanation, "]") + 1;
        else if (*explanation == '`')
            explanation++;
        else
            pj_buffer_putc(&plain, *explanation++);
    }
    text->failed |= plain.failed;
    put_field(text, "  why:   ", pj_buffer_text(&plain), columns);
}

static void put_finding(struct pj_buffer *text, const struct pj_finding *finding, size_t columns,
                        bool verbose)
{
    pj_buffer_printf(text, "%-9s%s: ", pj_severity_name(finding->severity),
                     pj_finding_info(finding->code)->code);
    pj_text_escape(text, finding->subject, strlen(finding->subject));
    pj_buffer_putc(text, '\n');
    put_field(text, "  found: ", finding->found, columns);
    if (verbose)
        put_reason(text, pj_finding_info(finding->code)->explanation, columns);
    if (finding->cure)
        put_field(text, "  cure:  ", finding->cure, columns);
}

static void put_count(struct pj_buffer *text, const struct pj_doctor *doctor, enum pj_severity severity,
                      bool *first)
{
    size_t number = pj_finding_number(&doctor->findings, severity);
    if (number == 0)
        return;
    pj_buffer_printf(text, "%s%zu %s%s", *first ? "; " : ", ", number, pj_severity_name(severity),
                     number == 1 ? "" : "s");
    *first = false;
}

static void put_path(struct pj_buffer *text, const char *path)
{
    pj_text_escape(text, path, strlen(path));
}

/* What the program does with a cache, as one clause. */
static void put_reading(const struct pj_doctor *doctor, struct pj_buffer *text)
{
    const struct pj_finding *stop = pj_finding_with(&doctor->findings, PJ_STOPS_READING);
    char bytes[PJ_SIZE_TEXT], limit[PJ_SIZE_TEXT];
    bool no_limit = doctor->limit_bytes == UINT64_MAX;
    put_path(text, doctor->program.who);
    if (!doctor->program.environment_known) {
        pj_buffer_puts(text, ": its environment cannot be read, so nobody can tell which cache it reads");
    } else if (!doctor->read_path || (stop && !doctor->path)) {
        pj_buffer_puts(text, " uses no cache");
    } else if (doctor->elsewhere) {
        pj_buffer_puts(text, " reads ");
        put_path(text, doctor->read_path);
        pj_buffer_printf(text, ", %s ", doctor->filled_by);
        put_path(text, doctor->filled_path);
    } else if (stop) {
        pj_buffer_puts(text, " reads nothing from ");
        put_path(text, doctor->read_path);
    } else {
        pj_buffer_puts(text, " reads ");
        put_path(text, doctor->read_path);
        if (doctor->has_content)
            pj_buffer_printf(text, " (%llu entr%s, %s %s%s)", (unsigned long long)doctor->entries,
                             doctor->entries == 1 ? "y" : "ies", pj_text_from_size(doctor->bytes, bytes),
                             no_limit ? "without a limit" : "of ",
                             no_limit ? "" : pj_text_from_limit(doctor->limit_bytes, limit));
        else if (!doctor->exists)
            pj_buffer_puts(text, ", which is not there yet");
    }
}

static const struct pj_finding *find_code(const struct pj_doctor *doctor, enum pj_finding_code code)
{
    for (size_t i = 0; i < doctor->findings.count; i++) {
        if (doctor->findings.items[i].code == code)
            return &doctor->findings.items[i];
    }
    return NULL;
}

/* The error that the clause is about; NULL where it is about none. */
static const struct pj_finding *main_error(const struct pj_doctor *doctor)
{
    if (!doctor->program.environment_known) {
        const struct pj_finding *closed = find_code(doctor, PJ_FINDING_PROCESS_CLOSED_TO_ROOT);
        return closed ? closed : find_code(doctor, PJ_FINDING_PROCESS_UNREADABLE);
    }
    if (doctor->elsewhere)
        return find_code(doctor, PJ_FINDING_CACHE_ELSEWHERE);
    return pj_finding_with(&doctor->findings, PJ_STOPS_READING);
}

void pj_doctor_answer(const struct pj_doctor *doctor, struct pj_buffer *text)
{
    bool first = true;
    const struct pj_finding *error = main_error(doctor);
    put_reading(doctor, text);
    if (error) {
        pj_buffer_puts(text, ": ");
        pj_text_escape(text, error->cure, strlen(error->cure));
    }
    for (int severity = 0; severity < PJ_SEVERITY_COUNT; severity++)
        put_count(text, doctor, (enum pj_severity)severity, &first);
    if (error || pj_doctor_exit_code(doctor) == PJ_EXIT_OK)
        return;
    error = &doctor->findings.items[0];
    pj_buffer_printf(text, "; %s: ", pj_finding_info(error->code)->code);
    pj_text_escape(text, error->cure, strlen(error->cure));
}

/* Of several toolkits: the one that is taken. File names tell the versions. What was named is answered for
 * without being asked for more. */
static void put_toolkit(struct pj_buffer *text, const struct pj_doctor *doctor)
{
    const struct {
        const char *label, *path, *named;
    } parts[] = {
        {"NVRTC", doctor->toolkit.nvrtc, doctor->needs.nvrtc},
        {"nvJitLink", doctor->toolkit.nvjitlink, doctor->needs.nvjitlink},
        {"ptxas", doctor->toolkit.ptxas, doctor->needs.ptxas},
    };
    for (size_t i = 0; i < PJ_COUNT(parts); i++) {
        if (!parts[i].path || !(parts[i].named || doctor->options->verbose))
            continue;
        pj_buffer_printf(text, "prejit takes %s from ", parts[i].label);
        put_path(text, parts[i].path);
        pj_buffer_putc(text, '\n');
    }
}

int pj_doctor_render_text(const struct pj_doctor *doctor, struct pj_buffer *text, struct pj_error **err)
{
    int status = pj_doctor_exit_code(doctor);
    const struct pj_doctor_options *options = doctor->options;
    size_t shown = options->quiet ? 0 : doctor->findings.count;
    for (size_t i = 0; i < shown; i++)
        put_finding(text, &doctor->findings.items[i], options->columns, options->verbose);
    if (shown > 0)
        pj_buffer_putc(text, '\n');
    if (doctor->driver_text && !options->quiet)
        pj_buffer_printf(text, "%s\n", doctor->driver_text);
    if (!options->quiet) {
        put_toolkit(text, doctor);
        pj_buffer_puts(text, pj_buffer_text(&doctor->offline_text));
    }
    if (status != PJ_EXIT_OK)
        pj_buffer_printf(text, "exit %d: ", status);
    pj_doctor_answer(doctor, text);
    pj_buffer_putc(text, '\n');
    return pj_buffer_check(text, err);
}
