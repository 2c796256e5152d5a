/* SPDX-License-Identifier: Apache-2.0 */
/* Hands jobs to compile workers, biggest first. */
#include "session/engine/compile.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "session/engine/compile_private.h"
#include "session/run/driver_start.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

enum { MAX_SEATS = 256, COMMIT_AFTER_MS = 5000, MAX_FAILED_STARTS = 3, MAX_PROBE_ATTEMPTS = 2 };

int pj_compile_init(struct pj_compile *compile, struct pj_session *session, struct pj_pool *pool,
                    bool in_place, struct pj_error **err)
{
    *compile =
        (struct pj_compile){.session = session, .pool = pool, .in_place = in_place, .probe = {.fd = -1}};
    compile->begin_ms = pj_clock_ms();
    compile->probe_wanted = !in_place && session->format == PJ_FORMAT_UNSEEN;
    compile->seats = calloc(MAX_SEATS, sizeof *compile->seats);
    if (!compile->seats)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < MAX_SEATS; i++)
        compile->seats[i].folder = i;
    return pj_probe_make(false, &compile->probe, err);
}

/* With several GPUs each worker sees the first alone: that halves cuInit, and entries do not depend on which
 * GPU it was [12]. */
static const char *visible_devices(const struct pj_session *session)
{
    return session->machine.device_count > 1 ? session->machine.devices[0].uuid : NULL;
}

static int start_seat(struct pj_compile *compile, size_t i, struct pj_error **err)
{
    struct pj_session *session = compile->session;
    struct pj_compile_seat *seat = &compile->seats[i];
    int r = 0;
    if (!compile->in_place && !seat->folder_path)
        r = pj_store_private_folder(session->store, seat->folder, &seat->folder_path, err);
    if (r < 0)
        return r;
    const struct pj_worker_spec spec = {
        .cache_path = compile->in_place ? session->location.path : seat->folder_path,
        .cache_max_bytes = compile->in_place ? session->location.limit_bytes : PJ_PRIVATE_CACHE_BYTES,
        .visible_devices = visible_devices(session),
        .watch_path = compile->in_place ? NULL : seat->folder_path,
        .owner = seat,
    };
    seat->role = PJ_ROLE_COMPILE;
    r = pj_pool_start(compile->pool, &spec, &seat->worker, err);
    if (r == 0)
        seat->state = PJ_SEAT_STARTING;
    return r;
}

static bool any_lives(const struct pj_compile *compile)
{
    for (size_t i = 0; i < compile->seat_count; i++) {
        if (compile->seats[i].state != PJ_SEAT_EMPTY)
            return true;
    }
    return false;
}

/* One of many that cannot be started, for want of processes or descriptors, is one less. */
static int start_another(struct pj_compile *compile, size_t i, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    int r = start_seat(compile, i, &problem);
    if (r < 0 && r != PJ_ERROR_NO_MEMORY && any_lives(compile)) {
        compile->fewer = true;
        return 0;
    }
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}

int pj_compile_start(struct pj_compile *compile, size_t count, struct pj_error **err)
{
    if (count > MAX_SEATS)
        count = MAX_SEATS;
    for (size_t i = 0; i < count; i++) {
        if (i < compile->seat_count && compile->seats[i].state != PJ_SEAT_EMPTY)
            continue;
        if (compile->fewer && any_lives(compile))
            break;
        if (i >= compile->seat_count)
            compile->seat_count = i + 1;
        int r = start_another(compile, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int by_size_descending(const void *a, const void *b, void *context)
{
    const struct pj_job *jobs = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    uint64_t size_x = jobs[x].size_bytes, size_y = jobs[y].size_bytes;
    if (size_x != size_y)
        return size_x < size_y ? 1 : -1;
    return (x > y) - (x < y);
}

int pj_compile_fill(struct pj_compile *compile, struct pj_error **err)
{
    const struct pj_session *session = compile->session;
    size_t count = session->plan->job_count;
    free(compile->queue);
    free(compile->alone);
    compile->queue = calloc(count + 1, sizeof *compile->queue);
    compile->alone = calloc(count + 1, PJ_COMPILE_AGAIN_MAX * sizeof *compile->alone);
    if (!compile->queue || !compile->alone)
        return pj_error_no_memory(err);
    compile->queue_count = compile->queue_next = compile->alone_count = compile->alone_next = 0;
    uint64_t weight = 0;
    for (size_t i = 0; i < count; i++) {
        if (session->outcomes[i].stage != PJ_STAGE_WAITING)
            continue;
        compile->queue[compile->queue_count++] = i;
        weight += session->plan->jobs[i].size_bytes;
    }
    qsort_r(compile->queue, compile->queue_count, sizeof *compile->queue, by_size_descending,
            session->plan->jobs);
    const struct pj_observer *observer = &session->options->observer;
    if (observer->phase && compile->queue_count > 0)
        observer->phase(observer->context, "compile", compile->queue_count, weight);
    return 0;
}

/* Next job for a seat: the queue, and when nothing else runs one of those that killed a worker. False = none
 * now. */
static bool next_job(struct pj_compile *compile, size_t *ret_job)
{
    const struct pj_session *session = compile->session;
    while (compile->queue_next < compile->queue_count) {
        size_t job = compile->queue[compile->queue_next++];
        if (session->outcomes[job].stage != PJ_STAGE_WAITING)
            continue; /* found in the cache meanwhile */
        *ret_job = job;
        return true;
    }
    if (compile->running == 0 && !compile->probe_running && compile->alone_next < compile->alone_count) {
        *ret_job = compile->alone[compile->alone_next++];
        return true;
    }
    return false;
}

/* CU_JIT_TARGET: not for the worker's own architecture, whose default entry is the same one [10]. */
static uint32_t jit_target(const struct pj_session *session, uint16_t target)
{
    return session->machine.device_count > 0 && session->machine.device_arch[0] == target ? 0 : target;
}

static int give_probe(struct pj_compile *compile, struct pj_compile_seat *seat, struct pj_error **err)
{
    struct pj_wire_part part;
    struct pj_wire_descriptors descriptors;
    pj_probe_part(&compile->probe, &part, &descriptors);
    const struct pj_wire_message order = {
        .type = PJ_WIRE_LOAD,
        .load = {.job = PJ_PROBE_JOB, .method = PJ_LOAD_COMPILE, .part_count = 1, .parts = &part},
    };
    compile->probe_wanted = false;
    compile->probe_running = true;
    compile->probe_attempts++;
    seat->state = PJ_SEAT_BUSY;
    seat->job = PJ_PROBE_JOB;
    return pj_pool_give(compile->pool, seat->worker, &order, &descriptors,
                        pj_patience_ms(compile->session->options->timeout_ms), err);
}

static int give_job(struct pj_compile *compile, struct pj_compile_seat *seat, size_t index,
                    struct pj_error **err)
{
    struct pj_session *session = compile->session;
    const struct pj_job *job = &session->plan->jobs[index];
    PJ_CLEANUP_ORDER struct pj_job_order order = {.parts = NULL};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (pj_job_order_make(job, index, PJ_LOAD_COMPILE, jit_target(session, job->target), &order, &problem) <
        0) {
        const char *reason = pj_arena_strdup(&session->arena, pj_error_message(problem));
        if (!reason)
            return pj_error_no_memory(err);
        pj_outcome_fail(&session->outcomes[index], PJ_VERDICT_REJECTED, "unreadable", reason);
        pj_compile_tell(compile, index, reason, true);
        return 0;
    }
    session->outcomes[index].stage = PJ_STAGE_COMPILING;
    seat->state = PJ_SEAT_BUSY;
    seat->linked |= job->link;
    seat->job = index;
    compile->running++;
    pj_compile_tell_started(compile, index);
    return pj_pool_give(compile->pool, seat->worker, &order.message, &order.descriptors,
                        pj_session_timeout_ms(session), err);
}

/* What a link stores is told by what is new, where no name is predicted. An input that another link brought
 * into the seat's folder would not be new there. */
static bool needs_fresh_folder(const struct pj_compile *compile, const struct pj_compile_seat *seat,
                               size_t index)
{
    const struct pj_job *job = &compile->session->plan->jobs[index];
    return job->link && !job->has_names && seat->linked && !compile->in_place;
}

/* The job that next_job gave last stands in its list again. */
static void put_back(struct pj_compile *compile, size_t job)
{
    if (compile->alone_next > 0 && compile->alone[compile->alone_next - 1] == job)
        compile->alone_next--;
    else
        compile->queue_next--;
}

static int renew_seat(struct pj_compile *compile, struct pj_compile_seat *seat, struct pj_error **err)
{
    pj_pool_stop(compile->pool, PJ_STEAL(seat->worker));
    seat->state = PJ_SEAT_EMPTY;
    seat->folder = MAX_SEATS + compile->fresh_folders++;
    seat->folder_path = NULL;
    seat->linked = false;
    return start_another(compile, (size_t)(seat - compile->seats), err);
}

static int feed(struct pj_compile *compile, struct pj_compile_seat *seat, struct pj_error **err)
{
    size_t job;
    if (compile->probe_wanted)
        return give_probe(compile, seat, err);
    while (seat->state == PJ_SEAT_IDLE && compile->session->outcomes && next_job(compile, &job)) {
        bool renewed = needs_fresh_folder(compile, seat, job);
        if (renewed)
            put_back(compile, job);
        int r = renewed ? renew_seat(compile, seat, err) : give_job(compile, seat, job, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool has_work(const struct pj_compile *compile)
{
    return compile->probe_wanted || compile->queue_next < compile->queue_count ||
           compile->alone_next < compile->alone_count;
}

/* Someone must be there to do what is left, however many workers have died. */
static int keep_one_alive(struct pj_compile *compile, struct pj_error **err)
{
    if (!has_work(compile))
        return 0;
    return any_lives(compile) ? 0 : start_seat(compile, 0, err);
}

int pj_compile_advance(struct pj_compile *compile, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < compile->seat_count && r == 0; i++) {
        if (compile->seats[i].state == PJ_SEAT_IDLE)
            r = feed(compile, &compile->seats[i], err);
    }
    if (r == 0)
        r = keep_one_alive(compile, err);
    if (r == 0 && compile->ready_since_ms > 0 && compile->session->format == PJ_FORMAT_KNOWN &&
        pj_clock_ms() - compile->ready_since_ms >= COMMIT_AFTER_MS)
        r = pj_compile_commit(compile, err);
    return r;
}

/* One of many that does not start is one less; it is the machine's fault, and the run's end, where none does.
 */
static int seat_started(struct pj_compile *compile, struct pj_compile_seat *seat,
                        const struct pj_wire_started *started, struct pj_error **err)
{
    if (started->failed_step[0] != '\0') {
        pj_pool_stop(compile->pool, PJ_STEAL(seat->worker));
        seat->state = PJ_SEAT_EMPTY;
        compile->fewer = true; /* else the next phase would try it again */
        return any_lives(compile) ? 0 : pj_machine_start_error(compile->session, started, err);
    }
    compile->failed_starts = 0;
    seat->state = PJ_SEAT_IDLE;
    return compile->session->machine.known ? 0 : pj_machine_from_worker(compile->session, started, err);
}

static int seat_died(struct pj_compile *compile, struct pj_compile_seat *seat, const struct pj_death *death,
                     struct pj_error **err)
{
    bool was_starting = seat->state == PJ_SEAT_STARTING;
    seat->state = PJ_SEAT_EMPTY;
    seat->worker = NULL;
    if (death->busy && death->job == PJ_PROBE_JOB) {
        compile->probe_running = false;
        compile->probe_wanted =
            compile->probe_attempts < MAX_PROBE_ATTEMPTS && death->cause != PJ_DEATH_TIMED_OUT;
        if (!compile->probe_wanted)
            compile->session->format = PJ_FORMAT_OTHER;
    } else if (death->busy) {
        compile->running--;
        int r = pj_compile_blame(compile, (size_t)death->job, death, err);
        if (r < 0)
            return r;
    }
    if (was_starting && any_lives(compile)) {
        compile->fewer = true;
        return 0;
    }
    /* One that hangs would hang again, and the user would wait as long again. */
    if (was_starting && (++compile->failed_starts >= MAX_FAILED_STARTS || death->cause == PJ_DEATH_TIMED_OUT))
        return pj_driver_start_death(death, err);
    bool wanted =
        compile->probe_wanted || compile->queue_next < compile->queue_count || !compile->session->outcomes;
    return wanted ? start_another(compile, (size_t)(seat - compile->seats), err) : 0;
}

int pj_compile_event(struct pj_compile *compile, const struct pj_event *event, struct pj_error **err)
{
    struct pj_compile_seat *seat = event->owner;
    switch (event->kind) {
    case PJ_EVENT_STARTED:
        return seat_started(compile, seat, event->started, err);
    case PJ_EVENT_LOADED:
        seat->state = PJ_SEAT_IDLE;
        return pj_compile_take_result(compile, seat, event->loaded, err);
    case PJ_EVENT_DIED:
        return seat_died(compile, seat, &event->death, err);
    default:
        return 0;
    }
}

bool pj_compile_draining(const struct pj_compile *compile)
{
    return !has_work(compile);
}

bool pj_compile_finished(const struct pj_compile *compile)
{
    return !has_work(compile) && compile->running == 0 && !compile->probe_running;
}

double pj_compile_next_ms(const struct pj_compile *compile)
{
    return compile->ready_since_ms > 0 && compile->session->format == PJ_FORMAT_KNOWN
               ? compile->ready_since_ms + COMMIT_AFTER_MS
               : (double)INFINITY;
}

void pj_compile_stop(struct pj_compile *compile)
{
    for (size_t i = 0; i < compile->seat_count; i++) {
        if (compile->seats[i].state != PJ_SEAT_EMPTY)
            pj_pool_stop(compile->pool, compile->seats[i].worker);
        compile->seats[i].state = PJ_SEAT_EMPTY;
        compile->seats[i].worker = NULL;
    }
}

void pj_compile_free(struct pj_compile *compile)
{
    pj_probe_close(&compile->probe);
    free(compile->seats);
    free(compile->queue);
    free(compile->alone);
}
