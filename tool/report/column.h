/* SPDX-License-Identifier: Apache-2.0 */
/* A typed column table: one description of a list gives its table for people and its JSON.
 *
 * The type of a column decides how a value is shown (sizes and times with units), how it is aligned (numbers
 * to the right), and what it is in JSON (always a bare number, string or boolean, null where it is not
 * known). */
#ifndef PREJIT_REPORT_COLUMN_H
#define PREJIT_REPORT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum pj_column_type {
    PJ_COLUMN_TEXT,  /* cell->text; escaped when shown */
    PJ_COLUMN_COUNT, /* cell->count */
    PJ_COLUMN_BYTES, /* cell->count: "20 MB" */
    PJ_COLUMN_MS,    /* cell->number: "0.9 ms" */
    PJ_COLUMN_RATIO, /* cell->number: "312x" */
    PJ_COLUMN_FLAG,  /* cell->flag: "yes", "no" */
};

/** Where an accessor leaves the value; `text` is empty when it is called. */
struct pj_cell {
    struct pj_buffer text;
    uint64_t count;
    double number;
    bool flag;
};

struct pj_column {
    const char *header; /* NULL = in JSON only */
    const char *name;   /* of the JSON member; NULL = in the table only */
    enum pj_column_type type;
    bool verbose; /* shown with -v only */
    /* Fills the field of `cell` that belongs to the type; false = not known. */
    bool (*get)(const void *row, struct pj_cell *cell);
};

struct pj_column_table {
    const struct pj_column *columns;
    size_t column_count;
    const void *const *rows;
    size_t row_count;
};

/** Appends a header line and one line per row, cells two spaces apart, `-` for what is not known; nothing
 * where there are no rows. Columns of which nothing is known are left out, `verbose` ones without it too. */
int pj_column_text(const struct pj_column_table *table, bool verbose, struct pj_buffer *buffer,
                   struct pj_error **err);

/** Appends a JSON array of one object per row and line, members in the order of the columns. */
int pj_column_json(const struct pj_column_table *table, struct pj_buffer *buffer, struct pj_error **err);

/** Appends one row as a JSON object. */
int pj_column_json_object(const struct pj_column *columns, size_t column_count, const void *row,
                          struct pj_buffer *buffer, struct pj_error **err);

#endif
