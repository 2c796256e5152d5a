/* SPDX-License-Identifier: Apache-2.0 */
/* The error contract: 0 or a negative code, and an object that says what, where and what to do.
 *
 * A function that can fail takes `struct pj_error **err` last. On success it leaves *err alone, on failure it
 * sets it (err may be NULL: then only the code is returned). Context is added on the way up with
 * pj_error_wrap; the text is printed once, by the command line. The caller owns the object. */
#ifndef PREJIT_BASE_ERROR_H
#define PREJIT_BASE_ERROR_H

#include <prejit/error.h>

struct pj_error {
    enum pj_error_code code;
    int errnum; /* errno of the failing call, 0 where there was none */
    char *message;
};

/** Sets *err and returns `code`, so that a caller can write `return pj_error_set(…)`. */
int pj_error_set(struct pj_error **err, enum pj_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Like pj_error_set, with ": " and the text of `errnum` behind the message. */
int pj_error_errno(struct pj_error **err, enum pj_error_code code, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Out of memory; needs no memory itself. Returns PJ_ERROR_NO_MEMORY. */
int pj_error_no_memory(struct pj_error **err);

/** Puts "text: " before the message of *err and returns its code; `code` where err or *err is NULL. */
int pj_error_wrap(struct pj_error **err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Gives *err another code and errno, where a failure means something else to the caller's caller; out of
 * memory stays what it is. Returns the code it has then. */
int pj_error_recode(struct pj_error **err, enum pj_error_code code, int errnum);

/** Frees *err and sets it to NULL: for failures that are expected and handled. */
void pj_error_clear(struct pj_error **err);

#define PJ_CLEANUP_ERROR __attribute__((cleanup(pj_error_clear)))

#endif
