/* SPDX-License-Identifier: Apache-2.0 */
/* The compile phase: a queue of jobs, the workers that take them, blame for those that die, and commit
 * rounds. */
#ifndef PREJIT_SESSION_ENGINE_COMPILE_H
#define PREJIT_SESSION_ENGINE_COMPILE_H

#include "job/pool.h"
#include "session/engine/probe.h"
#include "session/run/session.h"

/** Says whose worker an event belongs to; first member of every seat. */
enum pj_role { PJ_ROLE_COMPILE, PJ_ROLE_PROVE };

enum pj_seat_state { PJ_SEAT_EMPTY, PJ_SEAT_STARTING, PJ_SEAT_IDLE, PJ_SEAT_BUSY };

/** One place for a compile worker; the process in it may be replaced. */
struct pj_compile_seat {
    enum pj_role role;
    enum pj_seat_state state;
    struct pj_worker *worker;
    size_t folder; /* number of its private cache */
    const char *folder_path;
    bool linked;  /* a link's entries may lie in the folder, and would not be new to the next one */
    uint64_t job; /* while BUSY: index of the job, or PJ_PROBE_JOB */
};
#define PJ_PROBE_JOB UINT64_MAX

struct pj_compile {
    struct pj_session *session;
    struct pj_pool *pool;
    struct pj_compile_seat *seats;
    size_t seat_count;
    bool in_place; /* the cache's format is not known: workers use the cache itself, nothing is committed */
    size_t *queue; /* job indices, biggest first */
    size_t queue_count, queue_next;
    size_t *alone; /* jobs whose worker died: tried once more, one at a time, when nothing else runs */
    size_t alone_count, alone_next;
    size_t running;
    size_t fresh_folders;  /* that took the place of a seat's first */
    struct pj_probe probe; /* the stamp is learned from it */
    bool probe_wanted, probe_running;
    unsigned probe_attempts, failed_starts;
    bool fewer;                      /* one did not start beside others: no more are tried while one lives */
    double begin_ms, ready_since_ms; /* of the oldest entry not committed; 0 = none */
};

int pj_compile_init(struct pj_compile *compile, struct pj_session *session, struct pj_pool *pool,
                    bool in_place, struct pj_error **err);

/** Starts workers until `count` seats are taken, or one does not start: then those that live do it all. */
int pj_compile_start(struct pj_compile *compile, size_t count, struct pj_error **err);

/** Queues every job in stage WAITING, biggest first. */
int pj_compile_fill(struct pj_compile *compile, struct pj_error **err);

/** Gives idle workers work, and commits what has waited long enough. */
int pj_compile_advance(struct pj_compile *compile, struct pj_error **err);

/** Handles an event of a compile seat. */
int pj_compile_event(struct pj_compile *compile, const struct pj_event *event, struct pj_error **err);

/** Commits everything that is ready now. */
int pj_compile_commit(struct pj_compile *compile, struct pj_error **err);

/** With the stamp known: names of all jobs, and those whose sound entry is in the cache already need no
 * compile. */
int pj_compile_find_present(struct pj_compile *compile, struct pj_error **err);

/** Is the queue empty, so that only running jobs are left? */
bool pj_compile_draining(const struct pj_compile *compile);

/** Is everything compiled (or failed), and the stamp learned or given up? Commit may still be due. */
bool pj_compile_finished(const struct pj_compile *compile);

/** Time at which pj_compile_advance wants to be called again; INFINITY = not by the clock. */
double pj_compile_next_ms(const struct pj_compile *compile);

/** Ends its workers. */
void pj_compile_stop(struct pj_compile *compile);

void pj_compile_free(struct pj_compile *compile);

#endif
