/* SPDX-License-Identifier: Apache-2.0 */
/* A set of worker processes and the events that come from them. Mechanism only: who loads what is decided by
 * the caller.
 *
 * All workers are started by the thread that calls pj_pool_start, which must live as long as they do (their
 * death signal follows it). */
#ifndef PREJIT_JOB_POOL_H
#define PREJIT_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/root.h"
#include "job/wire.h"

struct pj_pool;
struct pj_worker;

struct pj_pool_options {
    const char *worker_program; /* absolute path; the program itself, or the installed prejit */
    const char *driver_path;    /* NULL = libcuda.so.1 by the loader's rule */
    struct pj_host_root root;
    int interrupt_fd; /* readable when the run shall end; -1 = none */
    double start_timeout_ms;
    void (*hear)(void *context, const char *text); /* a line that a worker wrote to standard error; NULL */
    void *hear_context;
};

/** What one worker is for. Strings are copied. */
struct pj_worker_spec {
    enum pj_wire_library library;
    const char *const *library_paths; /* NVRTC, nvJitLink: tried in this order; the driver's is the pool's */
    size_t library_path_count;
    const char *directory;  /* working directory; NULL = the caller's */
    const char *temporary;  /* where it may put files of the moment: TMPDIR; NULL = the caller's */
    const char *cache_path; /* of the driver; NULL = no compute cache at all */
    uint64_t cache_max_bytes;
    bool disable_jit;
    bool context;
    const char *visible_devices; /* NULL = the caller's */
    const char *watch_path;      /* private cache whose new entries are reported; NULL = none */
    void *owner;                 /* comes back with every event */
};

enum pj_event_kind {
    PJ_EVENT_TIME,        /* the time given to pj_pool_wait is up */
    PJ_EVENT_INTERRUPTED, /* interrupt_fd is readable */
    PJ_EVENT_STARTED,     /* `started` */
    PJ_EVENT_LOADED,      /* `loaded` */
    PJ_EVENT_MADE,        /* `made` */
    PJ_EVENT_DIED,        /* the worker is gone; `death` */
};

enum pj_death_cause {
    PJ_DEATH_CRASHED,       /* signal or exit by itself */
    PJ_DEATH_OUT_OF_MEMORY, /* SIGKILL, and the cgroup's oom_kill count rose */
    PJ_DEATH_TIMED_OUT,     /* killed here, its deadline had passed */
    PJ_DEATH_PROTOCOL,      /* killed here, it sent something malformed or greets as another program */
};

struct pj_death {
    enum pj_death_cause cause;
    int signal; /* 0 = none */
    int status; /* exit status where no signal */
    bool busy;  /* it was loading: `job` */
    uint64_t job;
    char text[640]; /* for people: "killed by signal 11 (Segmentation fault) while calling cuInit", "calling
                       cuInit did not end within 3.0 s" */
};

struct pj_event {
    enum pj_event_kind kind;
    struct pj_worker *worker; /* for DIED: still valid until the next pj_pool_wait */
    void *owner;
    const struct pj_wire_started *started; /* valid until the next pj_pool_wait */
    const struct pj_wire_loaded *loaded;   /* the same */
    const struct pj_wire_made *made;       /* the same */
    struct pj_death death;
};

int pj_pool_new(const struct pj_pool_options *options, struct pj_pool **ret_pool, struct pj_error **err);

/** Starts a worker; PJ_EVENT_STARTED or PJ_EVENT_DIED follows. */
int pj_pool_start(struct pj_pool *pool, const struct pj_worker_spec *spec, struct pj_worker **ret_worker,
                  struct pj_error **err);

/** Gives an idle, started worker a PJ_WIRE_LOAD or PJ_WIRE_MAKE; LOADED or MADE follows. `timeout_ms` from
 * now it is killed (DIED with TIMED_OUT). The descriptors stay the caller's. A worker that died meanwhile is
 * no error here: DIED follows. */
int pj_pool_give(struct pj_pool *pool, struct pj_worker *worker, const struct pj_wire_message *order,
                 const struct pj_wire_descriptors *descriptors, double timeout_ms, struct pj_error **err);

/** Ends a worker (killed where it is busy); no event follows and `worker` is no longer valid. */
void pj_pool_stop(struct pj_pool *pool, struct pj_worker *worker);

/** Next event, or PJ_EVENT_TIME at `until_ms` (pj_clock_ms; infinity allowed). */
int pj_pool_wait(struct pj_pool *pool, double until_ms, struct pj_event *ret_event, struct pj_error **err);

/** Workers that live. */
size_t pj_pool_size(const struct pj_pool *pool);

/** Kills and reaps every worker, frees the pool; accepts NULL. */
void pj_pool_free(struct pj_pool *pool);

#endif
