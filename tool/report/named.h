/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the last line names: those of one module that fail alike together. Internal. */
#ifndef PREJIT_REPORT_NAMED_H
#define PREJIT_REPORT_NAMED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { PJ_NAMED_MAX = 3, PJ_NAMED_TARGETS_MAX = 6 };

/** Rows of one module that are alike, in their order. */
struct pj_named_group {
    const void *first;
    const char *module;
    const char *targets[PJ_NAMED_TARGETS_MAX];
    size_t count;
};

/** Zero-initialise but for `alike`: have two rows one reason? Strings and rows are borrowed. */
struct pj_named {
    bool (*alike)(const void *a, const void *b);
    struct pj_named_group groups[PJ_NAMED_MAX];
    size_t group_count;
    size_t others; /* rows of groups that found no room */
};

/** Takes one more row in. */
void pj_named_add(struct pj_named *named, const void *row, const char *module, const char *target);

/** Appends ": a sm_80, sm_90 (why), b sm_90, c sm_90 (why) and 12 more": a reason stands once behind
 * neighbours that share it. `put_why` appends it, with the blank before it, for the first row of a group. */
void pj_named_put(const struct pj_named *named,
                  void (*put_why)(const void *context, const void *row, struct pj_buffer *buffer),
                  const void *context, struct pj_buffer *buffer);

/** Appends " (rejected: no such kernel)": what became of a job and why, of the reason its first line. Below a
 * table (`below_table`) that told the reason only a short one is said again. `verdict` may be "", `reason`
 * NULL; with neither nothing is appended. */
void pj_named_put_why(const char *verdict, const char *reason, bool below_table, struct pj_buffer *buffer);

#endif
