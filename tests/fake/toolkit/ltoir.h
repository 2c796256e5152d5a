/* SPDX-License-Identifier: Apache-2.0 */
/* LTO-IR of the stand-in libraries: the real one's first bytes, and PTX behind them. */
#ifndef TOOLKIT_LTOIR_H
#define TOOLKIT_LTOIR_H

#include "../base.h"

void toolkit_ltoir_write(unsigned version, const struct fake_buffer *ptx, struct fake_buffer *ret_ltoir);

bool toolkit_ltoir_is(const void *bytes, size_t length);

/* The version, a byte behind the magic: a real library refuses one that it does not know. */
unsigned toolkit_ltoir_version(const void *bytes);

/* The text inside; empty for LTO-IR that a real compiler made. */
const char *toolkit_ltoir_ptx(const void *bytes, size_t length, size_t *ret_length);

#endif
