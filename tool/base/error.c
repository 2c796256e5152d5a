/* SPDX-License-Identifier: Apache-2.0 */
/* Error objects: made, given context, freed. */
#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory_text[] = "out of memory";
static const struct pj_error no_memory = {
    .code = PJ_ERROR_NO_MEMORY, .errnum = 0, .message = (char *)(uintptr_t)no_memory_text};

static const struct {
    enum pj_error_code code;
    const char *name;
} code_names[] = {
    {PJ_OK, "ok"},
    {PJ_ERROR_USAGE, "usage"},
    {PJ_ERROR_MANIFEST, "manifest"},
    {PJ_ERROR_ENVIRONMENT, "environment"},
    {PJ_ERROR_IO, "io"},
    {PJ_ERROR_NO_MEMORY, "no-memory"},
    {PJ_ERROR_FORMAT, "format"},
    {PJ_ERROR_CUDA, "cuda"},
    {PJ_ERROR_WORKER, "worker"},
    {PJ_ERROR_BUSY, "busy"},
    {PJ_ERROR_INTERRUPTED, "interrupted"},
    {PJ_ERROR_UNSUPPORTED, "unsupported"},
    {PJ_ERROR_INTERNAL, "internal"},
};

const char *pj_error_code_name(enum pj_error_code code)
{
    for (size_t i = 0; i < sizeof code_names / sizeof *code_names; i++) {
        if (code_names[i].code == code)
            return code_names[i].name;
    }
    return "unknown";
}

int pj_error_no_memory(struct pj_error **err)
{
    if (err)
        *err = (struct pj_error *)(uintptr_t)&no_memory; /* never written to, never freed */
    return PJ_ERROR_NO_MEMORY;
}

static int set_text(struct pj_error **err, enum pj_error_code code, int errnum, char *message)
{
    if (!message)
        return pj_error_no_memory(err);
    struct pj_error *error = malloc(sizeof *error);
    if (!error) {
        free(message);
        return pj_error_no_memory(err);
    }
    *error = (struct pj_error){.code = code, .errnum = errnum, .message = message};
    *err = error;
    return code;
}

/* NULL where memory is out; free(). */
__attribute__((format(printf, 1, 0))) static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

/* "context: text", freeing `context`, which may be NULL; NULL where memory is out. */
static char *put_before(char *context, const char *text)
{
    char *message = NULL;
    if (context && asprintf(&message, "%s: %s", context, text) < 0)
        message = NULL;
    free(context);
    return message;
}

int pj_error_set(struct pj_error **err, enum pj_error_code code, const char *format, ...)
{
    if (!err)
        return code;
    va_list arguments;
    va_start(arguments, format);
    char *message = format_text(format, arguments);
    va_end(arguments);
    return set_text(err, code, 0, message);
}

int pj_error_errno(struct pj_error **err, enum pj_error_code code, int errnum, const char *format, ...)
{
    if (!err)
        return code;
    va_list arguments;
    va_start(arguments, format);
    char *what = format_text(format, arguments);
    va_end(arguments);
    return set_text(err, code, errnum, put_before(what, strerror(errnum)));
}

int pj_error_wrap(struct pj_error **err, int code, const char *format, ...)
{
    if (!err || !*err)
        return code;
    if (*err == &no_memory)
        return PJ_ERROR_NO_MEMORY;
    va_list arguments;
    va_start(arguments, format);
    char *message = put_before(format_text(format, arguments), (*err)->message);
    va_end(arguments);
    if (message) {
        free((*err)->message);
        (*err)->message = message;
    }
    return (*err)->code;
}

enum pj_error_code pj_error_code(const struct pj_error *error)
{
    return error ? error->code : PJ_OK;
}

int pj_error_recode(struct pj_error **err, enum pj_error_code code, int errnum)
{
    if (!err || !*err)
        return code;
    if (*err == &no_memory)
        return PJ_ERROR_NO_MEMORY;
    (*err)->code = code;
    (*err)->errnum = errnum;
    return code;
}

const char *pj_error_message(const struct pj_error *error)
{
    return error ? error->message : "unknown error";
}

void pj_error_free(struct pj_error *error)
{
    if (!error || error == &no_memory)
        return;
    free(error->message);
    free(error);
}

void pj_error_clear(struct pj_error **err)
{
    pj_error_free(*err);
    *err = NULL;
}
