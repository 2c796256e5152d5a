/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of docs/ that are made from the program's tables. Each function appends the whole file. */
#ifndef PREJIT_DOCUMENTS_H
#define PREJIT_DOCUMENTS_H

#include "base/buffer.h"

/** docs/manifest.md, from the table of manifest keys. */
void document_manifest(struct pj_buffer *buffer);

/** The manifest that this page shows; it parses. */
const char *document_manifest_example(void);

/** docs/manifest.schema.json, from the same table: a JSON Schema (draft 7) that editors check manifests with.
 */
void document_manifest_schema(struct pj_buffer *buffer);

/** docs/troubleshooting.md, from the table of findings. */
void document_troubleshooting(struct pj_buffer *buffer);

#endif
