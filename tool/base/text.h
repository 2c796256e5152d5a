/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to and from text, and text made safe to print. */
#ifndef PREJIT_BASE_TEXT_H
#define PREJIT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { PJ_SIZE_TEXT = 32, PJ_DURATION_TEXT = 32 };

/** The whole of `text` as a decimal number of at most `maximum`; false for anything else, a sign included. */
bool pj_text_to_u64(const char *text, uint64_t maximum, uint64_t *ret_value);

/** A size as people write it: digits, optionally a fraction, optionally B, kB, MB, GB, TB (powers of 1000) or
 * KiB, MiB, GiB, TiB (powers of 1024); false for anything else and for what does not fit. */
bool pj_text_to_size(const char *text, uint64_t *ret_bytes);

/** What was counted or measured: "512 B", "4.2 MB", "20 MB" (powers of 1000); gives `ret_text`. */
char *pj_text_from_size(uint64_t bytes, char ret_text[PJ_SIZE_TEXT]);

/** What somebody set: like a size, but "4.0 MiB", "1.0 GiB" where it is a whole number of them; gives
 * `ret_text`. */
char *pj_text_from_limit(uint64_t bytes, char ret_text[PJ_SIZE_TEXT]);

/** "0.04 ms", "0.9 ms", "35 ms", "2.9 s", "3 min 20 s", "1 h 2 min"; gives `ret_text`. */
char *pj_text_from_ms(double ms, char ret_text[PJ_DURATION_TEXT]);

/** Appends `text` with control characters and invalid UTF-8 as \xNN, so that a terminal shows what is there.
 */
void pj_text_escape(struct pj_buffer *buffer, const char *text, size_t size);

/** The entry of `names` that `text` was probably meant to be (edit distance ≤ 2, or only '_', '-' or case
 *  differing), or NULL. */
const char *pj_text_suggest(const char *text, const char *const *names, size_t count);

#endif
