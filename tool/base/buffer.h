/* SPDX-License-Identifier: Apache-2.0 */
/* A byte buffer that grows; a failed allocation sticks and is asked for once, at the end. */
#ifndef PREJIT_BASE_BUFFER_H
#define PREJIT_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** Zero-initialised is a valid, empty buffer. `data` is followed by a NUL that `size` does not count,
 *  once anything was appended. */
struct pj_buffer {
    char *data;
    size_t size, capacity;
    bool failed; /* memory ran out: later appends do nothing */
};

void pj_buffer_append(struct pj_buffer *buffer, const void *bytes, size_t size);
void pj_buffer_puts(struct pj_buffer *buffer, const char *text);
void pj_buffer_putc(struct pj_buffer *buffer, char c);
void pj_buffer_printf(struct pj_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Makes room for `size` more bytes and gives their address (uncounted until pj_buffer_commit); NULL if out
 * of memory. */
char *pj_buffer_reserve(struct pj_buffer *buffer, size_t size);
void pj_buffer_commit(struct pj_buffer *buffer, size_t size);

/** 0, or PJ_ERROR_NO_MEMORY where any append failed. */
int pj_buffer_check(const struct pj_buffer *buffer, struct pj_error **err);

/** The bytes as NUL-terminated text, owned by the buffer; "" when empty. */
const char *pj_buffer_text(const struct pj_buffer *buffer);

/** Empties the buffer, keeping its memory. */
void pj_buffer_reset(struct pj_buffer *buffer);

void pj_buffer_free(struct pj_buffer *buffer);

#define PJ_CLEANUP_BUFFER __attribute__((cleanup(pj_buffer_free)))

#endif
