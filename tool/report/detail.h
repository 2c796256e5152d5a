/* SPDX-License-Identifier: Apache-2.0 */
/* What is said below a table: who is in trouble, with reasons and logs, and notes. Internal. */
#ifndef PREJIT_REPORT_DETAIL_H
#define PREJIT_REPORT_DETAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "report/model.h"

/** Why one of the table's lines is as it is. */
struct pj_detail {
    const char *module, *target;
    const char *verdict;  /* NULL = none is shown */
    const char *reason;   /* NULL = there is none */
    const char *log;      /* of a compiler; NULL = none */
    bool required;        /* the run fails for it */
    bool may_be_left_out; /* say how the run can succeed without it, where it is required */
};

/** A list of them; zero-initialised is a valid, empty one, filled with PJ_ARRAY_PUSH. */
struct pj_details {
    struct pj_detail *items;
    size_t count, capacity;
};

void pj_details_free(struct pj_details *details);

#define PJ_CLEANUP_DETAILS __attribute__((cleanup(pj_details_free)))

/** Appends them: those with one verdict, reason and log share a line, in the order of their first. Without
 * `verbose` the first reasons alone. */
int pj_details_put(const struct pj_details *details, bool verbose, struct pj_buffer *buffer,
                   struct pj_error **err);

/** Begins the block of notes and answer: appends a blank line where `buffer` holds more than `start` bytes,
 * and one line a note. */
void pj_notes_put(const char *const *notes, size_t count, size_t start, struct pj_buffer *buffer);

/** Appends why each of `rows`, the struct pj_report_job of the table's lines, is as it is: jobs with one
 * verdict, reason and log share a line, in the order of their first. `verbose`: all, also those that are
 * well.
 */
int pj_report_details(const struct pj_report *report, const void *const *rows, size_t row_count, bool verbose,
                      struct pj_buffer *buffer, struct pj_error **err);

/** Appends the entries of each row that has several, one a line. */
void pj_report_entries(const void *const *rows, size_t row_count, struct pj_buffer *buffer);

#endif
