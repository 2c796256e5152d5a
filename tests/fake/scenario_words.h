/* SPDX-License-Identifier: Apache-2.0 */
/* What only the driver's scenario has in its lines: result codes, UUIDs and the `kernel=GLOB` rules. */
#ifndef FAKE_SCENARIO_WORDS_H
#define FAKE_SCENARIO_WORDS_H

#include "scenario.h"
#include "words.h"

/* Reads the next word and ends the process where it is no error's name. */
CUresult fake_words_result(struct fake_words *words);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". */
bool fake_uuid_parse(const char *text, CUuuid *ret_uuid);

/* A directive with kernel=…; false where `directive` is none of these. */
bool fake_rule_read(const char *directive, struct fake_words *words, struct fake_rule *ret_rule);

#endif
