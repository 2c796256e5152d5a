/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for workers and passes what they say to the phase they belong to. */
#include "session/engine/engine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "host/gpus.h"
#include "host/limits.h"
#include "session/engine/sizing.h"
#include "session/frame/request.h"
#include "session/receipt/reuse.h"
#include "session/run/driver_start.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

#define TICK_MS 200.0

int pj_engine_new(struct pj_session *session, struct pj_engine **ret_engine, struct pj_error **err)
{
    struct pj_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return pj_error_no_memory(err);
    engine->session = session;
    const struct pj_pool_options options = {
        .worker_program = session->options->worker_program,
        .driver_path = session->options->driver,
        .root = session->root,
        .interrupt_fd = session->options->interrupt_fd,
        .start_timeout_ms = pj_patience_ms(session->options->timeout_ms),
        .hear = session->options->observer.message,
        .hear_context = session->options->observer.context,
    };
    int r = pj_pool_new(&options, &engine->pool, err);
    if (r < 0) {
        free(engine);
        return r;
    }
    *ret_engine = engine;
    return 0;
}

void pj_engine_free(struct pj_engine *engine)
{
    if (!engine)
        return;
    if (engine->compiling)
        pj_compile_free(&engine->compile);
    if (engine->proving)
        pj_prove_free(&engine->prove);
    pj_pool_free(engine->pool);
    free(engine);
}

void pj_engine_free_pointer(struct pj_engine **engine)
{
    pj_engine_free(*engine);
}

static void tick(struct pj_engine *engine, double now)
{
    const struct pj_observer *observer = &engine->session->options->observer;
    if (now < engine->next_tick_ms)
        return;
    engine->next_tick_ms = now + TICK_MS;
    if (observer->tick)
        observer->tick(observer->context);
}

/* One event, or the time for something else to be looked at. */
static int step(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    double until = pj_clock_ms() + TICK_MS;
    if (engine->compiling && pj_compile_next_ms(&engine->compile) < until)
        until = pj_compile_next_ms(&engine->compile);
    double deadline = pj_session_deadline_ms(session);
    struct pj_event event;
    int r = pj_pool_wait(engine->pool, until < deadline ? until : deadline, &event, err);
    if (r < 0)
        return r;
    double now = pj_clock_ms();
    tick(engine, now);
    session->deadline_passed |= now >= deadline;
    session->interrupted |= event.kind == PJ_EVENT_INTERRUPTED;
    if (event.kind == PJ_EVENT_TIME || event.kind == PJ_EVENT_INTERRUPTED)
        return 0;
    const enum pj_role *role = event.owner;
    return *role == PJ_ROLE_COMPILE ? pj_compile_event(&engine->compile, &event, err)
                                    : pj_prove_event(&engine->prove, &event, err);
}

static bool ended_early(const struct pj_engine *engine)
{
    return engine->session->interrupted || engine->session->deadline_passed;
}

static int begin_compile(struct pj_engine *engine, struct pj_error **err)
{
    if (engine->compiling)
        return 0;
    engine->compiling = true;
    return pj_compile_init(&engine->compile, engine->session, engine->pool,
                           engine->session->format == PJ_FORMAT_OTHER, err);
}

void pj_engine_restart_in_place(struct pj_engine *engine)
{
    if (engine->proving) { /* a proof process may have been started beside the last compiles */
        pj_prove_free(&engine->prove);
        engine->proving = false;
    }
    if (!engine->compiling)
        return;
    pj_compile_stop(&engine->compile);
    pj_compile_free(&engine->compile);
    engine->compiling = false;
}

static uint64_t file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Before anything is read, file sizes tell enough: workers shall start while the images are read. */
static void estimate_work(const struct pj_session *session, struct pj_sizing *sizing)
{
    const struct pj_manifest *manifest = session->manifest;
    for (size_t i = 0; i < manifest->module_count; i++) {
        const struct pj_module *module = &manifest->modules[i];
        if (!pj_plan_selects(&session->selection, module))
            continue;
        sizing->jobs++;
        if (module->path)
            sizing->image_bytes += file_size(module->path);
        for (size_t k = 0; k < module->input_count; k++)
            sizing->image_bytes += file_size(module->inputs[k]);
    }
}

static size_t wanted_workers(const struct pj_engine *engine)
{
    const struct pj_session *session = engine->session;
    struct pj_sizing sizing = {
        .cores = pj_host_cores(&session->root),
        .memory_bytes = pj_host_memory_available(&session->root),
        .requested = session->options->workers,
    };
    if (session->outcomes) {
        for (size_t i = 0; i < session->plan->job_count; i++) {
            if (session->outcomes[i].stage != PJ_STAGE_WAITING)
                continue;
            sizing.jobs++;
            sizing.image_bytes += session->plan->jobs[i].size_bytes;
        }
    } else {
        estimate_work(session, &sizing);
    }
    return pj_worker_count(&sizing);
}

int pj_engine_meet_driver(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    int r = begin_compile(engine, err);
    /* Workers start while the images are read: all of them where there is one GPU, else the first, which
     * tells what there is. */
    PJ_CLEANUP_BUFFER struct pj_buffer listing = {0};
    size_t gpus = 0;
    if (r == 0 && !session->machine.known)
        r = pj_host_gpu_listing(&session->root, &listing, &gpus, err);
    if (r == 0 && !session->machine.known)
        r = pj_compile_start(&engine->compile,
                             gpus == 1 && session->format != PJ_FORMAT_OTHER ? wanted_workers(engine) : 1,
                             err);
    if (r == 0)
        r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    while (r == 0 && !session->machine.known && !ended_early(engine)) {
        r = step(engine, err);
        if (r == 0)
            r = pj_compile_advance(&engine->compile, err);
    }
    if (r < 0 || ended_early(engine))
        return r;
    r = pj_request_expand(session, err);
    if (r == 0)
        r = pj_reuse_jobs(session, err);
    if (r == 0 && session->format == PJ_FORMAT_KNOWN)
        r = pj_compile_find_present(&engine->compile, err);
    return r;
}

static int begin_prove(struct pj_engine *engine, const size_t *jobs, size_t count, unsigned samples,
                       struct pj_error **err)
{
    if (engine->proving)
        pj_prove_free(&engine->prove);
    engine->proving = true;
    return pj_prove_init(&engine->prove, engine->session, engine->pool, jobs, count, samples, err);
}

static int begin_prove_all_open(struct pj_engine *engine, unsigned samples, struct pj_error **err)
{
    const struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    size_t count = 0;
    if (!jobs)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < session->plan->job_count; i++) {
        if (pj_outcome_is_open(&session->outcomes[i]))
            jobs[count++] = i;
    }
    return begin_prove(engine, jobs, count, samples, err);
}

/* After the last commit every entry must be listed; what got lost meanwhile goes in once more from its
 * private copy (S5). */
static int check_listed(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    size_t count = 0, used = 0;
    if (session->format != PJ_FORMAT_KNOWN || !session->store)
        return 0;
    for (size_t i = 0; i < session->plan->job_count; i++)
        count += session->outcomes[i].entry_count;
    PJ_CLEANUP_FREE uint64_t *hashes = calloc(count + 1, sizeof *hashes);
    PJ_CLEANUP_FREE size_t *jobs = calloc(count + 1, sizeof *jobs);
    PJ_CLEANUP_FREE bool *listed = calloc(count + 1, sizeof *listed);
    if (!hashes || !jobs || !listed)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < session->plan->job_count; i++) {
        const struct pj_outcome *outcome = &session->outcomes[i];
        bool made = outcome->stage == PJ_STAGE_PRESENT && outcome->origin != PJ_ORIGIN_REUSED;
        for (size_t k = 0; made && k < outcome->entry_count; k++) {
            jobs[used] = i;
            hashes[used++] = outcome->entries[k].hash;
        }
    }
    int r = pj_store_listed(session->store, hashes, used, listed, err);
    bool again = false;
    for (size_t i = 0; r == 0 && i < used; i++) {
        if (!listed[i]) {
            session->outcomes[jobs[i]].stage = PJ_STAGE_COMPILED;
            session->outcomes[jobs[i]].origin = PJ_ORIGIN_REPAIRED;
            again = true;
        }
    }
    return r == 0 && again ? pj_compile_commit(&engine->compile, err) : r;
}

/* All compiled: into the cache with it, and the proof may look. */
static int close_compile(struct pj_engine *engine, struct pj_error **err)
{
    int r = pj_compile_commit(&engine->compile, err);
    if (r == 0)
        r = check_listed(engine, err);
    pj_compile_stop(&engine->compile);
    return r;
}

static void announce_prove(struct pj_engine *engine)
{
    const struct pj_session *session = engine->session;
    const struct pj_observer *observer = &session->options->observer;
    size_t open = 0;
    for (size_t i = 0; i < session->plan->job_count; i++)
        open += pj_outcome_is_open(&session->outcomes[i]);
    if (observer->phase && open > 0)
        observer->phase(observer->context, "prove", open, 0);
    engine->prove.open = true;
    engine->prove.begin_ms = pj_clock_ms();
}

static void end_prove(struct pj_engine *engine)
{
    struct pj_phases *phases = &engine->session->phases;
    phases->has_prove = true;
    phases->prove_ms += pj_clock_ms() - engine->prove.begin_ms;
}

int pj_engine_compile_and_prove(struct pj_engine *engine, unsigned samples, struct pj_error **err)
{
    struct pj_compile *compile = &engine->compile;
    bool proving = false, closed = false;
    int r = begin_compile(engine, err);
    if (r == 0)
        r = pj_compile_fill(compile, err);
    if (r == 0 && (compile->queue_count > 0 || compile->probe_wanted))
        r = pj_compile_start(compile, compile->queue_count > 0 ? wanted_workers(engine) : 1, err);
    while (r == 0 && !ended_early(engine)) {
        if (!closed)
            r = pj_compile_advance(compile, err);
        bool finished = pj_compile_finished(compile);
        if (r == 0 && !compile->in_place && engine->session->format == PJ_FORMAT_OTHER)
            return 0; /* nothing compiled so far can be committed: the caller goes on in place */
        if (r == 0 && !proving && pj_compile_draining(compile)) {
            proving = true;
            r = begin_prove_all_open(engine, samples, err);
        }
        if (r == 0 && finished && !closed) {
            closed = true;
            r = close_compile(engine, err);
            if (r == 0)
                announce_prove(engine);
        }
        if (r == 0 && proving)
            r = pj_prove_advance(&engine->prove, err);
        if (r < 0 || (closed && pj_prove_finished(&engine->prove)))
            break;
        r = step(engine, err);
    }
    if (closed)
        end_prove(engine);
    return r;
}

int pj_engine_compile(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_compile *compile = &engine->compile;
    const struct pj_session *session = engine->session;
    if (session->format == PJ_FORMAT_OTHER || ended_early(engine))
        return 0;
    int r = begin_compile(engine, err);
    if (r == 0)
        r = pj_compile_fill(compile, err);
    if (r == 0 && compile->queue_count > 0)
        r = pj_compile_start(compile, wanted_workers(engine), err);
    while (r == 0 && !ended_early(engine) && session->format != PJ_FORMAT_OTHER) {
        r = pj_compile_advance(compile, err);
        if (r < 0 || pj_compile_finished(compile))
            break;
        r = step(engine, err);
    }
    if (r == 0)
        r = pj_compile_commit(compile, err);
    pj_compile_stop(compile);
    return r;
}

int pj_engine_prove(struct pj_engine *engine, const size_t *jobs, size_t count, unsigned samples, bool alone,
                    struct pj_error **err)
{
    if (count == 0)
        return 0;
    int r = begin_prove(engine, jobs, count, samples, err);
    engine->prove.alone = alone;
    if (r == 0 && !alone)
        announce_prove(engine);
    engine->prove.open = true;
    while (r == 0 && !ended_early(engine)) {
        r = pj_prove_advance(&engine->prove, err);
        if (r < 0 || pj_prove_finished(&engine->prove))
            break;
        r = step(engine, err);
    }
    end_prove(engine);
    return r;
}

static bool missed_though_present(const struct pj_outcome *outcome)
{
    return outcome->stage == PJ_STAGE_PRESENT && outcome->verdict == PJ_VERDICT_NONE &&
           outcome->evidence.misses > 0 && outcome->evidence.poisoned == 0 &&
           outcome->evidence.entry_present != PJ_WITNESS_NO;
}

/* A loaded machine can make the driver give up its lock on `index` [23]: a miss counts only when it happens
 * alone too. */
int pj_engine_prove_missed_alone(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    PJ_CLEANUP_FREE size_t *jobs = calloc(session->plan->job_count + 1, sizeof *jobs);
    PJ_CLEANUP_CLOSE int cache_fd = -1;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    if (!jobs)
        return pj_error_no_memory(err);
    (void)pj_session_open_cache(session, &cache_fd, &ignored);
    size_t count = 0;
    for (size_t i = 0; i < session->plan->job_count; i++) {
        enum pj_entry_state state;
        if (!missed_though_present(&session->outcomes[i]))
            continue;
        int r = pj_outcome_check_entry(session, i, cache_fd, &state, NULL, err);
        if (r < 0)
            return r;
        if (!missed_though_present(&session->outcomes[i]))
            continue;
        pj_outcome_forget_evidence(&session->outcomes[i]);
        jobs[count++] = i;
    }
    return pj_engine_prove(engine, jobs, count, 1, true, err);
}

int pj_engine_ask(struct pj_engine *engine, const struct pj_worker_spec *spec,
                  const struct pj_wire_message *order, const struct pj_wire_descriptors *descriptors,
                  struct pj_event *ret_event, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    struct pj_worker *worker;
    struct pj_event event = {0};
    bool asked = order == NULL, answered = false;
    int r = pj_pool_start(engine->pool, spec, &worker, err);
    while (r == 0 && !answered) {
        r = pj_pool_wait(engine->pool, pj_session_deadline_ms(session), &event, err);
        if (r < 0)
            break;
        session->interrupted |= event.kind == PJ_EVENT_INTERRUPTED;
        session->deadline_passed |= event.kind == PJ_EVENT_TIME;
        bool ours = event.worker == worker;
        if (ours && event.kind == PJ_EVENT_STARTED && !asked && event.started->failed_step[0] == '\0') {
            asked = true;
            r = pj_pool_give(engine->pool, worker, order, descriptors,
                             pj_patience_ms(session->options->timeout_ms), err);
        } else {
            answered = ours || event.kind == PJ_EVENT_INTERRUPTED || event.kind == PJ_EVENT_TIME;
        }
    }
    if (r < 0)
        return r;
    if (event.kind != PJ_EVENT_DIED)
        pj_pool_stop(engine->pool, worker);
    *ret_event = event;
    return 0;
}

/* The machine as one worker tells it, that does nothing else. */
static int meet(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    struct pj_event event = {0};
    const struct pj_worker_spec spec = {.cache_path = session->cache_absent ? NULL : session->location.path,
                                        .cache_max_bytes = session->location.limit_bytes,
                                        .disable_jit = true};
    int r = pj_engine_ask(engine, &spec, NULL, NULL, &event, err);
    if (r < 0 || event.kind == PJ_EVENT_INTERRUPTED || event.kind == PJ_EVENT_TIME)
        return r;
    if (event.kind != PJ_EVENT_STARTED)
        return pj_driver_start_death(&event.death, err);
    return event.started->failed_step[0] ? pj_machine_start_error(session, event.started, err)
                                         : pj_machine_from_worker(session, event.started, err);
}

int pj_engine_meet_driver_to_prove(struct pj_engine *engine, struct pj_error **err)
{
    struct pj_session *session = engine->session;
    int r = pj_plan_read(session->manifest, &session->selection, &session->plan, err);
    if (r == 0 && !session->machine.known)
        r = meet(engine, err);
    return r == 0 && session->machine.known ? pj_request_expand(session, err) : r;
}
