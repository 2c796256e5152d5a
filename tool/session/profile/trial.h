/* SPDX-License-Identifier: Apache-2.0 */
/* Single questions to the driver, each in a process of its own, over caches in a folder that is thrown away.
 */
#ifndef PREJIT_SESSION_PROFILE_TRIAL_H
#define PREJIT_SESSION_PROFILE_TRIAL_H

#include "arch/options.h"
#include "job/pool.h"
#include "session/run/session.h"

/** PTX texts that are loaded (one), or linked (several), for an architecture. */
struct pj_trial_load {
    const char *const *texts;
    size_t text_count;
    const struct pj_buffer
        *image; /* what is loaded in place of the only text, which is in it; NULL = the text */
    bool link;
    struct pj_jit_options options;
    uint16_t target; /* CU_JIT_TARGET; 0 = the device's own */
};

struct pj_trial {
    struct pj_arena arena;
    struct pj_pool *pool;
    char *folder;       /* below TMPDIR, 0700 */
    double timeout_ms;  /* of one question */
    double deadline_ms; /* of all, on the clock of pj_clock_ms; INFINITY = none */
    /* What the driver's first process told. */
    int cuda_version;
    const char *driver_version; /* NULL = its file's name does not end in it */
    const char *driver_file;    /* NULL = not known */
    const char *gpu;            /* name of the first one */
    uint16_t arch;              /* of the first one */
};

/** Makes the folder and hears the driver; where it does not start, the error of pj_driver_start_error. The
 * deadline counts from now on. */
int pj_trial_open(const struct pj_profile_options *options, struct pj_trial *ret_trial,
                  struct pj_error **err);

/** The error of a run whose deadline passed. */
int pj_trial_deadline_passed(struct pj_error **err);

/** An empty cache directory; gives its path, in the trial's arena. */
int pj_trial_cache(struct pj_trial *trial, const char *name, const char **ret_path, struct pj_error **err);

/** What a load came to. */
struct pj_trial_answer {
    int32_t result;          /* CUresult */
    const char *result_name; /* in the trial's arena */
    const char *log;
    bool died;       /* the process did, or its time was up: `log` says how */
    int32_t *values; /* what the kernel computed, `value_count` of them; NULL = it did not run */
    size_t value_count;
};

/** The driver compiles into `cache`. */
int pj_trial_compile(struct pj_trial *trial, const char *cache, const struct pj_trial_load *load,
                     struct pj_trial_answer *ret_answer, struct pj_error **err);

/** The driver loads from `cache` with JIT disabled, and launches `kernel` with `count` threads on in[i] = i.
 */
int pj_trial_run(struct pj_trial *trial, const char *cache, const struct pj_trial_load *load,
                 const char *kernel, uint32_t count, struct pj_trial_answer *ret_answer,
                 struct pj_error **err);

/** Removes the folder and ends the processes. */
void pj_trial_close(struct pj_trial *trial);
#define PJ_CLEANUP_TRIAL __attribute__((cleanup(pj_trial_close)))

#endif
