/* SPDX-License-Identifier: Apache-2.0 */
/* Renderers of the run model. Each appends to a buffer; nobody here writes to a stream. */
#ifndef PREJIT_REPORT_RENDER_H
#define PREJIT_REPORT_RENDER_H

#include "base/buffer.h"
#include "base/error.h"
#include "report/model.h"

/** The table for people: one line a job, columns aligned, failures with their reason and log below. `verbose`
 * adds options, entries, witnesses. What follows it, the answer, is one block with the notes at its end: a
 * blank line stands before the two, unless there is nothing above. */
int pj_render_table(const struct pj_report *report, bool verbose, struct pj_buffer *buffer,
                    struct pj_error **err);

/** JSON of schema prejit-report/1 (docs/report.schema.json), with a final newline. Jobs are rendered one by
 * one, so that memory stays flat. */
int pj_render_json(const struct pj_report *report, struct pj_buffer *buffer, struct pj_error **err);

/** What stands for the document where the command did not come to its work: its envelope alone, with
 * `refusal`. `command` may be NULL. */
int pj_render_json_refusal(const char *command, const struct pj_error *refusal, int exit_code,
                           struct pj_buffer *buffer, struct pj_error **err);

/** The last line, which is the answer: "64 jobs: 64 proven (60 reused, 4 compiled) in 2.9 s; 20 MB of 1.0 GiB
 * in /var/cache/app/nv", or "exit 4: 1 of 64 will be compiled at first use: solver sm_90 (missed: entry
 * deleted); run: prejit warm m.yaml". `below_table`: it stands below the table, which tells long reasons. No
 * newline. */
int pj_render_answer(const struct pj_report *report, bool below_table, struct pj_buffer *buffer,
                     struct pj_error **err);

#endif
