/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that all JSON documents share. */
#include "report/json_builder.h"

#include "version.h"

void pj_json_member(struct pj_json_builder *builder, const char *name, json_t *value)
{
    if (!pj_json_set(builder->value, name, value))
        builder->failed = true;
}

void pj_json_item(struct pj_json_builder *builder, json_t *value)
{
    if (!pj_json_push(builder->value, value))
        builder->failed = true;
}

json_t *pj_json_finish(struct pj_json_builder *builder)
{
    if (builder->failed) {
        json_decref(builder->value);
        builder->value = NULL;
    }
    return builder->value;
}

void pj_json_append(struct pj_buffer *buffer, const char *before, json_t *value)
{
    PJ_CLEANUP_JSON json_t *owned = value;
    pj_buffer_puts(buffer, before);
    if (!owned || pj_json_dump(owned, buffer, NULL) != 0)
        buffer->failed = true;
}

json_t *pj_json_tool(void)
{
    struct pj_json_builder tool = {.value = json_object()};
    pj_json_member(&tool, "name", json_string("prejit"));
    pj_json_member(&tool, "version", json_string(PREJIT_VERSION));
    return pj_json_finish(&tool);
}

json_t *pj_json_library(const struct pj_report_library *library)
{
    if (!library->path)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "path", pj_json_text(library->path));
    pj_json_member(&object, "version", pj_json_text(library->version));
    pj_json_member(&object, "build", pj_json_text(library->build));
    return pj_json_finish(&object);
}
