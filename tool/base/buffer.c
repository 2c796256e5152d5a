/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffers. */
#include "base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pj_buffer_reserve(struct pj_buffer *buffer, size_t size)
{
    if (buffer->failed)
        return NULL;
    size_t needed;
    if (__builtin_add_overflow(buffer->size, size, &needed) || needed == SIZE_MAX) {
        buffer->failed = true;
        return NULL;
    }
    needed++; /* the NUL behind the data */
    if (needed > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity : 256;
        while (capacity < needed)
            capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
        char *grown = realloc(buffer->data, capacity);
        if (!grown) {
            buffer->failed = true;
            return NULL;
        }
        buffer->data = grown;
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->size;
}

void pj_buffer_commit(struct pj_buffer *buffer, size_t size)
{
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void pj_buffer_append(struct pj_buffer *buffer, const void *bytes, size_t size)
{
    char *room = pj_buffer_reserve(buffer, size);
    if (!room)
        return;
    if (size > 0)
        memcpy(room, bytes, size);
    pj_buffer_commit(buffer, size);
}

void pj_buffer_puts(struct pj_buffer *buffer, const char *text)
{
    pj_buffer_append(buffer, text, strlen(text));
}

void pj_buffer_putc(struct pj_buffer *buffer, char c)
{
    pj_buffer_append(buffer, &c, 1);
}

void pj_buffer_printf(struct pj_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        buffer->failed = true;
        return;
    }
    pj_buffer_append(buffer, text, (size_t)length);
    free(text);
}

int pj_buffer_check(const struct pj_buffer *buffer, struct pj_error **err)
{
    return buffer->failed ? pj_error_no_memory(err) : 0;
}

const char *pj_buffer_text(const struct pj_buffer *buffer)
{
    return buffer->data && buffer->size > 0 ? buffer->data : "";
}

void pj_buffer_reset(struct pj_buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

void pj_buffer_free(struct pj_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct pj_buffer){0};
}
