/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop in which compiling and proving go on side by side. */
#ifndef PREJIT_SESSION_ENGINE_ENGINE_H
#define PREJIT_SESSION_ENGINE_ENGINE_H

#include "session/engine/compile.h"
#include "session/engine/prove.h"

struct pj_engine {
    struct pj_session *session;
    struct pj_pool *pool;
    struct pj_compile compile;
    struct pj_prove prove;
    bool compiling; /* compile is initialised */
    bool proving;   /* prove is initialised */
    double next_tick_ms;
};

int pj_engine_new(struct pj_session *session, struct pj_engine **ret_engine, struct pj_error **err);

/** Compiles every job in stage WAITING and commits it, then proves every open job, `samples` times each;
 * proof processes start while the last jobs compile. Ends early where the session is interrupted or its
 * deadline has passed. */
int pj_engine_compile_and_prove(struct pj_engine *engine, unsigned samples, struct pj_error **err);

/** Compiles every job in stage WAITING and commits it; proves nothing. Nothing is done where the driver's
 * format turns out not to be known. Ends early like the above. */
int pj_engine_compile(struct pj_engine *engine, struct pj_error **err);

/** Proves the given jobs, compiling nothing. `alone`: one process at a time. */
int pj_engine_prove(struct pj_engine *engine, const size_t *jobs, size_t count, unsigned samples, bool alone,
                    struct pj_error **err);

/** Starts one worker, learns the machine from it (its GPUs, the driver), and plans the jobs. */
int pj_engine_meet_driver(struct pj_engine *engine, struct pj_error **err);

/** One worker, alone: its first answer, or the answer to `order` (NULL = none) with its descriptors. Its
 * interrupt or the run's deadline end the wait and show in the event's kind. What the event points to is
 * valid until the next event is taken. */
int pj_engine_ask(struct pj_engine *engine, const struct pj_worker_spec *spec,
                  const struct pj_wire_message *order, const struct pj_wire_descriptors *descriptors,
                  struct pj_event *ret_event, struct pj_error **err);

/** The same for a run that compiles nothing: no store, no private cache. */
int pj_engine_meet_driver_to_prove(struct pj_engine *engine, struct pj_error **err);

/** Proves again, one process at a time, what was missed although its entry is there and sound: a loaded
 * machine can make the driver give up its lock. */
int pj_engine_prove_missed_alone(struct pj_engine *engine, struct pj_error **err);

/** Ends the compile workers; the next compile works in the cache itself, because the driver's format turned
 * out to be another one. */
void pj_engine_restart_in_place(struct pj_engine *engine);

void pj_engine_free(struct pj_engine *engine);
void pj_engine_free_pointer(struct pj_engine **engine);
#define PJ_CLEANUP_ENGINE __attribute__((cleanup(pj_engine_free_pointer)))

#endif
