/* SPDX-License-Identifier: Apache-2.0 */
/* Rendering of column tables, for people and as JSON. */
#include "report/column.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/json_value.h"
#include "report/phrase.h"

/* A longer cell sticks out of its column instead of pushing all the others to the right. */
enum { WIDTH_MAX = 48 };

static bool is_number(enum pj_column_type type)
{
    return type != PJ_COLUMN_TEXT && type != PJ_COLUMN_FLAG;
}

static bool is_real(enum pj_column_type type)
{
    return type == PJ_COLUMN_MS || type == PJ_COLUMN_RATIO;
}

/* Asks the accessor; what is not finite was not measured. */
static bool get_cell(const struct pj_column *column, const void *row, struct pj_cell *cell)
{
    pj_buffer_reset(&cell->text);
    return column->get(row, cell) && (!is_real(column->type) || isfinite(cell->number));
}

/* A cell as it is shown. Both buffers are used again for every cell, which also resets their failure. */
struct shown {
    struct pj_cell cell;
    struct pj_buffer text;
    bool failed;
};

static void free_shown(struct shown *shown)
{
    pj_buffer_free(&shown->cell.text);
    pj_buffer_free(&shown->text);
}

static void show_known(enum pj_column_type type, const struct pj_cell *cell, struct pj_buffer *ret_text)
{
    char size[PJ_SIZE_TEXT], duration[PJ_DURATION_TEXT];
    switch (type) {
    case PJ_COLUMN_TEXT:
        if (cell->text.size == 0)
            pj_buffer_putc(ret_text, '-');
        pj_text_escape(ret_text, pj_buffer_text(&cell->text), cell->text.size);
        break;
    case PJ_COLUMN_COUNT:
        pj_buffer_printf(ret_text, "%" PRIu64, cell->count);
        break;
    case PJ_COLUMN_BYTES:
        pj_buffer_puts(ret_text, pj_text_from_size(cell->count, size));
        break;
    case PJ_COLUMN_MS:
        pj_buffer_puts(ret_text, pj_text_from_ms(cell->number, duration));
        break;
    case PJ_COLUMN_RATIO:
        pj_buffer_printf(ret_text, cell->number < 9.95 ? "%.1fx" : "%.0fx", cell->number);
        break;
    case PJ_COLUMN_FLAG:
        pj_buffer_puts(ret_text, cell->flag ? "yes" : "no");
        break;
    }
}

/* False where the value is not known. */
static bool show_cell(const struct pj_column *column, const void *row, struct shown *shown)
{
    pj_buffer_reset(&shown->text);
    bool known = get_cell(column, row, &shown->cell);
    if (known)
        show_known(column->type, &shown->cell, &shown->text);
    else
        pj_buffer_putc(&shown->text, '-');
    shown->failed |= shown->cell.text.failed || shown->text.failed;
    return known;
}

static void pad(struct pj_buffer *buffer, size_t columns)
{
    for (; columns > 0; columns--)
        pj_buffer_putc(buffer, ' ');
}

/* Appends one cell to a line; the blanks behind text wait in *gap, so that no line ends in blanks. */
static void place(struct pj_buffer *buffer, const char *text, size_t size, size_t width, bool right,
                  size_t *gap)
{
    size_t columns = pj_phrase_columns(text, size);
    size_t blanks = columns < width ? width - columns : 0;
    pad(buffer, *gap + (right ? blanks : 0));
    pj_buffer_append(buffer, text, size);
    *gap = 2 + (right ? 0 : blanks);
}

static bool is_shown(const struct pj_column *column, bool verbose)
{
    return column->header && (verbose || !column->verbose);
}

/* A column of which nothing is known says nothing: it gets width 0, and is left out. */
static void measure(const struct pj_column_table *table, bool verbose, struct shown *shown, size_t *widths)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const struct pj_column *column = &table->columns[c];
        if (!is_shown(column, verbose))
            continue;
        bool known = false;
        widths[c] = strlen(column->header);
        for (size_t r = 0; r < table->row_count; r++) {
            known |= show_cell(column, table->rows[r], shown);
            size_t columns = pj_phrase_columns(pj_buffer_text(&shown->text), shown->text.size);
            if (columns > widths[c])
                widths[c] = columns;
        }
        if (!known)
            widths[c] = 0;
        if (widths[c] > WIDTH_MAX)
            widths[c] = WIDTH_MAX;
    }
}

/* One line: the headers where `row` is NULL. */
static void put_line(const struct pj_column_table *table, bool verbose, const void *row, struct shown *shown,
                     const size_t *widths, struct pj_buffer *buffer)
{
    size_t gap = 0;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct pj_column *column = &table->columns[c];
        bool right = is_number(column->type);
        if (!is_shown(column, verbose) || widths[c] == 0)
            continue;
        if (row) {
            (void)show_cell(column, row, shown);
            place(buffer, pj_buffer_text(&shown->text), shown->text.size, widths[c], right, &gap);
        } else {
            place(buffer, column->header, strlen(column->header), widths[c], right, &gap);
        }
    }
    pj_buffer_putc(buffer, '\n');
}

int pj_column_text(const struct pj_column_table *table, bool verbose, struct pj_buffer *buffer,
                   struct pj_error **err)
{
    if (table->row_count == 0)
        return 0;
    PJ_CLEANUP_FREE size_t *widths = calloc(table->column_count + 1, sizeof *widths);
    __attribute__((cleanup(free_shown))) struct shown shown = {0};
    if (!widths)
        return pj_error_no_memory(err);
    measure(table, verbose, &shown, widths);
    put_line(table, verbose, NULL, &shown, widths, buffer);
    for (size_t r = 0; r < table->row_count; r++)
        put_line(table, verbose, table->rows[r], &shown, widths, buffer);
    return shown.failed ? pj_error_no_memory(err) : pj_buffer_check(buffer, err);
}

static json_t *cell_json(const struct pj_column *column, const void *row, struct pj_cell *cell)
{
    if (!get_cell(column, row, cell))
        return json_null();
    switch (column->type) {
    case PJ_COLUMN_TEXT:
        return pj_json_text_sized(pj_buffer_text(&cell->text), cell->text.size);
    case PJ_COLUMN_COUNT:
    case PJ_COLUMN_BYTES:
        return pj_json_count(true, cell->count);
    case PJ_COLUMN_MS:
    case PJ_COLUMN_RATIO:
        return pj_json_number(true, cell->number);
    case PJ_COLUMN_FLAG:
        return json_boolean(cell->flag);
    }
    return json_null();
}

static int put_object(const struct pj_column_table *table, size_t row, struct pj_cell *cell,
                      struct pj_buffer *buffer, struct pj_error **err)
{
    PJ_CLEANUP_JSON json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t c = 0; ok && c < table->column_count; c++) {
        const struct pj_column *column = &table->columns[c];
        if (column->name)
            ok = pj_json_set(object, column->name, cell_json(column, table->rows[row], cell)) &&
                 !cell->text.failed;
    }
    if (!ok)
        return pj_error_no_memory(err);
    return pj_json_dump(object, buffer, err);
}

int pj_column_json(const struct pj_column_table *table, struct pj_buffer *buffer, struct pj_error **err)
{
    struct pj_cell cell = {0};
    int result = 0;
    pj_buffer_putc(buffer, '[');
    for (size_t r = 0; result == 0 && r < table->row_count; r++) {
        pj_buffer_puts(buffer, r == 0 ? "\n    " : ",\n    ");
        result = put_object(table, r, &cell, buffer, err);
    }
    pj_buffer_puts(buffer, table->row_count > 0 ? "\n  ]" : "]");
    pj_buffer_free(&cell.text);
    return result ? result : pj_buffer_check(buffer, err);
}

int pj_column_json_object(const struct pj_column *columns, size_t column_count, const void *row,
                          struct pj_buffer *buffer, struct pj_error **err)
{
    const void *const rows[] = {row};
    const struct pj_column_table table = {
        .columns = columns, .column_count = column_count, .rows = rows, .row_count = 1};
    struct pj_cell cell = {0};
    int result = put_object(&table, 0, &cell, buffer, err);
    pj_buffer_free(&cell.text);
    return result;
}
