/* SPDX-License-Identifier: Apache-2.0 */
/* Fills seats with workers, as many as the machine is good for, and gives them orders. */
#include <sys/resource.h>

#include "host/limits.h"
#include "session/make/private.h"

#define WORKER_BYTES (UINT64_C(300) << 20) /* NVRTC on a source with the toolkit's headers */

int pj_maker_start_seat(struct pj_maker *maker, struct pj_maker_seat *seat, struct pj_error **err)
{
    const struct pj_maker_options *options = &maker->options;
    const struct pj_worker_spec spec = {
        .library = options->library,
        .library_paths = maker->compiler.known ? &maker->compiler.library.path : options->paths,
        .library_path_count = maker->compiler.known ? 1 : options->path_count,
        .directory = options->directory,
        .temporary = options->temporary,
        .owner = seat,
    };
    int r = pj_pool_start(maker->pool, &spec, &seat->worker, err);
    if (r == 0)
        seat->state = PJ_SEAT_STARTING;
    return r;
}

bool pj_maker_any_lives(const struct pj_maker *maker)
{
    for (size_t i = 0; i < maker->seat_count; i++) {
        if (maker->seats[i].state != PJ_SEAT_EMPTY)
            return true;
    }
    return false;
}

static void tell_started(const struct pj_maker *maker, size_t order)
{
    const struct pj_observer *observer = maker->options.observer;
    if (observer && observer->started && !maker->makings[order].quiet)
        observer->started(observer->context, order, maker->makings[order].title);
}

/* Next order for a seat: the queue, and when nothing else runs one of those that killed a worker. */
static bool next_order(struct pj_maker *maker, size_t *ret_order)
{
    if (maker->next < maker->count) {
        *ret_order = maker->queue[maker->next++];
        return true;
    }
    if (maker->running == 0 && maker->alone_next < maker->alone_count) {
        *ret_order = maker->alone[maker->alone_next++];
        return true;
    }
    return false;
}

static int give(struct pj_maker *maker, struct pj_maker_seat *seat, size_t order, struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    PJ_CLEANUP_MAKER_ORDER struct pj_maker_order message = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_maker_order_make(making, order, &message, &seat->results, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY) {
        const char *reason = pj_arena_strdup(maker->options.arena, pj_error_message(problem));
        pj_maker_results_close(&seat->results);
        return reason ? pj_maker_settle(maker, order, PJ_MAKING_IMPOSSIBLE, reason, err)
                      : pj_error_no_memory(err);
    }
    if (r < 0)
        return pj_error_no_memory(err);
    seat->state = PJ_SEAT_BUSY;
    seat->order = order;
    maker->running++;
    tell_started(maker, order);
    return pj_pool_give(maker->pool, seat->worker, &message.message, &message.descriptors,
                        maker->options.timeout_ms, err);
}

static int feed(struct pj_maker *maker, struct pj_maker_seat *seat, struct pj_error **err)
{
    size_t order;
    int r = 0;
    while (r == 0 && seat->state == PJ_SEAT_IDLE && next_order(maker, &order))
        r = give(maker, seat, order, err);
    return r;
}

/* How many seats the descriptors that this process may have are good for: each has a socket and files for its
 * results; an order's own files are open while it is given. */
static size_t seats_by_descriptors(void)
{
    enum { PER_SEAT = 1 + PJ_OUTPUT_COUNT, OTHERS = 32 + PJ_WIRE_PARTS_MAX };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > OTHERS + PER_SEAT * PJ_MAKER_SEATS_MAX)
        return PJ_MAKER_SEATS_MAX;
    return limit.rlim_cur > OTHERS ? (size_t)(limit.rlim_cur - OTHERS) / PER_SEAT : 1;
}

size_t pj_maker_wanted_seats(const struct pj_maker *maker)
{
    size_t most = maker->options.workers ? maker->options.workers : pj_host_cores(&maker->options.root);
    size_t possible = seats_by_descriptors();
    uint64_t memory = pj_host_memory_available(&maker->options.root);
    if (memory > 0 && memory / WORKER_BYTES < most)
        most = (size_t)(memory / WORKER_BYTES);
    if (maker->count < most)
        most = maker->count;
    if (possible < most)
        most = possible;
    return most < 1 ? 1 : most;
}

/* One of many that cannot be started, for want of processes or descriptors, is one less. */
static int start_another(struct pj_maker *maker, struct pj_maker_seat *seat, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_maker_start_seat(maker, seat, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY && pj_maker_any_lives(maker)) {
        maker->failed_starts++;
        return 0;
    }
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}

int pj_maker_fill_seats(struct pj_maker *maker, size_t seats, struct pj_error **err)
{
    int r = 0;
    bool more = maker->next < maker->count && maker->failed_starts == 0;
    for (size_t i = 0; i < seats && r == 0; i++) {
        struct pj_maker_seat *seat = &maker->seats[i];
        if (i >= maker->seat_count)
            maker->seat_count = i + 1;
        if (seat->state == PJ_SEAT_EMPTY && (more || (i == 0 && !pj_maker_any_lives(maker))))
            r = start_another(maker, seat, err);
        else if (seat->state == PJ_SEAT_IDLE)
            r = feed(maker, seat, err);
    }
    return r;
}
