/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's main loop: greeting, messages, and the entries that appear in a private cache. */
#include "job/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file.h"
#include "cache/snapshot.h"
#include "job/wire.h"
#include "job/worker_driver.h"
#include "job/worker_make.h"

struct worker {
    int socket;
    long parent_pid;
    enum pj_wire_library library;
    struct pj_worker_driver driver;
    struct pj_worker_maker maker;
    char *watch_path; /* private cache, NULL = none */
    struct pj_snapshot before;
};

static int answer(const struct worker *worker, const struct pj_wire_message *message, struct pj_error **err)
{
    return pj_wire_send(worker->socket, message, NULL, err);
}

/* Entries that were not there before this load. */
static int report_entries(struct worker *worker, struct pj_arena *arena, struct pj_wire_loaded *loaded,
                          struct pj_error **err)
{
    struct pj_snapshot now = {0};
    int r = pj_snapshot_take(worker->watch_path, &now, err);
    if (r < 0)
        return r;
    loaded->entries = pj_arena_calloc(arena, PJ_WIRE_ENTRIES_MAX, sizeof *loaded->entries);
    if (!loaded->entries)
        r = pj_error_no_memory(err);
    for (size_t i = 0; r == 0 && i < now.count && loaded->entry_count < PJ_WIRE_ENTRIES_MAX; i++) {
        if (pj_snapshot_find(&worker->before, now.entries[i].hash))
            continue;
        char path[PJ_ENTRY_PATH_TEXT];
        struct pj_wire_entry *entry = &loaded->entries[loaded->entry_count];
        entry->path = pj_arena_strdup(arena, pj_entry_path(now.entries[i].hash, path));
        entry->size_bytes = now.entries[i].size;
        if (!entry->path)
            r = pj_error_no_memory(err);
        loaded->entry_count++;
    }
    pj_snapshot_free(&worker->before);
    worker->before = now;
    return r;
}

static int follow_parent(int death_signal, long parent_pid, struct pj_error **err)
{
    if (prctl(PR_SET_PDEATHSIG, death_signal) != 0)
        return pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot ask for the parent's death signal");
    if (getppid() != (pid_t)parent_pid)
        return pj_error_set(err, PJ_ERROR_WORKER, "the parent %ld is gone", parent_pid);
    return 0;
}

static void end_group(int number)
{
    (void)number;
    (void)kill(-getpid(), SIGKILL); /* the group that the parent started this worker in */
    (void)kill(getpid(), SIGKILL);
}

/* ptxas may be a script whose own programs nobody asks for a death signal: they end with the worker's group.
 * Where a library of somebody else runs in the worker, its handlers are not to be relied on. */
static int tie_group_to_parent(long parent_pid, struct pj_error **err)
{
    (void)signal(SIGUSR1, end_group);
    return follow_parent(SIGUSR1, parent_pid, err);
}

static int handle_start(struct worker *worker, const struct pj_wire_start *start, struct pj_arena *arena,
                        struct pj_error **err)
{
    struct pj_wire_message message = {
        .type = PJ_WIRE_STARTED,
        .started = {.failed_step = "", .message = "", .result_name = "", .library_path = ""},
    };
    if (start->library >= PJ_LIBRARY_COUNT)
        return pj_error_set(err, PJ_ERROR_WORKER, "library %u does not exist", start->library);
    worker->library = (enum pj_wire_library)start->library;
    int r = worker->library == PJ_LIBRARY_PTXAS ? tie_group_to_parent(worker->parent_pid, err) : 0;
    if (r < 0)
        return r;
    r = worker->library == PJ_LIBRARY_DRIVER
            ? pj_worker_start(&worker->driver, start, worker->socket, arena, &message.started, err)
            : pj_worker_maker_start(&worker->maker, start, worker->socket, arena, &message.started, err);
    if (r < 0)
        return r;
    if (start->watch_path[0] != '\0') {
        worker->watch_path = strdup(start->watch_path);
        if (!worker->watch_path)
            return pj_error_no_memory(err);
        r = pj_snapshot_take(worker->watch_path, &worker->before, err);
        if (r < 0)
            return r;
    }
    return answer(worker, &message, err);
}

static int handle_load(struct worker *worker, const struct pj_wire_load *load,
                       const struct pj_wire_descriptors *descriptors, struct pj_arena *arena,
                       struct pj_error **err)
{
    PJ_CLEANUP_PARTS struct pj_worker_parts parts = {0};
    int r = pj_worker_parts_read(load->parts, load->part_count, descriptors, &parts, err);
    if (r == 0 && (worker->library != PJ_LIBRARY_DRIVER || parts.count == 0))
        r = pj_error_set(err, PJ_ERROR_WORKER, "a load message came without an image, or not to a driver");
    if (r == 0 && load->method > PJ_LOAD_RUN)
        r = pj_error_set(err, PJ_ERROR_WORKER, "load method %u does not exist", load->method);
    if (r < 0)
        return r;
    struct pj_wire_message message = {.type = PJ_WIRE_LOADED};
    message.loaded = (struct pj_wire_loaded){.job = load->job, .result_name = "", .log = ""};
    if (!parts.same) {
        message.loaded.image_changed = 1;
        return answer(worker, &message, err);
    }
    r = pj_worker_load(&worker->driver, load, &parts, descriptors, arena, &message.loaded, err);
    if (r == 0 && worker->watch_path && load->method == PJ_LOAD_COMPILE)
        r = report_entries(worker, arena, &message.loaded, err);
    return r < 0 ? r : answer(worker, &message, err);
}

/* A full disk, or a limit of files' size, is no reason to die without a word. */
static int tell_own_failure(struct pj_wire_made *made, const struct pj_error *problem, struct pj_arena *arena,
                            struct pj_error **err)
{
    made->failed_call = PJ_WIRE_OWN_FAILURE;
    made->result_name = pj_arena_strdup(arena, pj_error_message(problem));
    return made->result_name ? 0 : pj_error_no_memory(err);
}

static int handle_make(struct worker *worker, const struct pj_wire_make *make,
                       const struct pj_wire_descriptors *descriptors, struct pj_arena *arena,
                       struct pj_error **err)
{
    PJ_CLEANUP_PARTS struct pj_worker_parts parts = {0};
    if (worker->library == PJ_LIBRARY_DRIVER)
        return pj_error_set(err, PJ_ERROR_WORKER, "an order for a compiler came to a driver");
    int r = pj_worker_parts_read(make->parts, make->part_count, descriptors, &parts, err);
    if (r < 0)
        return r;
    struct pj_wire_message message = {.type = PJ_WIRE_MADE};
    message.made = (struct pj_wire_made){.job = make->job, .result_name = "", .failed_call = ""};
    message.made.image_changed = !parts.same;
    PJ_CLEANUP_ERROR struct pj_error *problem = NULL;
    if (parts.same)
        r = pj_worker_make(&worker->maker, make, &parts, descriptors, arena, &message.made, &problem);
    if (r == PJ_ERROR_IO)
        r = tell_own_failure(&message.made, problem, arena, err);
    else if (r < 0 && err)
        *err = PJ_STEAL(problem);
    return r < 0 ? r : answer(worker, &message, err);
}

static int handle(struct worker *worker, bool *ret_done, struct pj_error **err)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_DESCRIPTORS struct pj_wire_descriptors descriptors = {0};
    struct pj_wire_message message;
    int r = pj_wire_receive(worker->socket, &arena, &message, &descriptors, err);
    if (r <= 0) {
        *ret_done = true;
        return r;
    }
    switch (message.type) {
    case PJ_WIRE_START:
        return handle_start(worker, &message.start, &arena, err);
    case PJ_WIRE_LOAD:
        return handle_load(worker, &message.load, &descriptors, &arena, err);
    case PJ_WIRE_MAKE:
        return handle_make(worker, &message.make, &descriptors, &arena, err);
    default:
        return pj_error_set(err, PJ_ERROR_WORKER, "message type %d is not for a worker", (int)message.type);
    }
}

/* A worker must not outlive its parent, not even inside a long driver call. Signals meant for the whole group
 * (Ctrl-C, timeout(1)) are the parent's business: it decides what is finished and what is killed. */
static int tie_to_parent(long parent_pid, struct pj_error **err)
{
    static const int group_signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                        SIGPIPE, SIGXFSZ /* a write that fails tells more than a death */};
    for (size_t i = 0; i < PJ_COUNT(group_signals); i++)
        (void)signal(group_signals[i], SIG_IGN);
    return follow_parent(SIGKILL, parent_pid, err);
}

int pj_worker_serve(int socket, long parent_pid, struct pj_error **err)
{
    int r = tie_to_parent(parent_pid, err);
    if (r < 0)
        return r;
    (void)fcntl(socket, F_SETFD, FD_CLOEXEC);
    struct worker worker = {.socket = socket, .parent_pid = parent_pid};
    struct pj_wire_message hello = {.type = PJ_WIRE_HELLO, .hello = {.build_id = pj_wire_build_id()}};
    r = answer(&worker, &hello, err);
    for (bool done = false; r >= 0 && !done;)
        r = handle(&worker, &done, err);
    pj_snapshot_free(&worker.before);
    free(worker.watch_path);
    return r;
}
