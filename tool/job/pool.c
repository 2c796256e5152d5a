/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, watches and ends worker processes; turns what comes over their sockets into events. */
#include "job/pool.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "host/limits.h"
#include "job/child.h"
#include "job/pool_words.h"

struct pj_worker {
    struct pj_worker *next;
    pid_t pid;
    int socket;
    struct pj_words words; /* on standard error */
    char step[256];        /* what it said it would do next, on its way to `started`; "" = nothing so far */
    unsigned steps;
    void *owner;
    bool greeted, started, busy, reaped;
    uint64_t job;
    enum pj_wire_type answer; /* what ends being busy */
    double deadline_ms;       /* of what it does now; INFINITY = none */
    double allowed_ms;        /* for it */
    struct pj_wire_start start;
    struct pj_arena arena; /* strings of `start` */
};

struct pj_pool {
    struct pj_pool_options options;
    struct pj_worker *workers;
    struct pj_worker *buried; /* died: freed at the next wait */
    struct pj_worker *ending; /* killed, not reaped so far */
    struct pj_arena message_arena;
    struct pj_wire_message message;
    struct pj_words_listener listener;
    uint64_t oom_kills;
    bool knows_oom_kills;
};

extern char **environ;

int pj_pool_new(const struct pj_pool_options *options, struct pj_pool **ret_pool, struct pj_error **err)
{
    struct pj_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return pj_error_no_memory(err);
    pool->options = *options;
    pool->listener = (struct pj_words_listener){.hear = options->hear, .context = options->hear_context};
    pool->knows_oom_kills = pj_host_oom_kills(&options->root, &pool->oom_kills);
    *ret_pool = pool;
    return 0;
}

static void free_worker(struct pj_worker *worker)
{
    pj_close(worker->socket);
    pj_close(worker->words.fd);
    pj_arena_free(&worker->arena);
    free(worker);
}

/* The start order of a worker, in memory of its own. */
static int prepare_start(const struct pj_pool *pool, const struct pj_worker_spec *spec,
                         struct pj_worker *worker, struct pj_error **err)
{
    const char *driver[] = {pool->options.driver_path};
    bool is_driver = spec->library == PJ_LIBRARY_DRIVER;
    const char *const *paths = is_driver ? driver : spec->library_paths;
    size_t count = is_driver ? pool->options.driver_path != NULL : spec->library_path_count;
    if (count > PJ_WIRE_PATHS_MAX)
        count = PJ_WIRE_PATHS_MAX;
    worker->start = (struct pj_wire_start){
        .library = spec->library,
        .path_count = (uint32_t)count,
        .paths = pj_arena_calloc(&worker->arena, count + 1, sizeof *worker->start.paths),
        .watch_path = pj_arena_strdup(&worker->arena, spec->watch_path ? spec->watch_path : ""),
        .context = spec->context,
    };
    if (!worker->start.paths || !worker->start.watch_path)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        worker->start.paths[i] = pj_arena_strdup(&worker->arena, paths[i]);
        if (!worker->start.paths[i])
            return pj_error_no_memory(err);
    }
    return 0;
}

static int spawn(const struct pj_pool *pool, const struct pj_worker_spec *spec, struct pj_worker *worker,
                 struct pj_error **err)
{
    const struct pj_child_environment wanted = {
        .cache_path = spec->cache_path,
        .cache_max_bytes = spec->cache_max_bytes,
        .disable_jit = spec->disable_jit,
        .visible_devices = spec->visible_devices,
        .temporary = spec->temporary,
        .library_path = worker->start.path_count == 1 ? worker->start.paths[0] : NULL,
    };
    char **environment = pj_child_environment(&worker->arena, environ, &wanted);
    if (!environment)
        return pj_error_no_memory(err);
    struct pj_child_ends ends = {.socket = -1, .words = -1};
    int r =
        pj_child_spawn(pool->options.worker_program, environment, spec->directory, &worker->pid, &ends, err);
    worker->socket = ends.socket;
    worker->words.fd = ends.words;
    return r;
}

static void allow(struct pj_worker *worker, double ms)
{
    worker->allowed_ms = ms;
    worker->deadline_ms = pj_clock_ms() + ms;
}

int pj_pool_start(struct pj_pool *pool, const struct pj_worker_spec *spec, struct pj_worker **ret_worker,
                  struct pj_error **err)
{
    struct pj_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return pj_error_no_memory(err);
    worker->socket = worker->words.fd = -1;
    worker->owner = spec->owner;
    allow(worker, pool->options.start_timeout_ms);
    int r = prepare_start(pool, spec, worker, err);
    if (r == 0)
        r = spawn(pool, spec, worker, err);
    if (r < 0) {
        free_worker(worker);
        return r;
    }
    worker->next = pool->workers;
    pool->workers = worker;
    *ret_worker = worker;
    return 0;
}

int pj_pool_give(struct pj_pool *pool, struct pj_worker *worker, const struct pj_wire_message *order,
                 const struct pj_wire_descriptors *descriptors, double timeout_ms, struct pj_error **err)
{
    (void)pool;
    worker->busy = true;
    worker->answer = order->type == PJ_WIRE_MAKE ? PJ_WIRE_MADE : PJ_WIRE_LOADED;
    worker->job = order->type == PJ_WIRE_MAKE ? order->make.job : order->load.job;
    allow(worker, timeout_ms);
    PJ_CLEANUP_ERROR struct pj_error *send_error = NULL;
    int r = pj_wire_send(worker->socket, order, descriptors, &send_error);
    if (r == PJ_ERROR_WORKER) /* it died: the closed socket tells in pj_pool_wait, with the cause */
        return 0;
    if (r < 0 && err)
        *err = PJ_STEAL(send_error);
    return r;
}

static void unlink_worker(struct pj_pool *pool, struct pj_worker *worker)
{
    for (struct pj_worker **link = &pool->workers; *link; link = &(*link)->next) {
        if (*link == worker) {
            *link = worker->next;
            worker->next = NULL;
            return;
        }
    }
}

/* The worker and what it started, its process group. */
static void kill_group(pid_t pid)
{
    (void)kill(-pid, SIGKILL);
    (void)kill(pid, SIGKILL); /* where it has not become a group so far */
}

/* Did the process end? It is not reaped: until then its number is nobody else's. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits for a process that was killed or has closed its socket; false where it does not go (stuck in the
 * kernel). What it started and left is killed. In a program that ignores SIGCHLD the kernel reaps it: then it
 * is gone, but *ret_status stays as it is. */
static bool reap(pid_t pid, double patience_ms, int *ret_status)
{
    double until = pj_clock_ms() + patience_ms;
    for (;;) {
        if (has_ended(pid))
            (void)kill(-pid, SIGKILL);
        pid_t got = waitpid(pid, ret_status, WNOHANG);
        if (got == pid || (got < 0 && errno == ECHILD))
            return true;
        if (pj_clock_ms() > until)
            return false;
        struct timespec pause = {.tv_nsec = 500 * 1000};
        (void)nanosleep(&pause, NULL);
    }
}

enum { REAP_PATIENCE_MS = 2000, STATUS_UNKNOWN = -1, STEPS_MAX = 4 * PJ_WIRE_PATHS_MAX };

/* The kernel takes its time to take a CUDA process down: it is reaped later, so that nobody waits for it. */
void pj_pool_stop(struct pj_pool *pool, struct pj_worker *worker)
{
    unlink_worker(pool, worker);
    kill_group(worker->pid);
    pj_words_end(&worker->words, &pool->listener);
    worker->next = pool->ending;
    pool->ending = worker;
}

static void reap_ending(struct pj_pool *pool, double patience_ms)
{
    double until = pj_clock_ms() + patience_ms;
    for (struct pj_worker **link = &pool->ending; *link;) {
        struct pj_worker *worker = *link;
        int status;
        double left = until - pj_clock_ms();
        if (!reap(worker->pid, left > 0 ? left : 0, &status) && patience_ms == 0) {
            link = &worker->next;
            continue;
        }
        *link = worker->next;
        free_worker(worker);
    }
}

static bool oom_kill_happened(struct pj_pool *pool)
{
    uint64_t now;
    if (!pool->knows_oom_kills || !pj_host_oom_kills(&pool->options.root, &now) || now <= pool->oom_kills)
        return false;
    pool->oom_kills = now;
    return true;
}

/* What it did when it died, where it had not started so far, and what it said last, where it died by itself.
 */
static void describe_death(const struct pj_worker *worker, const char *why, bool known,
                           struct pj_death *death)
{
    char limit[PJ_DURATION_TEXT], how[160];
    bool starting = !worker->started && worker->step[0] != '\0';
    if (death->cause == PJ_DEATH_TIMED_OUT) {
        (void)snprintf(death->text, sizeof death->text, "%s did not end within %s",
                       starting          ? worker->step
                       : worker->started ? "its work"
                                         : "the start of the worker program",
                       pj_text_from_ms(worker->allowed_ms, limit));
        return;
    }
    if (why)
        (void)snprintf(how, sizeof how, "%s", why);
    else if (death->cause == PJ_DEATH_OUT_OF_MEMORY)
        (void)snprintf(how, sizeof how, "killed by the kernel: out of memory");
    else if (death->signal)
        (void)snprintf(how, sizeof how, "killed by signal %d (%s)", death->signal, strsignal(death->signal));
    else if (known)
        (void)snprintf(how, sizeof how, "exited with status %d", death->status);
    else
        (void)snprintf(how, sizeof how, "gone, and how it ended is not known");
    bool doing = starting && !why;
    bool said = !why && death->cause == PJ_DEATH_CRASHED && worker->words.last[0] != '\0';
    (void)snprintf(death->text, sizeof death->text, "%s%s%s%s%s%s", how, doing ? " while " : "",
                   doing ? worker->step : "", said ? "; it said last: \"" : "",
                   said ? worker->words.last : "", said ? "\"" : "");
}

static void bury(struct pj_pool *pool, struct pj_worker *worker, enum pj_death_cause cause, const char *why,
                 struct pj_event *event)
{
    int status = STATUS_UNKNOWN;
    if (cause != PJ_DEATH_CRASHED)
        kill_group(worker->pid);
    bool reaped = reap(worker->pid, REAP_PATIENCE_MS, &status);
    bool killed_late = !reaped && cause == PJ_DEATH_CRASHED;
    if (killed_late) { /* closed its socket but goes on */
        kill_group(worker->pid);
        reaped = reap(worker->pid, REAP_PATIENCE_MS, &status);
    }
    struct pj_death death = {.cause = cause, .busy = worker->busy, .job = worker->job};
    bool known = reaped && status != STATUS_UNKNOWN;
    if (known && WIFSIGNALED(status))
        death.signal = WTERMSIG(status);
    else if (known && WIFEXITED(status))
        death.status = WEXITSTATUS(status);
    if (cause == PJ_DEATH_CRASHED && death.signal == SIGKILL && oom_kill_happened(pool))
        death.cause = PJ_DEATH_OUT_OF_MEMORY;
    else if (killed_late && reaped && death.signal == SIGKILL) {
        death.cause = PJ_DEATH_PROTOCOL;
        why = "the worker closed its socket and went on";
    }
    pj_words_end(&worker->words, &pool->listener);
    describe_death(worker, why, known, &death);
    unlink_worker(pool, worker);
    worker->reaped = reaped;
    worker->next = pool->buried;
    pool->buried = worker;
    *event =
        (struct pj_event){.kind = PJ_EVENT_DIED, .worker = worker, .owner = worker->owner, .death = death};
}

static void free_buried(struct pj_pool *pool)
{
    while (pool->buried) {
        struct pj_worker *worker = pool->buried;
        pool->buried = worker->next;
        if (worker->reaped) {
            free_worker(worker);
        } else { /* stuck in the kernel */
            worker->next = pool->ending;
            pool->ending = worker;
        }
    }
}

static uint64_t answered_job(const struct pj_wire_message *message)
{
    return message->type == PJ_WIRE_MADE ? message->made.job : message->loaded.job;
}

/* A greeted worker gets its start order; everything else becomes an event. False = nothing for the caller
 * yet. */
static bool dispatch(struct pj_pool *pool, struct pj_worker *worker, struct pj_event *event)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    switch (pool->message.type) {
    case PJ_WIRE_HELLO: {
        if (worker->greeted)
            break;
        if (strcmp(pool->message.hello.build_id, pj_wire_build_id()) != 0) {
            bury(pool, worker, PJ_DEATH_PROTOCOL, "the worker program is another build of prejit", event);
            return true;
        }
        worker->greeted = true;
        struct pj_wire_message start = {.type = PJ_WIRE_START, .start = worker->start};
        (void)pj_wire_send(worker->socket, &start, NULL,
                           &ignored); /* a dead worker shows by its closed socket */
        return false;
    }
    case PJ_WIRE_STEP:
        if (!worker->greeted || worker->started || worker->steps++ >= STEPS_MAX)
            break;
        (void)snprintf(worker->step, sizeof worker->step, "%s", pool->message.step.doing);
        return false;
    case PJ_WIRE_STARTED:
        if (!worker->greeted || worker->started)
            break;
        worker->started = true;
        worker->deadline_ms = INFINITY;
        *event = (struct pj_event){.kind = PJ_EVENT_STARTED,
                                   .worker = worker,
                                   .owner = worker->owner,
                                   .started = &pool->message.started};
        return true;
    case PJ_WIRE_LOADED:
    case PJ_WIRE_MADE:
        if (!worker->busy || pool->message.type != worker->answer ||
            answered_job(&pool->message) != worker->job)
            break;
        worker->busy = false;
        worker->deadline_ms = INFINITY;
        *event = (struct pj_event){.worker = worker, .owner = worker->owner};
        if (pool->message.type == PJ_WIRE_MADE) {
            event->kind = PJ_EVENT_MADE;
            event->made = &pool->message.made;
        } else {
            event->kind = PJ_EVENT_LOADED;
            event->loaded = &pool->message.loaded;
        }
        return true;
    default:
        break;
    }
    bury(pool, worker, PJ_DEATH_PROTOCOL, "the worker sent a message that was not asked for", event);
    return true;
}

/* Takes one message of a worker whose socket is readable. 1 = *event is set. */
static int receive(struct pj_pool *pool, struct pj_worker *worker, struct pj_event *event,
                   struct pj_error **err)
{
    PJ_CLEANUP_DESCRIPTORS struct pj_wire_descriptors descriptors = {0};
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    pj_arena_free(&pool->message_arena);
    int r = pj_wire_receive(worker->socket, &pool->message_arena, &pool->message, &descriptors, &problem);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r == PJ_ERROR_BUSY)
        return 0;
    if (r == 0) {
        bury(pool, worker, PJ_DEATH_CRASHED, NULL, event);
        return 1;
    }
    if (r < 0) {
        bury(pool, worker, PJ_DEATH_PROTOCOL, pj_error_message(problem), event);
        return 1;
    }
    return dispatch(pool, worker, event) ? 1 : 0;
}

static struct pj_worker *overdue(const struct pj_pool *pool, double now)
{
    for (struct pj_worker *worker = pool->workers; worker; worker = worker->next) {
        if (worker->deadline_ms <= now)
            return worker;
    }
    return NULL;
}

static double next_deadline(const struct pj_pool *pool, double until_ms)
{
    double next = until_ms;
    for (const struct pj_worker *worker = pool->workers; worker; worker = worker->next) {
        if (worker->deadline_ms < next)
            next = worker->deadline_ms;
    }
    return next;
}

static int poll_timeout(double until_ms)
{
    double left = until_ms - pj_clock_ms();
    if (left <= 0)
        return 0;
    return left > 1e6 ? 1000000 : (int)left + 1; /* rounded up: not a moment too early */
}

/* A process that something it started keeps the socket of does not show by it that it is gone. */
static struct pj_worker *find_ended(const struct pj_pool *pool)
{
    for (struct pj_worker *worker = pool->workers; worker; worker = worker->next) {
        if (has_ended(worker->pid))
            return worker;
    }
    return NULL;
}

static void hear_all(struct pj_pool *pool, const struct pollfd *fds)
{
    for (struct pj_worker *worker = pool->workers; worker; worker = worker->next, fds += 2) {
        if (fds[1].revents)
            pj_words_take(&worker->words, &pool->listener);
    }
}

/* Polls every socket and the interrupt; at most one message is taken. 1 = *event is set. */
static int poll_once(struct pj_pool *pool, double until_ms, struct pj_event *event, struct pj_error **err)
{
    size_t count = 2 * pj_pool_size(pool) + 1, used = 0;
    PJ_CLEANUP_FREE struct pollfd *fds = calloc(count, sizeof *fds);
    if (!fds)
        return pj_error_no_memory(err);
    fds[used++] = (struct pollfd){.fd = pool->options.interrupt_fd, .events = POLLIN};
    for (struct pj_worker *worker = pool->workers; worker; worker = worker->next) {
        fds[used++] = (struct pollfd){.fd = worker->socket, .events = POLLIN};
        fds[used++] = (struct pollfd){.fd = worker->words.fd, .events = POLLIN};
    }
    int ready = poll(fds, used, poll_timeout(next_deadline(pool, until_ms)));
    if (ready < 0)
        return errno == EINTR ? 0 : pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot wait for workers");
    if (fds[0].revents & POLLIN) {
        *event = (struct pj_event){.kind = PJ_EVENT_INTERRUPTED};
        return 1;
    }
    hear_all(pool, fds + 1);
    size_t i = 1;
    for (struct pj_worker *worker = pool->workers; worker; worker = worker->next, i += 2) {
        if (fds[i].revents)
            return receive(pool, worker, event, err);
    }
    struct pj_worker *ended = ready == 0 ? find_ended(pool) : NULL;
    if (ended)
        bury(pool, ended, PJ_DEATH_CRASHED, NULL, event);
    return ended != NULL;
}

int pj_pool_wait(struct pj_pool *pool, double until_ms, struct pj_event *ret_event, struct pj_error **err)
{
    free_buried(pool);
    reap_ending(pool, 0);
    for (;;) {
        struct pj_event event = {0};
        int r = poll_once(pool, until_ms, &event, err);
        if (r < 0)
            return r;
        double now = pj_clock_ms();
        struct pj_worker *late = r == 0 ? overdue(pool, now) : NULL;
        if (late) {
            bury(pool, late, PJ_DEATH_TIMED_OUT, NULL, &event);
        } else if (r == 0 && now >= until_ms) {
            event.kind = PJ_EVENT_TIME;
        } else if (r == 0) {
            continue;
        }
        *ret_event = event;
        return 0;
    }
}

size_t pj_pool_size(const struct pj_pool *pool)
{
    size_t count = 0;
    for (const struct pj_worker *worker = pool->workers; worker; worker = worker->next)
        count++;
    return count;
}

void pj_pool_free(struct pj_pool *pool)
{
    if (!pool)
        return;
    while (pool->workers)
        pj_pool_stop(pool, pool->workers);
    free_buried(pool);
    reap_ending(pool, REAP_PATIENCE_MS);
    pj_arena_free(&pool->message_arena);
    free(pool);
}
