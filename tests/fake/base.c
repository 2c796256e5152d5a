/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffers, little-endian numbers, the FNV digest, clocks and files. */
#include "base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef FAKE_WHO
#define FAKE_WHO "emulated driver"
#endif

_Noreturn void fake_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs(FAKE_WHO ": ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void *fake_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        fake_die("no memory for %zu bytes", bytes);
    return memory;
}

void *fake_reallocate(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        fake_die("no memory for %zu bytes", bytes);
    return memory;
}

char *fake_copy_text(const char *text, size_t length)
{
    char *copy = fake_allocate(length + 1);
    memcpy(copy, text, length);
    return copy;
}

static void reserve(struct fake_buffer *buffer, size_t more)
{
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity)
        return;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity < needed)
        capacity *= 2;
    buffer->data = fake_reallocate(buffer->data, capacity);
    buffer->capacity = capacity;
}

void fake_buffer_add(struct fake_buffer *buffer, const void *bytes, size_t length)
{
    reserve(buffer, length);
    if (length)
        memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = 0;
}

void fake_buffer_add_text(struct fake_buffer *buffer, const char *text)
{
    fake_buffer_add(buffer, text, strlen(text));
}

void fake_buffer_fill(struct fake_buffer *buffer, unsigned char byte, size_t length)
{
    reserve(buffer, length);
    memset(buffer->data + buffer->length, byte, length);
    buffer->length += length;
    buffer->data[buffer->length] = 0;
}

void fake_buffer_align(struct fake_buffer *buffer, size_t alignment)
{
    fake_buffer_fill(buffer, 0, (alignment - buffer->length % alignment) % alignment);
}

void fake_buffer_vprintf(struct fake_buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length > 0) {
        reserve(buffer, (size_t)length);
        vsnprintf((char *)buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void fake_buffer_printf(struct fake_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fake_buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

void fake_buffer_free(struct fake_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct fake_buffer){0};
}

const char *fake_buffer_text(const struct fake_buffer *buffer)
{
    return buffer->data ? (const char *)buffer->data : "";
}

uint64_t fake_fnv(const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint32_t fake_get32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint64_t fake_get64(const unsigned char *bytes)
{
    return (uint64_t)fake_get32(bytes) | (uint64_t)fake_get32(bytes + 4) << 32;
}

void fake_put32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

void fake_put64(unsigned char *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static double clock_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

double fake_now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

void fake_pass(double ms, bool burn)
{
    if (ms <= 0)
        return;
    if (burn) {
        double end = clock_ms(CLOCK_THREAD_CPUTIME_ID) + ms;
        while (clock_ms(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
        return;
    }
    struct timespec left = {.tv_sec = (time_t)(ms / 1e3)};
    left.tv_nsec = (long)((ms - (double)left.tv_sec * 1e3) * 1e6);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

bool fake_read_all(int descriptor, struct fake_buffer *ret_buffer)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    struct fake_buffer buffer = {0};
    reserve(&buffer, (size_t)status.st_size + 1);
    buffer.data[0] = 0;
    for (;;) {
        reserve(&buffer, 4096);
        ssize_t got = pread(descriptor, buffer.data + buffer.length, buffer.capacity - buffer.length - 1,
                            (off_t)buffer.length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            fake_buffer_free(&buffer);
            return false;
        }
        if (got == 0)
            break;
        buffer.length += (size_t)got;
    }
    buffer.data[buffer.length] = 0;
    *ret_buffer = buffer;
    return true;
}

bool fake_write_all(int descriptor, const void *bytes, size_t length, int64_t offset)
{
    const unsigned char *next = bytes;
    while (length > 0) {
        ssize_t put = pwrite(descriptor, next, length, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        next += put;
        length -= (size_t)put;
        offset += put;
    }
    return true;
}
