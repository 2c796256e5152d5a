/* SPDX-License-Identifier: Apache-2.0 */
/* What every JSON document of the program has in common: schema, tool, command, error, exit_code. */
#ifndef PREJIT_REPORT_ENVELOPE_H
#define PREJIT_REPORT_ENVELOPE_H

#include "base/buffer.h"
#include "base/error.h"

struct pj_envelope {
    const char *command;          /* "warm"; NULL = none was named */
    const struct pj_error *error; /* why the command did not come to its work; NULL = it did */
    int exit_code;
};

/** Appends the document's begin: its schema by the command, tool and command. The members of the command's
 * own follow, each after ",\n  ". Failure sticks to the buffer. */
void pj_envelope_begin(const struct pj_envelope *envelope, struct pj_buffer *buffer);

/** Appends error, exit_code and the document's end. */
int pj_envelope_end(const struct pj_envelope *envelope, struct pj_buffer *buffer, struct pj_error **err);

#endif
