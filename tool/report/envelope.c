/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of JSON documents. */
#include "report/envelope.h"

#include <string.h>

#include "base/memory.h"
#include "report/json_builder.h"

static const char *schema_of(const char *command)
{
    static const struct {
        const char *command, *schema;
    } schemas[] = {
        {"build", "prejit-build/1"},
        {"doctor", "prejit-doctor/1"},
        {"cache", "prejit-cache/1"},
        {"profile", "prejit-profile-run/1"},
    };
    for (size_t i = 0; command && i < PJ_COUNT(schemas); i++) {
        if (strcmp(command, schemas[i].command) == 0)
            return schemas[i].schema;
    }
    return "prejit-report/1";
}

void pj_envelope_begin(const struct pj_envelope *envelope, struct pj_buffer *buffer)
{
    pj_json_append(buffer, "{\n  \"schema\": ", json_string(schema_of(envelope->command)));
    pj_json_append(buffer, ",\n  \"tool\": ", pj_json_tool());
    pj_json_append(buffer, ",\n  \"command\": ", pj_json_text(envelope->command));
}

static json_t *make_error(const struct pj_error *error)
{
    if (!error)
        return json_null();
    struct pj_json_builder object = {.value = json_object()};
    pj_json_member(&object, "code", json_string(pj_error_code_name(pj_error_code(error))));
    pj_json_member(&object, "message", pj_json_text(pj_error_message(error)));
    return pj_json_finish(&object);
}

int pj_envelope_end(const struct pj_envelope *envelope, struct pj_buffer *buffer, struct pj_error **err)
{
    pj_json_append(buffer, ",\n  \"error\": ", make_error(envelope->error));
    pj_json_append(buffer, ",\n  \"exit_code\": ", json_integer(envelope->exit_code));
    pj_buffer_puts(buffer, "\n}\n");
    return pj_buffer_check(buffer, err);
}
