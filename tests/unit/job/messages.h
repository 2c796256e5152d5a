/* SPDX-License-Identifier: Apache-2.0 */
/* One message of every type with every field set, and the comparison of two messages. */
#ifndef PREJIT_UNIT_JOB_MESSAGES_H
#define PREJIT_UNIT_JOB_MESSAGES_H

#include "unit.h"

#include "job/wire.h"

enum { MESSAGE_TYPES = 7 };

/** Message number `i`, 0 to MESSAGE_TYPES - 1. Its data is static. */
struct pj_wire_message message_make(size_t i);

/** Fails the test unless both are the same in every field. */
void message_expect_equal(const struct pj_wire_message *a, const struct pj_wire_message *b);

#endif
