/* SPDX-License-Identifier: Apache-2.0 */
/* Hands orders to compiler workers and gathers their results. */
#include "session/make/maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/make/private.h"

enum { MAX_FAILED_STARTS = 3 };

#define TICK_MS 200.0

void pj_making_free(struct pj_making *making)
{
    for (size_t i = 0; i < PJ_OUTPUT_COUNT; i++)
        pj_buffer_free(&making->results[i]);
}

struct pj_buffer *pj_making_result(struct pj_making *making, enum pj_wire_output output)
{
    return &making->results[__builtin_ctz((unsigned)output)];
}

static int wait_for_event(struct pj_maker *maker, struct pj_event *ret_event, struct pj_error **err)
{
    const struct pj_observer *observer = maker->options.observer;
    double until = pj_clock_ms() + TICK_MS;
    if (maker->options.deadline_ms < until)
        until = maker->options.deadline_ms;
    int r = pj_pool_wait(maker->pool, until, ret_event, err);
    double now = pj_clock_ms();
    if (r == 0 && observer && observer->tick && now >= maker->next_tick_ms) {
        maker->next_tick_ms = now + TICK_MS;
        observer->tick(observer->context);
    }
    maker->interrupted |= r == 0 && ret_event->kind == PJ_EVENT_INTERRUPTED;
    maker->deadline_passed |= now >= maker->options.deadline_ms;
    return r;
}

static int take_started(struct pj_maker *maker, struct pj_maker_seat *seat,
                        const struct pj_wire_started *started, struct pj_error **err)
{
    maker->failed_starts = 0;
    seat->state = PJ_SEAT_IDLE;
    return maker->compiler.known ? 0
                                 : pj_maker_describe(started, maker->options.arena, &maker->compiler, err);
}

static int does_not_start(const struct pj_maker *maker, const struct pj_death *death, struct pj_error **err)
{
    bool late = death->cause == PJ_DEATH_TIMED_OUT;
    return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s does not start%s: %s%s", pj_maker_library_name(maker),
                        late ? "" : "; its worker process", death->text, late ? "; " PJ_GIVE_LONGER : "");
}

/* The first worker tells what the library is; without it nothing can be ordered. */
static int meet_library(struct pj_maker *maker, struct pj_error **err)
{
    struct pj_event event = {0};
    struct pj_maker_seat *seat = &maker->seats[0];
    maker->seat_count = 1;
    int r = pj_maker_start_seat(maker, seat, err);
    while (r == 0 && !maker->compiler.known && !maker->interrupted && !maker->deadline_passed) {
        r = wait_for_event(maker, &event, err);
        if (r < 0)
            return r;
        if (event.kind == PJ_EVENT_STARTED)
            r = event.started->failed_step[0] ? pj_maker_cannot_open(maker, event.started, err)
                                              : take_started(maker, seat, event.started, err);
        else if (event.kind == PJ_EVENT_DIED)
            r = does_not_start(maker, &event.death, err);
    }
    return r;
}

struct pj_maker_options pj_maker_options_of(struct pj_session *session, enum pj_wire_library library,
                                            const char *phase)
{
    const struct pj_options *options = session->options;
    return (struct pj_maker_options){
        .library = library,
        .directory = session->manifest ? session->manifest->directory : "/",
        .worker_program = options->worker_program,
        .root = session->root,
        .interrupt_fd = options->interrupt_fd,
        .timeout_ms = pj_session_timeout_ms(session),
        .patience_ms = pj_patience_ms(options->timeout_ms),
        .deadline_ms = pj_session_deadline_ms(session),
        .workers = options->workers,
        .observer = &options->observer,
        .phase = phase,
        .arena = &session->arena,
    };
}

int pj_maker_open(const struct pj_maker_options *options, struct pj_maker **ret_maker, struct pj_error **err)
{
    PJ_CLEANUP_MAKER struct pj_maker *maker = calloc(1, sizeof *maker);
    if (!maker)
        return pj_error_no_memory(err);
    maker->options = *options;
    maker->seats = calloc(PJ_MAKER_SEATS_MAX, sizeof *maker->seats);
    if (!maker->seats)
        return pj_error_no_memory(err);
    const struct pj_pool_options pool = {
        .worker_program = options->worker_program,
        .root = options->root,
        .interrupt_fd = options->interrupt_fd,
        .start_timeout_ms = options->patience_ms,
        .hear = options->observer ? options->observer->message : NULL,
        .hear_context = options->observer ? options->observer->context : NULL,
    };
    int r = pj_pool_new(&pool, &maker->pool, err);
    if (r == 0)
        r = meet_library(maker, err);
    if (r == 0)
        *ret_maker = PJ_STEAL(maker);
    return r;
}

static int seat_died(struct pj_maker *maker, struct pj_maker_seat *seat, const struct pj_death *death,
                     struct pj_error **err)
{
    bool was_starting = seat->state == PJ_SEAT_STARTING;
    int r = 0;
    pj_maker_results_close(&seat->results);
    if (seat->state == PJ_SEAT_BUSY) {
        maker->running--;
        r = pj_maker_blame(maker, seat->order, death, err);
    }
    seat->state = PJ_SEAT_EMPTY;
    seat->worker = NULL;
    maker->failed_starts += was_starting;
    bool last = maker->failed_starts >= MAX_FAILED_STARTS || death->cause == PJ_DEATH_TIMED_OUT;
    if (r == 0 && was_starting && !pj_maker_any_lives(maker) && last)
        r = does_not_start(maker, death, err);
    return r;
}

static int handle(struct pj_maker *maker, const struct pj_event *event, struct pj_error **err)
{
    struct pj_maker_seat *seat = event->owner;
    switch (event->kind) {
    case PJ_EVENT_STARTED:
        if (event->started->failed_step[0] == '\0')
            return take_started(maker, seat, event->started, err);
        pj_pool_stop(maker->pool, PJ_STEAL(seat->worker));
        seat->state = PJ_SEAT_EMPTY;
        maker->failed_starts++; /* else it would be started again at once, and again */
        return pj_maker_any_lives(maker) ? 0 : pj_maker_cannot_open(maker, event->started, err);
    case PJ_EVENT_MADE:
        return strcmp(event->made->failed_call, PJ_WIRE_OWN_FAILURE) == 0
                   ? pj_maker_take_own_failure(maker, seat, event->made, err)
                   : pj_maker_take_made(maker, seat, event->made, err);
    case PJ_EVENT_DIED:
        return seat_died(maker, seat, &event->death, err);
    default:
        return 0;
    }
}

static int compare_weights(const void *a, const void *b, void *context)
{
    const struct pj_making *makings = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (makings[x].weight_bytes != makings[y].weight_bytes)
        return makings[x].weight_bytes < makings[y].weight_bytes ? 1 : -1;
    return (x > y) - (x < y);
}

static int begin(struct pj_maker *maker, struct pj_making *makings, size_t count, struct pj_error **err)
{
    const struct pj_observer *observer = maker->options.observer;
    free(maker->queue);
    free(maker->alone);
    maker->queue = calloc(count + 1, sizeof *maker->queue);
    maker->alone = calloc(count + 1, sizeof *maker->alone);
    if (!maker->queue || !maker->alone)
        return pj_error_no_memory(err);
    maker->makings = makings;
    maker->count = maker->left = count;
    maker->next = maker->alone_count = maker->alone_next = 0;
    uint64_t weight = 0;
    size_t told = 0;
    for (size_t i = 0; i < count; i++) {
        maker->queue[i] = i;
        makings[i].end = PJ_MAKING_NOT_TRIED;
        weight += makings[i].quiet ? 0 : makings[i].weight_bytes;
        told += !makings[i].quiet;
    }
    qsort_r(maker->queue, count, sizeof *maker->queue, compare_weights, makings);
    if (observer && observer->phase && told > 0)
        observer->phase(observer->context, maker->options.phase, told, weight);
    return 0;
}

int pj_maker_run(struct pj_maker *maker, struct pj_making *makings, size_t count, struct pj_error **err)
{
    int r = begin(maker, makings, count, err);
    size_t seats = pj_maker_wanted_seats(maker);
    struct pj_event event = {0};
    while (r == 0 && maker->left > 0 && !maker->interrupted && !maker->deadline_passed) {
        r = pj_maker_fill_seats(maker, seats, err);
        if (r == 0 && maker->left > 0)
            r = wait_for_event(maker, &event, err);
        if (r == 0 && maker->left > 0 && event.owner)
            r = handle(maker, &event, err);
        event = (struct pj_event){0};
    }
    return r;
}

const struct pj_compiler *pj_maker_compiler(const struct pj_maker *maker)
{
    return &maker->compiler;
}

bool pj_maker_interrupted(const struct pj_maker *maker)
{
    return maker->interrupted;
}

bool pj_maker_deadline_passed(const struct pj_maker *maker)
{
    return maker->deadline_passed;
}

void pj_maker_free(struct pj_maker *maker)
{
    if (!maker)
        return;
    pj_pool_free(maker->pool);
    for (size_t i = 0; maker->seats && i < maker->seat_count; i++)
        pj_maker_results_close(&maker->seats[i].results);
    free(maker->seats);
    free(maker->queue);
    free(maker->alone);
    free(maker);
}

void pj_maker_free_pointer(struct pj_maker **maker)
{
    pj_maker_free(*maker);
}
