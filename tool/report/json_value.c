/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values from what the run model holds. */
#include "report/json_value.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/phrase.h"

json_t *pj_json_text(const char *text)
{
    return text ? pj_json_text_sized(text, strlen(text)) : json_null();
}

json_t *pj_json_text_sized(const char *text, size_t size)
{
    if (pj_phrase_is_utf8(text, size))
        return json_stringn_nocheck(text, size);
    /* Line ends and tabs stay what they are: JSON has its own way to write them. */
    PJ_CLEANUP_BUFFER struct pj_buffer escaped = {0};
    for (size_t at = 0; at < size;) {
        size_t start = at;
        while (at < size && text[at] != '\n' && text[at] != '\t')
            at++;
        pj_text_escape(&escaped, text + start, at - start);
        if (at < size)
            pj_buffer_putc(&escaped, text[at++]);
    }
    return escaped.failed ? NULL : json_stringn(pj_buffer_text(&escaped), escaped.size);
}

/* By hand, so that the program needs no libm; a double beyond 2^32 has no millionths to round. */
static json_t *make_rounded(bool known, double value, double parts, double maximum)
{
    if (!known || !isfinite(value))
        return json_null();
    if (value > -maximum && value < maximum)
        value = (double)(int64_t)(value * parts + (value < 0 ? -0.5 : 0.5)) / parts;
    return json_real(value);
}

json_t *pj_json_number(bool known, double value)
{
    return make_rounded(known, value, 1e3, 0x1p42);
}

json_t *pj_json_seconds(bool known, double value)
{
    return make_rounded(known, value, 1e6, 0x1p32);
}

json_t *pj_json_count(bool known, uint64_t value)
{
    if (!known)
        return json_null();
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

bool pj_json_set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new_nocheck(object, name, value) == 0;
}

bool pj_json_push(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

static int append(const char *bytes, size_t size, void *buffer)
{
    struct pj_buffer *target = (struct pj_buffer *)buffer;
    pj_buffer_append(target, bytes, size);
    return target->failed ? -1 : 0;
}

int pj_json_dump(const json_t *value, struct pj_buffer *buffer, struct pj_error **err)
{
    /* 15 digits give every rounded number back as it was written: 2.9, not 2.8999999999999999. */
    if (json_dump_callback(value, append, buffer, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) != 0)
        return pj_error_no_memory(err);
    return 0;
}

void pj_json_free_pointer(json_t **value)
{
    json_decref(*value);
}
