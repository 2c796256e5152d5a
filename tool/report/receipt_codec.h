/* SPDX-License-Identifier: Apache-2.0 */
/* JSON fields that are written and read by the same calls, so that the two directions cannot drift apart.
 * Internal.
 *
 * A no-op run reads its receipt before it does anything else, and what lies in a cache may have been tampered
 * with. So there is no tree and no freedom: the text is what the writer wrote, members in that order, no
 * blanks; each call takes the bytes it expects or fails. Failure sticks: later calls do nothing, the first
 * one counts. */
#ifndef PREJIT_REPORT_RECEIPT_CODEC_H
#define PREJIT_REPORT_RECEIPT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"

struct pj_codec {
    struct pj_buffer *out;        /* writing: where to; NULL = reading */
    struct pj_arena *arena;       /* reading: where strings go */
    const char *begin, *at, *end; /* reading: the text */
    const char *member;           /* whose value is at hand */
    size_t position_count;        /* how many items pj_codec_position can name */
    bool follows;                 /* a member or item was before: a comma is due */
    const char *expected;         /* what was expected where it failed; NULL = all is well */
    bool no_memory;
};

/** True while nothing failed. */
bool pj_codec_ok(const struct pj_codec *codec);
bool pj_codec_reading(const struct pj_codec *codec);

/** Notes the first failure: `expected` is a literal that completes "expected …". */
void pj_codec_fail(struct pj_codec *codec, const char *expected);
void pj_codec_fail_memory(struct pj_codec *codec);

/** 0, or the first failure as an error. */
int pj_codec_check(const struct pj_codec *codec, struct pj_error **err);

/** Exactly these bytes. */
void pj_codec_literal(struct pj_codec *codec, const char *text);

/** The name of the next member of an object, with the comma before it. */
void pj_codec_member(struct pj_codec *codec, const char *name);

/** Reading: is the next member `name`? Then its name is taken. */
bool pj_codec_try_member(struct pj_codec *codec, const char *name);

/** The same without taking it. */
bool pj_codec_has_member(struct pj_codec *codec, const char *name);

/** `{` or `[`, and its end. */
void pj_codec_open(struct pj_codec *codec, char bracket);
void pj_codec_close(struct pj_codec *codec, char bracket);

/** Is there an item number `index` in the open array? `count`: how many are to be written. */
bool pj_codec_more(struct pj_codec *codec, size_t index, size_t count);

/** `null` where *present is false; reading sets it. True = a value follows. */
bool pj_codec_optional(struct pj_codec *codec, bool *present);

/** Values. A string that may not be NULL fails where it is. */
void pj_codec_text(struct pj_codec *codec, const char **text, bool nullable);
void pj_codec_unsigned(struct pj_codec *codec, uint64_t maximum, uint64_t *value);
/** Which one of the items that were before. */
void pj_codec_position(struct pj_codec *codec, uint32_t *position);
void pj_codec_signed(struct pj_codec *codec, int64_t *value);
void pj_codec_flag(struct pj_codec *codec, bool *value);
void pj_codec_ms(struct pj_codec *codec, double *value);
void pj_codec_digest(struct pj_codec *codec, struct pj_sha256 *digest);

/** One of `count` words, "" standing for null. */
void pj_codec_word(struct pj_codec *codec, const char *const *words, unsigned count, unsigned *value);

/** May `value` be written with pj_codec_ms? */
bool pj_codec_ms_fits(double value);

#endif
