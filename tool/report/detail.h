/* SPDX-License-Identifier: Apache-2.0 */
/* What is said below the table: the jobs in trouble with their reasons and logs. Internal. */
#ifndef PREJIT_REPORT_DETAIL_H
#define PREJIT_REPORT_DETAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "report/model.h"

/** Appends why each of `rows`, the struct pj_report_job of the table's lines, is as it is: jobs with one
 * verdict, reason and log share a line, in the order of their first. `verbose`: all, also those that are
 * well.
 */
int pj_report_details(const struct pj_report *report, const void *const *rows, size_t row_count, bool verbose,
                      struct pj_buffer *buffer, struct pj_error **err);

/** Appends the entries of each row that has several, one a line. */
void pj_report_entries(const void *const *rows, size_t row_count, struct pj_buffer *buffer);

#endif
