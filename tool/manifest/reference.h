/* SPDX-License-Identifier: Apache-2.0 */
/* What the schema table says, for people and for editors. */
#ifndef PREJIT_MANIFEST_REFERENCE_H
#define PREJIT_MANIFEST_REFERENCE_H

#include "base/buffer.h"
#include "base/error.h"

/** Appends the text of `prejit --help manifest`, lines of at most 80 columns. */
int pj_manifest_help(struct pj_buffer *buffer, struct pj_error **err);

/** Appends the reference page, docs/manifest.md. */
int pj_manifest_reference(struct pj_buffer *buffer, struct pj_error **err);

/** Appends the JSON Schema (draft 7) that editors check manifests with, docs/manifest.schema.json. */
int pj_manifest_json_schema(struct pj_buffer *buffer, struct pj_error **err);

/** The manifest that the reference page shows; it parses. */
const char *pj_manifest_example(void);

#endif
