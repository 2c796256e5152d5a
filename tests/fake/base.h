/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffers, little-endian numbers, the FNV digest, clocks and files: what every part of the emulation
 * uses. */
#ifndef FAKE_BASE_H
#define FAKE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Always one NUL behind `length`, so that text can be used as a string. Free with
 * fake_buffer_free. */
struct fake_buffer {
    unsigned char *data;
    size_t length;
    size_t capacity;
};

void fake_buffer_add(struct fake_buffer *buffer, const void *bytes, size_t length);
void fake_buffer_add_text(struct fake_buffer *buffer, const char *text);
void fake_buffer_fill(struct fake_buffer *buffer, unsigned char byte, size_t length);
void fake_buffer_align(struct fake_buffer *buffer, size_t alignment);
void fake_buffer_printf(struct fake_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fake_buffer_vprintf(struct fake_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void fake_buffer_free(struct fake_buffer *buffer);
const char *fake_buffer_text(const struct fake_buffer *buffer);

/* Memory that is there: a test double has no use for a half-working state, so running out ends the process.
 */
void *fake_allocate(size_t bytes) __attribute__((returns_nonnull));
void *fake_reallocate(void *old, size_t bytes) __attribute__((returns_nonnull));
char *fake_copy_text(const char *text, size_t length) __attribute__((returns_nonnull));

/* Ends the process with a message: for tests that are set up wrongly, never for what the real driver would
 * survive. */
_Noreturn void fake_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t fake_fnv(const void *bytes, size_t length);

uint32_t fake_get32(const unsigned char *bytes);
uint64_t fake_get64(const unsigned char *bytes);
void fake_put32(unsigned char *bytes, uint32_t value);
void fake_put64(unsigned char *bytes, uint64_t value);

double fake_now_ms(void);
/* Lets `ms` pass: asleep, or, when `burn` is set, using that much processor time of this thread. */
void fake_pass(double ms, bool burn);

/* Whole contents of a descriptor from its start. Returns false where reading fails. */
bool fake_read_all(int descriptor, struct fake_buffer *ret_buffer);
bool fake_write_all(int descriptor, const void *bytes, size_t length, int64_t offset);

#endif
