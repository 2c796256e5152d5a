/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one chosen allocation of a program fail. Include it in one C file of a program that is linked with
 * unit_failing_memory, which sends each of these functions here. */
#ifndef PREJIT_UNIT_SUPPORT_FAILING_MEMORY_H
#define PREJIT_UNIT_SUPPORT_FAILING_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Allocations until the one that fails; 0 = none fails. */
static size_t failing_memory_countdown;

/** The `n`th allocation from now fails, 1 being the next; those after it succeed. */
static inline void failing_memory_start(size_t n)
{
    failing_memory_countdown = n;
}

/** Ends it; false where the program made fewer allocations than that. */
static inline bool failing_memory_stop(void)
{
    bool failed = failing_memory_countdown == 0;
    failing_memory_countdown = 0;
    return failed;
}

static bool failing_memory_now(void)
{
    return failing_memory_countdown > 0 && --failing_memory_countdown == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return failing_memory_now() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return failing_memory_now() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    return failing_memory_now() ? NULL : __real_realloc(old, size);
}

void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return failing_memory_now() ? NULL : __real_reallocarray(old, count, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return failing_memory_now() ? NULL : __real_strdup(text);
}

char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size)
{
    return failing_memory_now() ? NULL : __real_strndup(text, size);
}

int __real_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
__attribute__((format(printf, 2, 0))) int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    return failing_memory_now() ? -1 : __real_vasprintf(text, format, arguments);
}

/* The name that fortified code calls it by. */
int __real___vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
__attribute__((format(printf, 3, 0))) int __wrap___vasprintf_chk(char **text, int flag, const char *format,
                                                                 va_list arguments)
{
    return failing_memory_now() ? -1 : __real___vasprintf_chk(text, flag, format, arguments);
}

/* asprintf, which base uses to join paths. */
int __wrap_asprintf(char **text, const char *format, ...);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **text, const char *format, ...)
{
    if (failing_memory_now())
        return -1;
    va_list arguments;
    va_start(arguments, format);
    int length = __real_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);
__attribute__((format(printf, 3, 4))) int __wrap___asprintf_chk(char **text, int flag, const char *format,
                                                                ...)
{
    (void)flag;
    if (failing_memory_now())
        return -1;
    va_list arguments;
    va_start(arguments, format);
    int length = __real_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

#endif
