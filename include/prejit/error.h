/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes that prejit's functions return; their values and names are pinned. */
#ifndef PREJIT_ERROR_H
#define PREJIT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what libprejit exports. */
#define PJ_API __attribute__((visibility("default")))

/** What kind of failure it was. Every function that can fail returns 0 or one of these. */
enum pj_error_code {
    PJ_OK = 0,
    PJ_ERROR_USAGE = -1,        /**< the caller's arguments do not make sense */
    PJ_ERROR_MANIFEST = -2,     /**< the manifest, or a file it names, is wrong */
    PJ_ERROR_ENVIRONMENT = -3,  /**< the machine cannot do it: no driver, no GPU, unusable cache */
    PJ_ERROR_IO = -4,           /**< a system call failed */
    PJ_ERROR_NO_MEMORY = -5,    /**< out of memory */
    PJ_ERROR_FORMAT = -6,       /**< bytes are not in the expected format */
    PJ_ERROR_CUDA = -7,         /**< the CUDA driver refused */
    PJ_ERROR_WORKER = -8,       /**< a worker process died or broke the protocol */
    PJ_ERROR_BUSY = -9,         /**< something passing is in the way: a lock, a reboot that is due */
    PJ_ERROR_INTERRUPTED = -10, /**< a signal or a deadline ended it */
    PJ_ERROR_UNSUPPORTED = -11, /**< this version cannot do it */
    PJ_ERROR_INTERNAL = -12,    /**< a fault in prejit itself */
};

/** Name of a code as reports print it, for example "environment"; "unknown" for a value not listed. */
PJ_API const char *pj_error_code_name(enum pj_error_code code);

struct pj_error;

/** Code of `error`; PJ_OK for NULL. */
PJ_API enum pj_error_code pj_error_code(const struct pj_error *error);

/** Message of `error`, or "unknown error" for NULL. It says what was being done, to what, what was found, and
 * what to do. */
PJ_API const char *pj_error_message(const struct pj_error *error);

/** Frees `error`; accepts NULL. */
PJ_API void pj_error_free(struct pj_error *error);

#ifdef __cplusplus
}
#endif

#endif
