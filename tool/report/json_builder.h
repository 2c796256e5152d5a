/* SPDX-License-Identifier: Apache-2.0 */
/* Builds JSON documents piece by piece; running out of memory is asked for once, at the end. Internal. */
#ifndef PREJIT_REPORT_JSON_BUILDER_H
#define PREJIT_REPORT_JSON_BUILDER_H

#include "report/json_value.h"
#include "report/model.h"

/** An object or array that is being built: start with `.value = json_object()`; `failed` sticks. */
struct pj_json_builder {
    json_t *value;
    bool failed;
};

/** Sets a member of the object; `value` is stolen, NULL means that memory is out. */
void pj_json_member(struct pj_json_builder *builder, const char *name, json_t *value);

/** Appends to the array; `value` as above. */
void pj_json_item(struct pj_json_builder *builder, json_t *value);

/** What was built, the caller's; NULL where memory was out. */
json_t *pj_json_finish(struct pj_json_builder *builder);

/** Appends `before` and `value` (stolen; NULL: memory is out) as text. Failure sticks to the buffer. */
void pj_json_append(struct pj_buffer *buffer, const char *before, json_t *value);

/** The program that writes the document: name and version. */
json_t *pj_json_tool(void);

/** Path, version and build; null where the path is NULL. */
json_t *pj_json_library(const struct pj_report_library *library);

#endif
