/* SPDX-License-Identifier: Apache-2.0 */
/* What the cache spares a program at each start. */
#ifndef PREJIT_REPORT_SAVING_H
#define PREJIT_REPORT_SAVING_H

#include "base/error.h"
#include "report/model.h"

/** Of the proven jobs for one architecture of this machine's GPUs of which both times are known: what the
 * driver took to compile them all, and the median of a job's compile time and of its load. Of several
 * architectures the one with the longest: a program that starts uses one GPU. `target` NULL = no such job. */
struct pj_report_saving {
    const char *target;
    size_t jobs;
    double cold_ms, median_cold_ms, median_warm_ms;
};

int pj_report_saving(const struct pj_report *report, struct pj_report_saving *ret_saving,
                     struct pj_error **err);

/** Appends "saves 1.2 s of JIT at each start (median 1.0 ms for 412 ms)" and line end; nothing
 * where that is not known, or not worth a line. */
int pj_report_put_saving(const struct pj_report *report, size_t start, struct pj_buffer *buffer,
                         struct pj_error **err);

#endif
