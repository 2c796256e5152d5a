/* SPDX-License-Identifier: Apache-2.0 */
/* Values for JSON output: unknown ones are null, text is valid UTF-8 whatever comes in. Internal.
 *
 * Each function gives a new reference, or NULL where memory is out; pj_json_set accepts that NULL and says
 * so. */
#ifndef PREJIT_REPORT_JSON_VALUE_H
#define PREJIT_REPORT_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buffer.h"
#include "base/error.h"

/** A string, or null for NULL. Where `text` is not UTF-8, its lines are escaped like text for a terminal. */
json_t *pj_json_text(const char *text);
json_t *pj_json_text_sized(const char *text, size_t size);

/** A real number rounded to thousandths; null where it is not known, or not finite (JSON has no such number).
 */
json_t *pj_json_number(bool known, double value);

/** The same, rounded to millionths: a run that has nothing to do takes less than a thousandth of a second. */
json_t *pj_json_seconds(bool known, double value);

/** A whole number (at most 2^63 - 1, jansson's limit), or null. */
json_t *pj_json_count(bool known, uint64_t value);

/** Puts `value` (stolen, may be NULL) into `object`; false where memory is out. */
bool pj_json_set(json_t *object, const char *name, json_t *value);

/** Appends `value` (stolen, may be NULL) to `array`; false where memory is out. */
bool pj_json_push(json_t *array, json_t *value);

/** Appends `value` to `buffer` on one line. */
int pj_json_dump(const json_t *value, struct pj_buffer *buffer, struct pj_error **err);

void pj_json_free_pointer(json_t **value);

#define PJ_CLEANUP_JSON __attribute__((cleanup(pj_json_free_pointer)))

#endif
