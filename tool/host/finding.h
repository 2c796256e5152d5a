/* SPDX-License-Identifier: Apache-2.0 */
/* What can be wrong around a cache: one table of all findings, and the list of those that were made.
 *
 * The table drives what `doctor` prints, its JSON, and docs/troubleshooting.md. Codes are released words:
 * they may be added, never renamed. */
#ifndef PREJIT_HOST_FINDING_H
#define PREJIT_HOST_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"

enum pj_severity { PJ_SEVERITY_ERROR, PJ_SEVERITY_WARNING, PJ_SEVERITY_NOTE, PJ_SEVERITY_COUNT };

/** What a user sees who has the problem; the sections of docs/troubleshooting.md. */
enum pj_symptom {
    PJ_SYMPTOM_EVERY_START,
    PJ_SYMPTOM_OTHER_USER,
    PJ_SYMPTOM_LOST,
    PJ_SYMPTOM_NO_DRIVER,
    PJ_SYMPTOM_COMPILE_FAILS,
    PJ_SYMPTOM_STILL_SLOW,
    PJ_SYMPTOM_DANGER,
    PJ_SYMPTOM_NOT_SURE,
    PJ_SYMPTOM_COUNT
};

enum pj_finding_code {
    /* the environment */
    PJ_FINDING_CACHE_DISABLED,
    PJ_FINDING_CACHE_DISABLE_ODD,
    PJ_FINDING_CACHE_PATH_EMPTY,
    PJ_FINDING_CACHE_PATH_LITERAL,
    PJ_FINDING_CACHE_PATH_RELATIVE,
    PJ_FINDING_CACHE_PATH_ROOT,
    PJ_FINDING_CACHE_SIZE_NOTHING,
    PJ_FINDING_CACHE_SIZE_ODD,
    PJ_FINDING_HOME_UNSET,
    PJ_FINDING_HOME_IS_ROOT,
    PJ_FINDING_VARIABLE_MISSPELT,
    PJ_FINDING_JIT_FORCED,
    PJ_FINDING_JIT_DISABLED,
    PJ_FINDING_LOADING_EAGER,
    PJ_FINDING_LOADING_ODD,
    PJ_FINDING_NO_DEVICE_VISIBLE,
    PJ_FINDING_CONTAINER_DEVICES,
    PJ_FINDING_CONTAINER_CAPABILITIES,
    PJ_FINDING_NOT_PASSED_ON,
    /* the program asked about */
    PJ_FINDING_ENV_FILE_LINE,
    PJ_FINDING_PROCESS_UNREADABLE,
    PJ_FINDING_PROCESS_CLOSED_TO_ROOT,
    PJ_FINDING_OTHER_ROOT,
    PJ_FINDING_USER_WITHOUT_ENTRY,
    /* the cache's folder and files */
    PJ_FINDING_CACHE_ELSEWHERE,
    PJ_FINDING_FILLED_CACHE_UNKNOWN,
    PJ_FINDING_CACHE_NOT_THERE,
    PJ_FINDING_CACHE_NOT_CREATABLE,
    PJ_FINDING_PATH_NOT_DIRECTORY,
    PJ_FINDING_PATH_CLOSED,
    PJ_FINDING_PATH_OF_ROOT,
    PJ_FINDING_CACHE_OF_ROOT,
    PJ_FINDING_CACHE_CLOSED,
    PJ_FINDING_CACHE_OF_OTHER_USER,
    PJ_FINDING_CACHE_NOT_OF_ROOT,
    PJ_FINDING_ROOT_AMONG_OTHERS,
    PJ_FINDING_ENTRIES_OF_OTHERS,
    PJ_FINDING_PATH_OF_OTHER_USER,
    PJ_FINDING_CACHE_OPEN,
    PJ_FINDING_CACHE_READ_ONLY,
    PJ_FINDING_INDEX_NOT_WRITABLE,
    PJ_FINDING_INDEX_READ_ONLY,
    PJ_FINDING_INDEX_NOT_CREATABLE,
    PJ_FINDING_INDEX_DANGEROUS,
    PJ_FINDING_ENTRIES_UNREADABLE,
    PJ_FINDING_CACHE_UNREADABLE,
    PJ_FINDING_LIMIT_BELOW_CONTENT,
    PJ_FINDING_LIMIT_BELOW_ENTRY,
    /* the file system */
    PJ_FINDING_FILE_SYSTEM_SHARED,
    PJ_FINDING_FILE_SYSTEM_MEMORY,
    PJ_FINDING_FILE_SYSTEM_LAYERED,
    PJ_FINDING_SPACE_NONE,
    PJ_FINDING_SPACE_LOW,
    /* the driver and the machine */
    PJ_FINDING_DRIVER_MISSING,
    PJ_FINDING_DRIVER_STUB,
    PJ_FINDING_JIT_COMPILER_MISSING,
    PJ_FINDING_HELPER_MISSING,
    PJ_FINDING_HELPER_VERSION,
    PJ_FINDING_KERNEL_DRIVER_MISSING,
    PJ_FINDING_REBOOT_PENDING,
    PJ_FINDING_FORWARD_COMPATIBILITY,
    PJ_FINDING_NO_GPU,
    PJ_FINDING_DEVICE_MISSING,
    PJ_FINDING_DEVICE_LATE,
    PJ_FINDING_DEVICE_DENIED,
    PJ_FINDING_DRIVER_FAILED,
    PJ_FINDING_GPU_NOT_SERVED,
    PJ_FINDING_MEMORY_SMALL,
    PJ_FINDING_OTHER_CACHE,
    /* the toolkit */
    PJ_FINDING_TOOLKIT_OPTION_WRONG,
    PJ_FINDING_CUDA_HOME_PASSED_OVER,
    PJ_FINDING_NVRTC_MISSING,
    PJ_FINDING_NVRTC_BUILTINS_MISSING,
    PJ_FINDING_TOOLKIT_HEADERS_MISSING,
    /* an image build */
    PJ_FINDING_OFFLINE_PROFILE_UNFIT,
    PJ_FINDING_OFFLINE_COMPILER_MISSING,
    PJ_FINDING_OFFLINE_COMPILER_UNFIT,
    PJ_FINDING_OFFLINE_COMPILER_UNSURE,
    PJ_FINDING_OFFLINE_NATIVE,
    PJ_FINDING_COUNT
};

enum pj_finding_effect {
    PJ_STOPS_READING = 1, /* the program finds nothing in the cache */
    PJ_STOPS_WARM = 2,    /* `warm` in that environment would be useless */
};

/** One row of the table. In `cure`, {subject} and {value} stand for what the finding is about, {folder} for
 * the directory that the subject lies in; all are put in as words of a shell. */
struct pj_finding_info {
    const char *code;
    enum pj_severity severity;
    unsigned effects; /* of enum pj_finding_effect */
    enum pj_symptom symptom;
    const char *title;        /* a clause: "the cache is switched off" */
    const char *explanation;  /* one or two sentences */
    const char *cure;         /* NULL where there is nothing to do */
    const char *value_word;   /* what the page prints for {value}; NULL where the cure has none */
    const char *subject_word; /* the same for {subject}; {folder} is a CACHE */
};

struct pj_finding {
    enum pj_finding_code code;
    enum pj_severity severity;
    const char *subject, *found, *cure; /* owned by the list's arena; cure NULL = nothing to do */
};

/** Zero-initialised is a valid, empty list. Errors first, then warnings, then notes, each in the order in
 * which they were made. */
struct pj_finding_list {
    struct pj_arena arena;
    struct pj_finding *items;
    size_t count, capacity;
    bool as_notes; /* what is added now is a note, whatever the table says */
};

/** The row of a code. */
const struct pj_finding_info *pj_finding_info(enum pj_finding_code code);

/** "error", "warning", "note" */
const char *pj_severity_name(enum pj_severity severity);

/** Adds a finding about `subject` (a variable, a path); `value` (may be NULL) is the cure's {value}. The same
 * code about the same subject is added once. */
int pj_finding_add(struct pj_finding_list *findings, enum pj_finding_code code, const char *subject,
                   const char *value, struct pj_error **err, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/** The first finding that has one of these effects, or NULL. */
const struct pj_finding *pj_finding_with(const struct pj_finding_list *findings, unsigned effects);

/** Number of findings of a severity. */
size_t pj_finding_number(const struct pj_finding_list *findings, enum pj_severity severity);

void pj_finding_list_free(struct pj_finding_list *findings);
#define PJ_CLEANUP_FINDING_LIST __attribute__((cleanup(pj_finding_list_free)))

#endif
