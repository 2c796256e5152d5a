/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a document: collected while it is checked, given out at once in the order of its text.
 */
#ifndef PREJIT_YAML_FINDINGS_H
#define PREJIT_YAML_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "yaml/yaml.h"

struct pj_finding {
    size_t line, column, order;
    char *message; /* owned */
};

/** Zero-initialised but for `name` is valid and empty. Running out of memory sticks and is told at the end.
 */
struct pj_findings {
    const char *name; /* of the file, as messages have it */
    struct pj_finding *items;
    size_t count, capacity;
    size_t left_out; /* beyond PJ_FINDINGS_MAX: counted, not kept */
    bool failed;
};

/** So many are shown; a generated file with one fault in each module should not fill the terminal. */
enum { PJ_FINDINGS_MAX = 1000 };

/** Adds a finding at the place of `node`. */
void pj_findings_add(struct pj_findings *findings, const struct pj_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** 0 where nothing was found; else `code` with all findings, one a line, each "file:line:column: …", in order
 * of position. PJ_ERROR_NO_MEMORY where one got lost. */
int pj_findings_result(struct pj_findings *findings, enum pj_error_code code, struct pj_error **err);

void pj_findings_free(struct pj_findings *findings);
#define PJ_CLEANUP_FINDINGS __attribute__((cleanup(pj_findings_free)))

enum { PJ_READ_TEXT = 320 };

/** What was read, for a message: "`text`" (safe to print, cut after 60 bytes), or as
 * pj_yaml_kind_name has it; gives `ret_text`. */
char *pj_findings_read(struct pj_findings *findings, const struct pj_yaml_node *node,
                       char ret_text[PJ_READ_TEXT]);

/** Is `text` UTF-8 without control characters? Others would spoil reports, and a line end at the end of a
 * path is an accident of `|`. */
bool pj_findings_printable(struct pj_findings *findings, const char *text);

#endif
