/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the proof processes and gathers what they say as evidence. */
#include "session/engine/prove.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "image/complaint.h"
#include "session/run/driver_start.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

enum { MAX_DEATHS = 2 };

/* A hit takes milliseconds; a driver that hangs shall not hold the run for as long as a compilation may. */
static double patience_ms(const struct pj_prove *prove)
{
    return pj_patience_ms(prove->session->options->timeout_ms);
}

/* A job is proven on a GPU of its own architecture where there is one; elsewhere as foreign, on the first
 * GPU. */
static size_t device_for(const struct pj_session *session, const struct pj_job *job)
{
    for (size_t i = 0; i < session->machine.device_count; i++) {
        if (session->machine.device_arch[i] == job->target)
            return i;
    }
    return 0;
}

static uint32_t foreign_target(const struct pj_session *session, size_t device, const struct pj_job *job)
{
    return session->machine.device_count > 0 && session->machine.device_arch[device] == job->target
               ? 0
               : job->target;
}

static struct pj_canary_kind kind_of(const struct pj_session *session, size_t device,
                                     const struct pj_job *job)
{
    return (struct pj_canary_kind){
        .foreign_target = (uint16_t)foreign_target(session, device, job),
        .link = job->link,
        .with_options = job->options.given != 0,
    };
}

static bool same_kind(const struct pj_canary_kind *a, const struct pj_canary_kind *b)
{
    return a->foreign_target == b->foreign_target && a->link == b->link && a->with_options == b->with_options;
}

static int add_kinds(struct pj_prove *prove, struct pj_proof_run *run, struct pj_error **err)
{
    const struct pj_session *session = prove->session;
    run->kinds = calloc(run->job_count + 1, sizeof *run->kinds);
    if (!run->kinds)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < run->job_count; i++) {
        struct pj_canary_kind kind = kind_of(session, run->device, &session->plan->jobs[run->jobs[i]]);
        kind.example = run->jobs[i];
        size_t k = 0;
        while (k < run->kind_count && !same_kind(&run->kinds[k], &kind))
            k++;
        if (k == run->kind_count)
            run->kinds[run->kind_count++] = kind;
    }
    return 0;
}

static int add_run(struct pj_prove *prove, size_t device, size_t first, size_t count, struct pj_error **err)
{
    struct pj_proof_run *run = &prove->runs[prove->run_count++];
    *run = (struct pj_proof_run){.device = device, .jobs = prove->jobs + first, .job_count = count};
    return add_kinds(prove, run, err);
}

int pj_prove_init(struct pj_prove *prove, struct pj_session *session, struct pj_pool *pool,
                  const size_t *jobs, size_t count, unsigned samples, struct pj_error **err)
{
    *prove = (struct pj_prove){.session = session, .pool = pool, .canary = {.fd = -1}};
    prove->begin_ms = pj_clock_ms();
    size_t devices = session->machine.device_count ? session->machine.device_count : 1;
    prove->jobs = calloc(count + 1, sizeof *prove->jobs);
    prove->runs = calloc(devices * samples + 1, sizeof *prove->runs);
    if (!prove->jobs || !prove->runs)
        return pj_error_no_memory(err);
    size_t starts[PJ_WIRE_DEVICES_MAX + 1] = {0};
    for (size_t device = 0; device < devices; device++) {
        starts[device] = prove->job_count;
        for (size_t i = 0; i < count; i++) {
            if (device_for(session, &session->plan->jobs[jobs[i]]) == device)
                prove->jobs[prove->job_count++] = jobs[i];
        }
    }
    starts[devices] = prove->job_count;
    int r = pj_probe_make(true, &prove->canary, err);
    for (unsigned sample = 0; sample < samples && r == 0; sample++) {
        for (size_t device = 0; device < devices && r == 0; device++) {
            if (starts[device + 1] > starts[device])
                r = add_run(prove, device, starts[device], starts[device + 1] - starts[device], err);
        }
    }
    return r;
}

static int start_seat(struct pj_prove *prove, struct pj_prove_seat *seat, struct pj_proof_run *run,
                      struct pj_error **err)
{
    const struct pj_session *session = prove->session;
    const struct pj_worker_spec spec = {
        .cache_path = session->location.path,
        .cache_max_bytes = session->location.limit_bytes,
        .disable_jit = true,
        .context = true,
        .visible_devices =
            session->machine.device_count > 1 ? session->machine.devices[run->device].uuid : NULL,
        .owner = seat,
    };
    *seat = (struct pj_prove_seat){.role = PJ_ROLE_PROVE, .run = run};
    int r = pj_pool_start(prove->pool, &spec, &seat->worker, err);
    if (r == 0)
        seat->state = PJ_SEAT_STARTING;
    return r;
}

static int load_canary(struct pj_prove *prove, struct pj_prove_seat *seat, struct pj_error **err)
{
    const struct pj_canary_kind *kind = &seat->run->kinds[seat->run->next];
    struct pj_wire_part part;
    struct pj_wire_descriptors descriptors;
    struct pj_wire_message order = {.type = PJ_WIRE_LOAD};
    pj_job_order_begin(&prove->session->plan->jobs[kind->example], UINT64_MAX, PJ_LOAD_PROVE,
                       kind->foreign_target, &order.load);
    pj_probe_part(&prove->canary, &part, &descriptors);
    order.load.parts = &part;
    order.load.part_count = 1;
    seat->at_canary = true;
    seat->kind = seat->run->next++;
    seat->state = PJ_SEAT_BUSY;
    return pj_pool_give(prove->pool, seat->worker, &order, &descriptors, patience_ms(prove), err);
}

static int load_job(struct pj_prove *prove, struct pj_prove_seat *seat, size_t index, struct pj_error **err)
{
    struct pj_session *session = prove->session;
    const struct pj_job *job = &session->plan->jobs[index];
    PJ_CLEANUP_ORDER struct pj_job_order order = {.parts = NULL};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    uint32_t target = foreign_target(session, seat->run->device, job);
    if (pj_job_order_make(job, index, PJ_LOAD_PROVE, target, &order, &problem) < 0) {
        struct pj_outcome *outcome = &session->outcomes[index];
        outcome->evidence.odd++;
        outcome->reason_code = "unexpected-answer";
        outcome->reason = pj_arena_strdup(&session->arena, pj_error_message(problem));
        return outcome->reason ? 0 : pj_error_no_memory(err);
    }
    seat->at_canary = false;
    seat->job = index;
    seat->state = PJ_SEAT_BUSY;
    return pj_pool_give(prove->pool, seat->worker, &order.message, &order.descriptors, patience_ms(prove),
                        err);
}

static void end_seat(struct pj_prove *prove, struct pj_prove_seat *seat)
{
    pj_pool_stop(prove->pool, seat->worker);
    *seat = (struct pj_prove_seat){.role = PJ_ROLE_PROVE};
}

/* The next load of an idle process: canaries at once, jobs when they may be loaded, then its end. */
static int feed(struct pj_prove *prove, struct pj_prove_seat *seat, struct pj_error **err)
{
    struct pj_proof_run *run = seat->run;
    if (run->next < run->kind_count)
        return load_canary(prove, seat, err);
    if (!prove->open)
        return 0;
    while (seat->state == PJ_SEAT_IDLE && run->next - run->kind_count < run->job_count) {
        size_t job = run->jobs[run->next++ - run->kind_count];
        if (!pj_outcome_is_open(&prove->session->outcomes[job]))
            continue;
        int r = load_job(prove, seat, job, err);
        if (r < 0)
            return r;
    }
    if (seat->state == PJ_SEAT_IDLE) {
        run->done = true;
        end_seat(prove, seat);
    }
    return 0;
}

/* One that cannot be started, for want of processes or descriptors, is one less: another takes the run. */
static int start_another(struct pj_prove *prove, struct pj_prove_seat *seat, struct pj_error **err)
{
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    bool any_lives = false;
    int r = start_seat(prove, seat, &prove->runs[prove->run_next], &problem);
    for (size_t i = 0; i < PJ_PROVE_SEATS; i++)
        any_lives |= prove->seats[i].state != PJ_SEAT_EMPTY;
    if (r < 0 && r != PJ_ERROR_NO_MEMORY && any_lives)
        return 0;
    prove->run_next++;
    if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r;
}

int pj_prove_advance(struct pj_prove *prove, struct pj_error **err)
{
    /* Beside the last compiles one is enough: a second start would slow them more than it saves. */
    size_t seats = prove->alone || !prove->open ? 1 : PJ_PROVE_SEATS;
    int r = 0;
    for (size_t i = 0; i < seats && r == 0; i++) {
        struct pj_prove_seat *seat = &prove->seats[i];
        if (seat->state == PJ_SEAT_EMPTY && prove->run_next < prove->run_count)
            r = start_another(prove, seat, err);
        else if (seat->state == PJ_SEAT_IDLE)
            r = feed(prove, seat, err);
    }
    return r;
}

/* No process, no evidence: say why for every job that this run was for. */
static int run_failed(struct pj_prove *prove, struct pj_proof_run *run, bool passing, const char *text,
                      struct pj_error **err)
{
    struct pj_session *session = prove->session;
    const char *copy = pj_arena_strdup(&session->arena, text);
    if (!copy)
        return pj_error_no_memory(err);
    run->done = true;
    for (size_t i = 0; i < run->job_count; i++) {
        struct pj_outcome *outcome = &session->outcomes[run->jobs[i]];
        if (!pj_outcome_is_open(outcome))
            continue;
        if (passing)
            outcome->evidence.passing_obstacle = true;
        else
            outcome->evidence.lasting_obstacle = true;
        outcome->reason_code = "no-context";
        outcome->reason = copy;
    }
    return 0;
}

static int seat_started(struct pj_prove *prove, struct pj_prove_seat *seat,
                        const struct pj_wire_started *started, struct pj_error **err)
{
    if (started->failed_step[0] == '\0') {
        seat->state = PJ_SEAT_IDLE;
        return 0;
    }
    const char *text =
        pj_arena_printf(&prove->session->arena, "no context on the GPU: %s%s%s", started->result_name,
                        started->message[0] ? ": " : "", started->message);
    struct pj_proof_run *run = seat->run;
    bool passing = pj_driver_context_passes(started->result);
    end_seat(prove, seat);
    return text ? run_failed(prove, run, passing, text, err) : pj_error_no_memory(err);
}

static bool is_of_kind(const struct pj_session *session, size_t device, const struct pj_job *job,
                       const struct pj_canary_kind *kind)
{
    struct pj_canary_kind own = kind_of(session, device, job);
    return same_kind(&own, kind);
}

/* A hit counts beside a control that held in the same process, not in another one. */
static bool control_held(const struct pj_session *session, const struct pj_proof_run *run,
                         const struct pj_job *job)
{
    for (size_t i = 0; i < run->kind_count; i++) {
        if (is_of_kind(session, run->device, job, &run->kinds[i]))
            return run->kinds[i].held;
    }
    return false;
}

/* Every job of the canary's kind in this run hears of it. A control that failed once stays failed. */
static void take_canary(struct pj_prove *prove, const struct pj_prove_seat *seat,
                        const struct pj_wire_loaded *loaded)
{
    const struct pj_session *session = prove->session;
    struct pj_canary_kind *kind = &seat->run->kinds[seat->kind];
    enum pj_load_answer answer = pj_load_read(loaded->result, kind->foreign_target != 0 && !kind->link);
    kind->held = answer == PJ_LOAD_MISS;
    if (answer != PJ_LOAD_HIT && answer != PJ_LOAD_MISS)
        return; /* nothing was learned: the witness stays unknown */
    for (size_t i = 0; i < seat->run->job_count; i++) {
        const struct pj_job *job = &session->plan->jobs[seat->run->jobs[i]];
        struct pj_evidence *evidence = &session->outcomes[seat->run->jobs[i]].evidence;
        if (!is_of_kind(session, seat->run->device, job, kind))
            continue;
        if (answer != PJ_LOAD_MISS)
            evidence->canary = PJ_WITNESS_NO;
        else if (evidence->canary == PJ_WITNESS_UNKNOWN)
            evidence->canary = PJ_WITNESS_YES;
    }
}

/* A link can fail although every entry of it hit: a function is missing, or there twice [48]. */
static bool is_unlinkable(const struct pj_job *job, const struct pj_wire_loaded *loaded)
{
    return job->link &&
           (strstr(loaded->log, "Undefined reference") || strstr(loaded->log, "Multiple definition"));
}

static int take_unlinkable(struct pj_session *session, struct pj_outcome *outcome,
                           const struct pj_wire_loaded *loaded, struct pj_error **err)
{
    int length = (int)strcspn(loaded->log, "\n");
    bool named = loaded->result != 0; /* else only the log tells [63] */
    const char *cure = pj_complaint_cure(loaded->log);
    const char *reason = pj_arena_printf(&session->arena, "the driver's linker refused it: %s%s%.*s%s%s",
                                         named ? loaded->result_name : "", named ? ": " : "", length,
                                         loaded->log, cure ? "; " : "", cure ? cure : "");
    if (!reason)
        return pj_error_no_memory(err);
    pj_outcome_fail(outcome, PJ_VERDICT_REJECTED, "refused-by-driver", reason);
    outcome->origin = PJ_ORIGIN_NONE; /* that its entries are there helps nobody */
    return 0;
}

/* A link is judged by its linker, and code for another architecture does not load here in any case. */
static bool made_by_driver(const struct pj_session *session, const struct pj_prove_seat *seat,
                           const struct pj_outcome *outcome, const struct pj_job *job)
{
    bool compiled = outcome->origin == PJ_ORIGIN_COMPILED || outcome->origin == PJ_ORIGIN_REPAIRED;
    return compiled && !job->link && foreign_target(session, seat->run->device, job) == 0;
}

static int take_job(struct pj_prove *prove, const struct pj_prove_seat *seat,
                    const struct pj_wire_loaded *loaded, struct pj_error **err)
{
    struct pj_session *session = prove->session;
    struct pj_outcome *outcome = &session->outcomes[seat->job];
    struct pj_evidence *evidence = &outcome->evidence;
    const struct pj_job *job = &session->plan->jobs[seat->job];
    /* A link whose entries are there succeeds for every target [48]. */
    bool foreign = !job->link && foreign_target(session, seat->run->device, job) != 0;
    if (loaded->image_changed) {
        pj_outcome_fail(outcome, PJ_VERDICT_REJECTED, "image-changed", PJ_FILE_CHANGED);
        return 0;
    }
    if (is_unlinkable(job, loaded))
        return take_unlinkable(session, outcome, loaded, err);
    switch (pj_load_read(loaded->result, foreign)) {
    case PJ_LOAD_HIT:
        if (!control_held(session, seat->run, job)) {
            evidence->odd++;
            return 0;
        }
        evidence->hits++;
        if (outcome->warm.count < PJ_SAMPLES_MAX)
            outcome->warm.ms[outcome->warm.count++] = loaded->call_ms;
        if (loaded->has_wall_ms) {
            evidence->walls++;
            evidence->walls_not_zero += loaded->wall_ms > 0;
        }
        return 0;
    case PJ_LOAD_MISS:
        evidence->misses++;
        return 0;
    case PJ_LOAD_POISON:
        evidence->poisoned++;
        evidence->driver_made_it = made_by_driver(session, seat, outcome, job);
        outcome->reason_code = evidence->driver_made_it ? "cannot-be-loaded" : "entry-unusable";
        outcome->reason = pj_arena_printf(
            &session->arena,
            evidence->driver_made_it
                ? "the driver compiles it and cannot load what it made (%s), cached or not: change the PTX, "
                  "or leave it out"
                : "the entry is there and the driver cannot load it: %s",
            loaded->result_name);
        break;
    case PJ_LOAD_MEMORY:
        evidence->memory++;
        return 0;
    case PJ_LOAD_ODD:
        evidence->odd++;
        outcome->reason_code = "unexpected-answer";
        outcome->reason =
            pj_arena_printf(&session->arena, "%s proves neither hit nor miss", loaded->result_name);
        break;
    }
    return outcome->reason ? 0 : pj_error_no_memory(err);
}

/* Of a process that died on its way to the first job: at its start, or at a load that must fail. */
static const char *why(const struct pj_prove *prove, const struct pj_death *death,
                       char text[sizeof death->text + 64])
{
    char limit[PJ_DURATION_TEXT];
    size_t size = sizeof death->text + 64;
    if (!death->busy)
        (void)snprintf(text, size, "the proof process: %s%s", death->text,
                       death->cause == PJ_DEATH_TIMED_OUT ? " (--timeout)" : "");
    else if (death->cause == PJ_DEATH_TIMED_OUT)
        (void)snprintf(text, size, "the load of the control module: gave up after %s (--timeout)",
                       pj_text_from_ms(patience_ms(prove), limit));
    else
        (void)snprintf(text, size, "the load of the control module: %s", death->text);
    return text;
}

static int seat_died(struct pj_prove *prove, struct pj_prove_seat *seat, const struct pj_death *death,
                     struct pj_error **err)
{
    struct pj_session *session = prove->session;
    struct pj_proof_run *run = seat->run;
    bool at_job = death->busy && !seat->at_canary;
    if (at_job) {
        struct pj_outcome *outcome = &session->outcomes[seat->job];
        bool late = death->cause == PJ_DEATH_TIMED_OUT;
        char limit[PJ_DURATION_TEXT];
        const char *reason =
            late ? pj_arena_printf(&session->arena,
                                   "the load of the cached code: gave up after %s (--timeout)",
                                   pj_text_from_ms(patience_ms(prove), limit))
                 : pj_arena_printf(&session->arena, "the load of the cached code: %s", death->text);
        if (!reason)
            return pj_error_no_memory(err);
        if (outcome->proof_deaths++ > 0 || late)
            pj_outcome_fail(outcome, late ? PJ_VERDICT_TIMED_OUT : PJ_VERDICT_CRASHED,
                            late ? "timed-out" : "crashed", reason);
        else
            run->next--; /* once more, in a fresh process */
    } else if (run->next > 0 && run->next <= run->kind_count && death->busy) {
        run->next--;
    }
    *seat = (struct pj_prove_seat){.role = PJ_ROLE_PROVE};
    char text[sizeof death->text + 64];
    if (!at_job && (++run->deaths >= MAX_DEATHS || death->cause == PJ_DEATH_TIMED_OUT))
        return run_failed(prove, run, death->cause == PJ_DEATH_OUT_OF_MEMORY, why(prove, death, text), err);
    /* The canaries must fail in every process that jobs are proven in. */
    if (run->next >= run->kind_count) {
        size_t left = run->next - run->kind_count;
        run->jobs += left;
        run->job_count -= left;
        run->next = 0;
    }
    return start_seat(prove, seat, run, err);
}

int pj_prove_event(struct pj_prove *prove, const struct pj_event *event, struct pj_error **err)
{
    struct pj_prove_seat *seat = event->owner;
    switch (event->kind) {
    case PJ_EVENT_STARTED:
        return seat_started(prove, seat, event->started, err);
    case PJ_EVENT_LOADED:
        seat->state = PJ_SEAT_IDLE;
        if (!prove->session->machine.driver_version && event->loaded->file_count > 0) {
            int r = pj_machine_files(prove->session, event->loaded->files, event->loaded->file_count, err);
            if (r < 0)
                return r;
        }
        if (seat->at_canary) {
            take_canary(prove, seat, event->loaded);
            return 0;
        }
        return take_job(prove, seat, event->loaded, err);
    case PJ_EVENT_DIED:
        return seat_died(prove, seat, &event->death, err);
    default:
        return 0;
    }
}

bool pj_prove_finished(const struct pj_prove *prove)
{
    for (size_t i = 0; i < prove->run_count; i++) {
        if (!prove->runs[i].done)
            return false;
    }
    return true;
}

void pj_prove_free(struct pj_prove *prove)
{
    for (size_t i = 0; i < PJ_PROVE_SEATS; i++) {
        if (prove->seats[i].state != PJ_SEAT_EMPTY)
            end_seat(prove, &prove->seats[i]);
    }
    for (size_t i = 0; i < prove->run_count; i++)
        free(prove->runs[i].kinds);
    free(prove->runs);
    free(prove->jobs);
    pj_probe_close(&prove->canary);
    *prove = (struct pj_prove){.canary = {.fd = -1}};
}
