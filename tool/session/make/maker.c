/* SPDX-License-Identifier: Apache-2.0 */
/* Hands orders to compiler workers and gathers their results. */
#include "session/make/maker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/limits.h"
#include "host/toolkit.h"
#include "session/make/end.h"
#include "session/make/order.h"

enum { MAX_SEATS = 256, MAX_FAILED_STARTS = 3 };

#define START_TIMEOUT_MS 120000.0
#define TICK_MS          200.0
#define WORKER_BYTES     (UINT64_C(300) << 20) /* NVRTC on a source with the toolkit's headers */

enum seat_state { SEAT_EMPTY, SEAT_STARTING, SEAT_IDLE, SEAT_BUSY };

struct seat {
    enum seat_state state;
    struct pj_worker *worker;
    size_t order; /* while BUSY */
    struct pj_maker_results results;
};

struct pj_maker {
    struct pj_maker_options options;
    struct pj_pool *pool;
    struct pj_compiler compiler;
    struct seat *seats;
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

void pj_making_free(struct pj_making *making)
{
    for (size_t i = 0; i < PJ_OUTPUT_COUNT; i++)
        pj_buffer_free(&making->results[i]);
}

struct pj_buffer *pj_making_result(struct pj_making *making, enum pj_wire_output output)
{
    return &making->results[__builtin_ctz((unsigned)output)];
}

static int start_seat(struct pj_maker *maker, struct seat *seat, struct pj_error **err)
{
    const struct pj_maker_options *options = &maker->options;
    const struct pj_worker_spec spec = {
        .library = options->library,
        .library_paths = maker->compiler.known ? &maker->compiler.library.path : options->paths,
        .library_path_count = maker->compiler.known ? 1 : options->path_count,
        .directory = options->directory,
        .owner = seat,
    };
    int r = pj_pool_start(maker->pool, &spec, &seat->worker, err);
    if (r == 0)
        seat->state = SEAT_STARTING;
    return r;
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

static int take_started(struct pj_maker *maker, struct seat *seat, const struct pj_wire_started *started,
                        struct pj_error **err)
{
    maker->failed_starts = 0;
    seat->state = SEAT_IDLE;
    return maker->compiler.known ? 0
                                 : pj_maker_describe(started, maker->options.arena, &maker->compiler, err);
}

/* How people and the command line call each, and where it comes from. */
static const struct {
    const char *name, *package, *option, *kind;
} libraries[PJ_LIBRARY_COUNT] = {
    [PJ_LIBRARY_NVRTC] = {"NVRTC", "cuda-nvrtc", "--nvrtc", "library"},
    [PJ_LIBRARY_NVJITLINK] = {"nvJitLink", "libnvjitlink", "--nvjitlink", "library"},
    [PJ_LIBRARY_PTXAS] = {"ptxas", "cuda-nvcc", "--ptxas", "program"},
};

static const char *library_name(const struct pj_maker *maker)
{
    return libraries[maker->options.library].name;
}

static int cannot_open(const struct pj_maker *maker, const struct pj_wire_started *started,
                       struct pj_error **err)
{
    enum pj_wire_library which = maker->options.library;
    return pj_error_set(
        err, PJ_ERROR_ENVIRONMENT,
        "no usable %s was found:\n%s;\ninstall the CUDA toolkit (package %s), set CUDA_HOME to it, or name "
        "the %s with %s PATH",
        library_name(maker), started->message, libraries[which].package, libraries[which].kind,
        libraries[which].option);
}

/* The first worker tells what the library is; without it nothing can be ordered. */
static int meet_library(struct pj_maker *maker, struct pj_error **err)
{
    struct pj_event event = {0};
    struct seat *seat = &maker->seats[0];
    maker->seat_count = 1;
    int r = start_seat(maker, seat, err);
    while (r == 0 && !maker->compiler.known && !maker->interrupted && !maker->deadline_passed) {
        r = wait_for_event(maker, &event, err);
        if (r < 0)
            return r;
        if (event.kind == PJ_EVENT_STARTED)
            r = event.started->failed_step[0] ? cannot_open(maker, event.started, err)
                                              : take_started(maker, seat, event.started, err);
        else if (event.kind == PJ_EVENT_DIED)
            r = pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s does not start; its worker process: %s",
                             library_name(maker), event.death.text);
    }
    return r;
}

struct pj_maker_options pj_maker_options_of(struct pj_session *session, enum pj_wire_library library,
                                            const char *phase)
{
    const struct pj_options *options = session->options;
    return (struct pj_maker_options){
        .library = library,
        .directory = session->manifest->directory,
        .worker_program = options->worker_program,
        .root = session->root,
        .interrupt_fd = options->interrupt_fd,
        .timeout_ms = pj_session_timeout_ms(session),
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
    maker->seats = calloc(MAX_SEATS, sizeof *maker->seats);
    if (!maker->seats)
        return pj_error_no_memory(err);
    const struct pj_pool_options pool = {
        .worker_program = options->worker_program,
        .root = options->root,
        .interrupt_fd = options->interrupt_fd,
        .start_timeout_ms = START_TIMEOUT_MS,
    };
    int r = pj_pool_new(&pool, &maker->pool, err);
    if (r == 0)
        r = meet_library(maker, err);
    if (r == 0)
        *ret_maker = PJ_STEAL(maker);
    return r;
}

static void tell_started(const struct pj_maker *maker, size_t order)
{
    const struct pj_observer *observer = maker->options.observer;
    if (observer && observer->started && !maker->makings[order].quiet)
        observer->started(observer->context, order, maker->makings[order].title);
}

static void tell_finished(const struct pj_maker *maker, size_t order)
{
    const struct pj_observer *observer = maker->options.observer;
    const struct pj_making *making = &maker->makings[order];
    if (!observer || !observer->finished || making->quiet)
        return;
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    pj_making_put_end(making, maker->options.library, library_name(maker), &maker->compiler.library, &text);
    observer->finished(observer->context, order, making->title, making->weight_bytes, pj_buffer_text(&text),
                       making->end != PJ_MAKING_MADE);
}

static int settle(struct pj_maker *maker, size_t order, enum pj_making_end end, const char *reason,
                  struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    making->end = end;
    making->reason = reason;
    maker->left--;
    tell_finished(maker, order);
    return maker->options.taken ? maker->options.taken(maker->options.context, making, err) : 0;
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

static int give(struct pj_maker *maker, struct seat *seat, size_t order, struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    PJ_CLEANUP_MAKER_ORDER struct pj_maker_order message = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = pj_maker_order_make(making, order, &message, &seat->results, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY) {
        const char *reason = pj_arena_strdup(maker->options.arena, pj_error_message(problem));
        pj_maker_results_close(&seat->results);
        return reason ? settle(maker, order, PJ_MAKING_IMPOSSIBLE, reason, err) : pj_error_no_memory(err);
    }
    if (r < 0)
        return pj_error_no_memory(err);
    seat->state = SEAT_BUSY;
    seat->order = order;
    maker->running++;
    tell_started(maker, order);
    return pj_pool_give(maker->pool, seat->worker, &message.message, &message.descriptors,
                        maker->options.timeout_ms, err);
}

static int feed(struct pj_maker *maker, struct seat *seat, struct pj_error **err)
{
    size_t order;
    int r = 0;
    while (r == 0 && seat->state == SEAT_IDLE && next_order(maker, &order))
        r = give(maker, seat, order, err);
    return r;
}

/* What the log says first, else the name of the result. */
static const char *refusal_of(const struct pj_maker *maker, struct pj_making *making)
{
    const char *line =
        pj_maker_first_error(pj_buffer_text(pj_making_result(making, PJ_OUTPUT_LOG)), maker->options.arena);
    return line && *line ? line : making->result_name;
}

/* nvJitLink 13.0 keeps something of a link that failed: after PTX that did not compile, a later link in the
 * same process with an undefined reference "succeeds". So a process that refused goes. */
static void replace_tainted(struct pj_maker *maker, struct seat *seat)
{
    if (maker->options.library != PJ_LIBRARY_NVJITLINK)
        return;
    pj_pool_stop(maker->pool, PJ_STEAL(seat->worker));
    seat->state = SEAT_EMPTY;
}

/* Which build a library is, where its file's name does not tell: what it makes says so. */
static void note_build(struct pj_maker *maker, struct pj_making *making)
{
    static const enum pj_wire_output outputs[] = {PJ_OUTPUT_CUBIN, PJ_OUTPUT_PTX};
    for (size_t i = 0; i < PJ_COUNT(outputs) && !maker->compiler.library.build; i++) {
        const struct pj_buffer *made = pj_making_result(making, outputs[i]);
        maker->compiler.library.build =
            pj_toolkit_build_in(pj_buffer_text(made), made->size, maker->options.arena);
    }
}

static int take_made(struct pj_maker *maker, struct seat *seat, const struct pj_wire_made *made,
                     struct pj_error **err)
{
    struct pj_making *making = &maker->makings[seat->order];
    size_t order = seat->order;
    seat->state = SEAT_IDLE;
    maker->running--;
    int r = pj_maker_results_read(&seat->results, making, err);
    if (r == 0 && made->file_count > 0)
        r = pj_maker_note_files(made->files, made->file_count, maker->options.arena, &maker->compiler, err);
    if (r < 0)
        return r;
    note_build(maker, making);
    making->call_ms = made->call_ms;
    making->peak_rss_bytes = made->peak_rss_bytes;
    making->result_name = pj_arena_strdup(maker->options.arena, made->result_name);
    making->failed_call = pj_arena_strdup(maker->options.arena, made->failed_call);
    if (!making->result_name || !making->failed_call)
        return pj_error_no_memory(err);
    if (made->image_changed)
        return settle(maker, order, PJ_MAKING_CHANGED, PJ_FILE_CHANGED, err);
    if (made->failed_call[0] == '\0')
        return settle(maker, order, PJ_MAKING_MADE, NULL, err);
    replace_tainted(maker, seat);
    return settle(maker, order, PJ_MAKING_REFUSED, refusal_of(maker, making), err);
}

static int blame(struct pj_maker *maker, size_t order, const struct pj_death *death, struct pj_error **err)
{
    struct pj_making *making = &maker->makings[order];
    const struct pj_observer *observer = maker->options.observer;
    bool late = death->cause == PJ_DEATH_TIMED_OUT;
    char limit[PJ_DURATION_TEXT];
    if (!late && making->deaths++ == 0) {
        maker->alone[maker->alone_count++] = order;
        if (observer && observer->requeued && !making->quiet)
            observer->requeued(observer->context, order);
        return 0;
    }
    const char *reason =
        late ? pj_arena_printf(maker->options.arena, "%s gave up after %s (--timeout)", library_name(maker),
                               pj_text_from_ms(maker->options.timeout_ms, limit))
             : pj_arena_printf(maker->options.arena, "%s: %s, tried twice", library_name(maker), death->text);
    if (!reason)
        return pj_error_no_memory(err);
    return settle(maker, order,
                  late                                     ? PJ_MAKING_TIMED_OUT
                  : death->cause == PJ_DEATH_OUT_OF_MEMORY ? PJ_MAKING_OUT_OF_MEMORY
                                                           : PJ_MAKING_CRASHED,
                  reason, err);
}

/* The worker lives, and its order is none the better for it. */
static int take_own_failure(struct pj_maker *maker, struct seat *seat, const struct pj_wire_made *made,
                            struct pj_error **err)
{
    struct pj_death death = {.cause = PJ_DEATH_CRASHED};
    (void)snprintf(death.text, sizeof death.text, "%s", made->result_name);
    pj_maker_results_close(&seat->results);
    seat->state = SEAT_IDLE;
    maker->running--;
    return blame(maker, seat->order, &death, err);
}

static bool any_lives(const struct pj_maker *maker)
{
    for (size_t i = 0; i < maker->seat_count; i++) {
        if (maker->seats[i].state != SEAT_EMPTY)
            return true;
    }
    return false;
}

static int seat_died(struct pj_maker *maker, struct seat *seat, const struct pj_death *death,
                     struct pj_error **err)
{
    bool was_starting = seat->state == SEAT_STARTING;
    int r = 0;
    pj_maker_results_close(&seat->results);
    if (seat->state == SEAT_BUSY) {
        maker->running--;
        r = blame(maker, seat->order, death, err);
    }
    seat->state = SEAT_EMPTY;
    seat->worker = NULL;
    maker->failed_starts += was_starting;
    if (r == 0 && was_starting && !any_lives(maker) && maker->failed_starts >= MAX_FAILED_STARTS)
        r = pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s does not start; the last of %u worker processes: %s",
                         library_name(maker), maker->failed_starts, death->text);
    return r;
}

static int handle(struct pj_maker *maker, const struct pj_event *event, struct pj_error **err)
{
    struct seat *seat = event->owner;
    switch (event->kind) {
    case PJ_EVENT_STARTED:
        if (event->started->failed_step[0] == '\0')
            return take_started(maker, seat, event->started, err);
        pj_pool_stop(maker->pool, PJ_STEAL(seat->worker));
        seat->state = SEAT_EMPTY;
        maker->failed_starts++; /* else it would be started again at once, and again */
        return any_lives(maker) ? 0 : cannot_open(maker, event->started, err);
    case PJ_EVENT_MADE:
        return strcmp(event->made->failed_call, PJ_WIRE_OWN_FAILURE) == 0
                   ? take_own_failure(maker, seat, event->made, err)
                   : take_made(maker, seat, event->made, err);
    case PJ_EVENT_DIED:
        return seat_died(maker, seat, &event->death, err);
    default:
        return 0;
    }
}

/* How many seats the descriptors that this process may have are good for: each has a socket and files for its
 * results; an order's own files are open while it is given. */
static size_t seats_by_descriptors(void)
{
    enum { PER_SEAT = 1 + PJ_OUTPUT_COUNT, OTHERS = 32 + PJ_WIRE_PARTS_MAX };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > OTHERS + PER_SEAT * MAX_SEATS)
        return MAX_SEATS;
    return limit.rlim_cur > OTHERS ? (size_t)(limit.rlim_cur - OTHERS) / PER_SEAT : 1;
}

static size_t wanted_seats(const struct pj_maker *maker)
{
    size_t most = maker->options.workers ? maker->options.workers : pj_host_cores(&maker->options.root);
    uint64_t memory = pj_host_memory_available(&maker->options.root);
    if (memory > 0 && memory / WORKER_BYTES < most)
        most = (size_t)(memory / WORKER_BYTES);
    if (maker->count < most)
        most = maker->count;
    if (seats_by_descriptors() < most)
        most = seats_by_descriptors();
    return most < 1 ? 1 : most > MAX_SEATS ? MAX_SEATS : most;
}

/* One of many that cannot be started, for want of processes or descriptors, is one less. */
static int start_another(struct pj_maker *maker, struct seat *seat, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = start_seat(maker, seat, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY && any_lives(maker)) {
        maker->failed_starts++;
        return 0;
    }
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}

/* Starts the seats that are worth it, and one for what is left however many workers have died. */
static int fill_seats(struct pj_maker *maker, size_t seats, struct pj_error **err)
{
    int r = 0;
    bool more = maker->next < maker->count && maker->failed_starts == 0;
    for (size_t i = 0; i < seats && r == 0; i++) {
        struct seat *seat = &maker->seats[i];
        if (i >= maker->seat_count)
            maker->seat_count = i + 1;
        if (seat->state == SEAT_EMPTY && (more || (i == 0 && !any_lives(maker))))
            r = start_another(maker, seat, err);
        else if (seat->state == SEAT_IDLE)
            r = feed(maker, seat, err);
    }
    return r;
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
    size_t seats = wanted_seats(maker);
    struct pj_event event = {0};
    while (r == 0 && maker->left > 0 && !maker->interrupted && !maker->deadline_passed) {
        r = fill_seats(maker, seats, err);
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
