/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what build made, with reasons, warnings and, on demand, everything that went in below it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/build.h"
#include "report/column.h"
#include "report/detail.h"
#include "report/phrase.h"
#include "report/trouble.h"

/* Modules in the table without -v; bytes shown of the first warning. */
enum { UNITS_MAX = 40, WARNING_BYTES = 200 };

/* A line of the table: a module for a target, or with -v one of its kernels. */
struct line {
    const struct pj_build_unit *unit;
    const struct pj_build_kernel *kernel; /* NULL = of the module as a whole */
};

static bool put_text(struct pj_cell *cell, const char *text)
{
    if (text)
        pj_buffer_puts(&cell->text, text);
    return text != NULL;
}

static bool get_module(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    return put_text(cell, line->unit->module);
}

static bool get_target(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    return put_text(cell, line->unit->target);
}

static bool get_result(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    return !line->kernel && put_text(cell, pj_build_verdict_name(line->unit->verdict));
}

static bool get_compiler(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    return !line->kernel && put_text(cell, line->unit->compiler);
}

static bool get_time(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    cell->number = line->unit->ms;
    return !line->kernel && pj_report_ms_known(line->unit->has_ms, line->unit->ms);
}

static bool get_kernel_count(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    cell->count = line->unit->kernel_count;
    return !line->kernel && line->unit->verdict == PJ_BUILD_BUILT;
}

/* Gives what one kernel takes of something; false = not known. */
typedef bool take_function(const struct pj_build_kernel *kernel, uint64_t *ret_amount);

/* What all kernels together come to. With some of which it is not known it is the least that it can be: worth
 * showing, but for 0, which would say that there is none. */
static bool is_worth_showing(const struct pj_build_unit *unit, size_t known, uint64_t amount)
{
    return known > 0 && (known == unit->kernel_count || amount > 0);
}

/* The most that a kernel takes. */
static bool get_most(const void *row, take_function *take, struct pj_cell *cell)
{
    const struct line *line = row;
    uint64_t amount;
    size_t known = 0;
    if (line->kernel)
        return take(line->kernel, &cell->count);
    cell->count = 0;
    for (size_t i = 0; i < line->unit->kernel_count; i++) {
        if (!take(&line->unit->kernels[i], &amount))
            continue;
        known++;
        if (amount > cell->count)
            cell->count = amount;
    }
    return is_worth_showing(line->unit, known, cell->count);
}

static bool take_registers(const struct pj_build_kernel *kernel, uint64_t *ret_amount)
{
    *ret_amount = kernel->registers;
    return kernel->has_registers;
}

static bool take_shared(const struct pj_build_kernel *kernel, uint64_t *ret_amount)
{
    *ret_amount = kernel->shared_bytes;
    return kernel->has_shared;
}

static bool take_stack(const struct pj_build_kernel *kernel, uint64_t *ret_amount)
{
    *ret_amount = kernel->stack_bytes;
    return kernel->has_stack;
}

static bool take_spills(const struct pj_build_kernel *kernel, uint64_t *ret_amount)
{
    return kernel->has_spills &&
           !__builtin_add_overflow(kernel->spill_store_bytes, kernel->spill_load_bytes, ret_amount);
}

static bool get_registers(const void *row, struct pj_cell *cell)
{
    return get_most(row, take_registers, cell);
}

static bool get_shared(const void *row, struct pj_cell *cell)
{
    return get_most(row, take_shared, cell);
}

static bool get_stack(const void *row, struct pj_cell *cell)
{
    return get_most(row, take_stack, cell);
}

/* Stores and loads of all kernels together: whoever looks for spills wants to see any. */
static bool get_spills(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    uint64_t amount;
    size_t known = 0;
    if (line->kernel)
        return take_spills(line->kernel, &cell->count);
    cell->count = 0;
    for (size_t i = 0; i < line->unit->kernel_count; i++) {
        if (!take_spills(&line->unit->kernels[i], &amount))
            continue;
        known++;
        if (__builtin_add_overflow(cell->count, amount, &cell->count))
            return false;
    }
    return is_worth_showing(line->unit, known, cell->count);
}

static bool get_size(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    cell->count = line->unit->cubin.bytes;
    return !line->kernel && line->unit->has_cubin;
}

static bool get_kernel(const void *row, struct pj_cell *cell)
{
    const struct line *line = row;
    return line->kernel && put_text(cell, line->kernel->name);
}

static const struct pj_column build_columns[] = {
    {"MODULE", NULL, PJ_COLUMN_TEXT, false, get_module},
    {"TARGET", NULL, PJ_COLUMN_TEXT, false, get_target},
    {"RESULT", NULL, PJ_COLUMN_TEXT, false, get_result},
    {"COMPILER", NULL, PJ_COLUMN_TEXT, false, get_compiler},
    {"TIME", NULL, PJ_COLUMN_MS, false, get_time},
    {"KERNELS", NULL, PJ_COLUMN_COUNT, false, get_kernel_count},
    {"REGISTERS", NULL, PJ_COLUMN_COUNT, false, get_registers},
    {"SHARED", NULL, PJ_COLUMN_BYTES, false, get_shared},
    {"STACK", NULL, PJ_COLUMN_BYTES, false, get_stack},
    {"SPILLS", NULL, PJ_COLUMN_BYTES, false, get_spills},
    {"SIZE", NULL, PJ_COLUMN_BYTES, false, get_size},
    {"KERNEL", NULL, PJ_COLUMN_TEXT, true, get_kernel},
};

/* The modules that get a line; the others are counted. */
struct choice {
    const struct pj_build_unit **units;
    size_t unit_count;
    size_t hidden[PJ_BUILD_VERDICT_COUNT];
};

static int choose(const struct pj_build_report *report, bool verbose, struct choice *ret_choice,
                  struct pj_error **err)
{
    bool all = verbose || report->unit_count <= UNITS_MAX;
    size_t maximum = all ? report->unit_count : UNITS_MAX;
    struct choice choice = {.units = calloc(maximum + 1, sizeof(const struct pj_build_unit *))};
    if (!choice.units)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < report->unit_count; i++) {
        const struct pj_build_unit *unit = &report->units[i];
        if ((all || unit->verdict != PJ_BUILD_BUILT) && choice.unit_count < maximum)
            choice.units[choice.unit_count++] = unit;
        else if (unit->verdict < PJ_BUILD_VERDICT_COUNT)
            choice.hidden[unit->verdict]++;
    }
    *ret_choice = choice;
    return 0;
}

/* "... 900 more built, 60 more rejected (-v shows all)"; "60 built (-v lists them)" where none has a line. */
static void put_hidden(const struct choice *choice, struct pj_buffer *buffer)
{
    bool some = false, none_shown = choice->unit_count == 0;
    for (unsigned i = 0; i < PJ_BUILD_VERDICT_COUNT; i++) {
        if (choice->hidden[i] == 0)
            continue;
        const char *before = some ? ", " : none_shown ? "" : "... ";
        pj_buffer_printf(buffer, "%s%zu %s%s", before, choice->hidden[i], none_shown ? "" : "more ",
                         pj_build_verdict_name((enum pj_build_verdict)i));
        some = true;
    }
    if (some)
        pj_buffer_puts(buffer, none_shown ? " (-v lists them)\n" : " (-v shows all)\n");
}

/* The lines of a table, and what the renderer wants: pointers to them. */
struct lines {
    struct line *items;
    const void **rows;
    size_t count;
};

static void free_lines(struct lines *lines)
{
    free(lines->items);
    free(lines->rows);
}

static void add_line(struct lines *lines, const struct pj_build_unit *unit,
                     const struct pj_build_kernel *of_kernel)
{
    struct line *line = &lines->items[lines->count];
    *line = (struct line){.unit = unit, .kernel = of_kernel};
    lines->rows[lines->count++] = line;
}

static void fill_lines(const struct choice *choice, bool verbose, struct lines *lines)
{
    for (size_t i = 0; i < choice->unit_count; i++) {
        const struct pj_build_unit *unit = choice->units[i];
        add_line(lines, unit, NULL);
        for (size_t k = 0; verbose && k < unit->kernel_count; k++)
            add_line(lines, unit, &unit->kernels[k]);
    }
}

static int put_lines(const struct choice *choice, bool verbose, struct pj_buffer *buffer,
                     struct pj_error **err)
{
    size_t most = choice->unit_count;
    for (size_t i = 0; verbose && i < choice->unit_count; i++)
        most += choice->units[i]->kernel_count;
    struct lines lines = {.items = calloc(most + 1, sizeof *lines.items),
                          .rows = calloc(most + 1, sizeof(const void *))};
    struct pj_column_table table = {
        .columns = build_columns, .column_count = PJ_COUNT(build_columns), .rows = lines.rows};
    int r = lines.items && lines.rows ? 0 : pj_error_no_memory(err);
    if (r == 0) {
        fill_lines(choice, verbose, &lines);
        table.row_count = lines.count;
        r = pj_column_text(&table, verbose, buffer, err);
    }
    free_lines(&lines);
    return r;
}

static int put_reasons(const struct choice *choice, bool verbose, struct pj_buffer *buffer,
                       struct pj_error **err)
{
    PJ_CLEANUP_DETAILS struct pj_details details = {0};
    for (size_t i = 0; i < choice->unit_count; i++) {
        const struct pj_build_unit *unit = choice->units[i];
        if (!unit->reason && !unit->log)
            continue;
        struct pj_detail *detail = PJ_ARRAY_PUSH(&details);
        if (!detail)
            return pj_error_no_memory(err);
        *detail = (struct pj_detail){
            .module = unit->module,
            .target = unit->target,
            .verdict = pj_build_verdict_name(unit->verdict),
            .reason = unit->reason,
            .log = unit->log,
            .required = unit->required,
            .may_be_left_out = unit->verdict == PJ_BUILD_CRASHED || unit->verdict == PJ_BUILD_TIMED_OUT ||
                               unit->verdict == PJ_BUILD_OUT_OF_MEMORY,
        };
    }
    return pj_details_put(&details, verbose, buffer, err);
}

/* "3 warnings, the first of saxpy sm_90: …": the same one comes for each target. */
static void put_first_warning(const struct pj_build_report *report, size_t start, struct pj_buffer *buffer)
{
    const struct pj_build_unit *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < report->unit_count; i++) {
        count += report->units[i].warning_count;
        if (!first && report->units[i].warning_count > 0)
            first = &report->units[i];
    }
    if (!first)
        return;
    pj_buffer_puts(buffer, buffer->size > start ? "\n" : "");
    pj_phrase_count(buffer, count, "warning, of ", "warnings, the first of ");
    pj_text_escape(buffer, first->module, strlen(first->module));
    pj_buffer_printf(buffer, " %s: ", first->target);
    pj_phrase_cut(buffer, first->warnings[0], strlen(first->warnings[0]), WARNING_BYTES);
    pj_buffer_puts(buffer, count > 1 ? " (-v shows all)\n" : "\n");
}

/* "    header: inc/a.h, 1.2 kB, sha256 …"; `path` NULL: it was made and not written. */
static void put_file(const char *kind, const struct pj_build_file *file, const char *path,
                     struct pj_buffer *buffer)
{
    char size[PJ_SIZE_TEXT], hex[PJ_SHA256_HEX];
    pj_sha256_hex(&file->sha256, hex);
    pj_buffer_printf(buffer, "    %s: ", kind);
    if (path) {
        pj_text_escape(buffer, path, strlen(path));
        pj_buffer_puts(buffer, ", ");
    }
    pj_buffer_printf(buffer, "%s, sha256 %s\n", pj_text_from_size(file->bytes, size), hex);
}

/* Everything that went into one module, and what came out. */
static void put_making(const struct pj_build_unit *unit, bool written, struct pj_buffer *buffer)
{
    pj_buffer_putc(buffer, '\n');
    pj_text_escape(buffer, unit->module, strlen(unit->module));
    pj_buffer_printf(buffer, " %s\n", unit->target);
    for (size_t i = 0; i < unit->input_count; i++)
        put_file(unit->inputs[i].kind, &unit->inputs[i], unit->inputs[i].path, buffer);
    if (unit->argument_count > 0) {
        pj_buffer_puts(buffer, "    arguments:");
        for (size_t i = 0; i < unit->argument_count; i++) {
            pj_buffer_putc(buffer, ' ');
            pj_phrase_quote(buffer, unit->arguments[i]);
        }
        pj_buffer_putc(buffer, '\n');
    }
    if (unit->has_ptx)
        put_file("made ptx", &unit->ptx, written ? unit->ptx.path : NULL, buffer);
    if (unit->has_cubin)
        put_file("made cubin", &unit->cubin, written ? unit->cubin.path : NULL, buffer);
    for (size_t i = 0; i < unit->warning_count; i++) {
        pj_buffer_puts(buffer, "    warning: ");
        pj_text_escape(buffer, unit->warnings[i], strlen(unit->warnings[i]));
        pj_buffer_putc(buffer, '\n');
    }
}

static void put_library(const char *name, const struct pj_report_library *library, struct pj_buffer *buffer)
{
    if (!library->path)
        return;
    const char *version = library->build ? library->build : library->version;
    pj_buffer_printf(buffer, "%s%s%s: ", name, version ? " " : "", version ? version : "");
    pj_text_escape(buffer, library->path, strlen(library->path));
    pj_buffer_putc(buffer, '\n');
}

static void put_all_making(const struct pj_build_report *report, struct pj_buffer *buffer)
{
    for (size_t i = 0; i < report->unit_count; i++)
        put_making(&report->units[i], report->out_dir != NULL, buffer);
    if (report->nvrtc.path || report->nvjitlink.path)
        pj_buffer_putc(buffer, '\n');
    put_library("NVRTC", &report->nvrtc, buffer);
    put_library("nvJitLink", &report->nvjitlink, buffer);
}

static void put_left_out(size_t count, size_t start, struct pj_buffer *buffer)
{
    if (count == 0)
        return;
    pj_buffer_puts(buffer, buffer->size > start ? "\n" : "");
    pj_phrase_count(buffer, count, "target of a range, family or `all` was",
                    "targets of ranges, families or `all` were");
    pj_buffer_puts(buffer,
                   " left out: a module does not run there, or the toolkit does not compile for it\n");
}

static int put_table(const struct pj_build_report *report, const struct choice *choice, bool verbose,
                     struct pj_buffer *buffer, struct pj_error **err)
{
    size_t start = buffer->size;
    int r = put_lines(choice, verbose, buffer, err);
    if (r < 0)
        return r;
    put_hidden(choice, buffer);
    r = put_reasons(choice, verbose, buffer, err);
    if (r < 0)
        return r;
    if (verbose)
        put_all_making(report, buffer);
    else
        put_first_warning(report, start, buffer);
    put_left_out(report->left_out, start, buffer);
    pj_notes_put(report->notes, report->note_count, start, buffer);
    return pj_buffer_check(buffer, err);
}

int pj_build_render_table(const struct pj_build_report *report, bool verbose, struct pj_buffer *buffer,
                          struct pj_error **err)
{
    struct choice choice = {0};
    int r = choose(report, verbose, &choice, err);
    if (r == 0)
        r = put_table(report, &choice, verbose, buffer, err);
    free(choice.units);
    return r;
}
