/* SPDX-License-Identifier: Apache-2.0 */
/* The proof phase: fresh processes with JIT disabled, canaries first, then each job once per process. */
#ifndef PREJIT_SESSION_ENGINE_PROVE_H
#define PREJIT_SESSION_ENGINE_PROVE_H

#include "session/engine/compile.h"

/** A kind of load that needs its own canary: native or one foreign target, with options or without, loaded or
 * linked. */
struct pj_canary_kind {
    uint16_t foreign_target; /* 0 = native */
    bool link;
    bool with_options;
    size_t example; /* a job of this kind, whose options the canary borrows */
    bool held;      /* in this process the load that must fail did fail */
};

/** One process's worth of loads. */
struct pj_proof_run {
    size_t device;      /* index into the machine's devices */
    const size_t *jobs; /* borrowed from the prover */
    size_t job_count;
    struct pj_canary_kind *kinds;
    size_t kind_count;
    size_t next; /* next load: canaries first, then jobs */
    bool done;
    unsigned deaths;
};

struct pj_prove_seat {
    enum pj_role role;
    enum pj_seat_state state;
    struct pj_worker *worker;
    struct pj_proof_run *run;
    bool at_canary;
    size_t kind, job; /* what it loads while BUSY */
};

enum { PJ_PROVE_SEATS = 2 };

struct pj_prove {
    struct pj_session *session;
    struct pj_pool *pool;
    struct pj_prove_seat seats[PJ_PROVE_SEATS];
    struct pj_proof_run *runs;
    size_t run_count, run_next;
    size_t *jobs; /* indices, grouped by device */
    size_t job_count;
    struct pj_probe canary;
    bool open;  /* the jobs may be loaded: what they need is committed */
    bool alone; /* the second pass over what was missed: one process at a time */
    double begin_ms;
};

/** Makes the runs for `count` jobs: `samples` processes for each GPU architecture that has jobs among them
 * (foreign jobs go with the first GPU). */
int pj_prove_init(struct pj_prove *prove, struct pj_session *session, struct pj_pool *pool,
                  const size_t *jobs, size_t count, unsigned samples, struct pj_error **err);

/** Starts processes while seats are free (their contexts and canaries need nobody to wait), and goes on with
 * idle ones. */
int pj_prove_advance(struct pj_prove *prove, struct pj_error **err);

int pj_prove_event(struct pj_prove *prove, const struct pj_event *event, struct pj_error **err);

bool pj_prove_finished(const struct pj_prove *prove);

/** Ends its workers and frees. */
void pj_prove_free(struct pj_prove *prove);

#endif
