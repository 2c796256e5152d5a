/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from bytes; separate from the socket so that it can be tested and fuzzed alone. */
#ifndef PREJIT_JOB_WIRE_CODEC_H
#define PREJIT_JOB_WIRE_CODEC_H

#include "base/buffer.h"
#include "job/wire.h"

/** Appends the message's bytes; PJ_ERROR_UNSUPPORTED where it would be longer than PJ_WIRE_MAX_BYTES or a
 * list has more items than its maximum, PJ_ERROR_INTERNAL where the type does not exist. */
int pj_wire_encode(const struct pj_wire_message *message, struct pj_buffer *ret_bytes, struct pj_error **err);

/** Takes bytes apart; every length and count is checked. PJ_ERROR_WORKER for anything malformed. */
int pj_wire_decode(const void *bytes, size_t size, struct pj_arena *arena,
                   struct pj_wire_message *ret_message, struct pj_error **err);

#endif
