/* SPDX-License-Identifier: Apache-2.0 */
/* What a maker is made of. Internal to the room. */
#ifndef PREJIT_SESSION_MAKE_PRIVATE_H
#define PREJIT_SESSION_MAKE_PRIVATE_H

#include "session/make/order.h"

enum { PJ_MAKER_SEATS_MAX = 256 };

enum pj_seat_state { PJ_SEAT_EMPTY, PJ_SEAT_STARTING, PJ_SEAT_IDLE, PJ_SEAT_BUSY };

/** A place for one worker. */
struct pj_maker_seat {
    enum pj_seat_state state;
    struct pj_worker *worker;
    size_t order; /* while BUSY */
    struct pj_maker_results results;
};

struct pj_maker {
    struct pj_maker_options options;
    struct pj_pool *pool;
    struct pj_compiler compiler;
    struct pj_maker_seat *seats; /* room for PJ_MAKER_SEATS_MAX */
    size_t seat_count;
    struct pj_making *makings; /* of the run at hand */
    size_t count, next, left;
    size_t *queue;
    size_t *alone; /* orders whose worker died: once more, when nothing else runs */
    size_t alone_count, alone_next, running;
    unsigned failed_starts;
    bool interrupted, deadline_passed;
    double next_tick_ms;
};

/** "NVRTC" */
const char *pj_maker_library_name(const struct pj_maker *maker);

/** PJ_ERROR_ENVIRONMENT: none of the library's paths was usable; what the worker said, and what to install.
 */
int pj_maker_cannot_open(const struct pj_maker *maker, const struct pj_wire_started *started,
                         struct pj_error **err);

/** Starts a worker on an empty seat. */
int pj_maker_start_seat(struct pj_maker *maker, struct pj_maker_seat *seat, struct pj_error **err);

/** Is there a worker on any seat? */
bool pj_maker_any_lives(const struct pj_maker *maker);

/** How many workers the run's orders, the cores, the memory and the limit of descriptors are good for; 1 at
 * least. */
size_t pj_maker_wanted_seats(const struct pj_maker *maker);

/** Gives orders to idle workers, and starts further ones on `seats` seats where they are worth it; one for
 * what is left however many workers have died. */
int pj_maker_fill_seats(struct pj_maker *maker, size_t seats, struct pj_error **err);

/** The order has its end: observers and the caller are told. `reason` is in the arena, a literal, or NULL. */
int pj_maker_settle(struct pj_maker *maker, size_t order, enum pj_making_end end, const char *reason,
                    struct pj_error **err);

/** The worker's answer to the seat's order: it ends, as made or as refused. */
int pj_maker_take_made(struct pj_maker *maker, struct pj_maker_seat *seat, const struct pj_wire_made *made,
                       struct pj_error **err);

/** The same where the worker failed of itself: as if it had died of the order, though it lives. */
int pj_maker_take_own_failure(struct pj_maker *maker, struct pj_maker_seat *seat,
                              const struct pj_wire_made *made, struct pj_error **err);

/** A worker died of the order: it is tried once more, alone, and then ends. One that was late ends at once.
 */
int pj_maker_blame(struct pj_maker *maker, size_t order, const struct pj_death *death, struct pj_error **err);

#endif
