/* SPDX-License-Identifier: Apache-2.0 */
/* What the schema table says, for people. */
#ifndef PREJIT_MANIFEST_HELP_H
#define PREJIT_MANIFEST_HELP_H

#include "base/buffer.h"
#include "base/error.h"

/** Appends the text of `prejit --help manifest`, lines of at most 80 columns. */
int pj_manifest_help(struct pj_buffer *buffer, struct pj_error **err);

#endif
