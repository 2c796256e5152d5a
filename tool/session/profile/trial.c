/* SPDX-License-Identifier: Apache-2.0 */
/* One process, one order, one answer. */
#include "session/profile/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "host/gpus.h"
#include "session/run/driver_start.h"
#include "session/run/machine.h"
#include "session/run/outcome.h"

#define TIMEOUT_MS 60000.0

static int take_started(struct pj_trial *trial, const struct pj_wire_started *started, struct pj_error **err)
{
    if (started->failed_step[0] != '\0') {
        const struct pj_host_root root = pj_host_root_from_environment();
        PJ_CLEANUP_FREE char *kernel = pj_host_kernel_driver(&root);
        return pj_driver_start_error(kernel, "", started, err);
    }
    if (started->device_count == 0)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "the CUDA driver has no GPU; see: prejit doctor");
    if (trial->gpu)
        return 0;
    const struct pj_wire_device *first = &started->devices[0];
    trial->cuda_version = started->cuda_version;
    trial->arch = (uint16_t)(first->major * 10 + first->minor);
    trial->gpu = pj_arena_strdup(&trial->arena, first->name);
    if (started->file_count > 0) {
        trial->driver_version = pj_machine_driver_version(&trial->arena, started->files[0].path);
        trial->driver_file = pj_arena_strdup(&trial->arena, started->files[0].path);
        if (!trial->driver_file)
            return pj_error_no_memory(err);
    }
    return trial->gpu ? 0 : pj_error_no_memory(err);
}

/* Starts a process, gives it the order (NULL: none), and waits for what comes of it; the pool ends one whose
 * time is up. The event is valid until the next question. */
static int ask(struct pj_trial *trial, const struct pj_worker_spec *spec, const struct pj_wire_message *order,
               const struct pj_wire_descriptors *descriptors, struct pj_event *ret_event,
               struct pj_error **err)
{
    struct pj_worker *worker = NULL;
    struct pj_event event = {0};
    bool asked = order == NULL, answered = false;
    int r = pj_pool_start(trial->pool, spec, &worker, err);
    while (r == 0 && !answered) {
        r = pj_pool_wait(trial->pool, trial->deadline_ms, &event, err);
        if (r < 0)
            return r;
        if (event.kind == PJ_EVENT_INTERRUPTED)
            return pj_error_set(err, PJ_ERROR_INTERRUPTED, "interrupted before it was known");
        if (event.kind == PJ_EVENT_TIME)
            return pj_trial_deadline_passed(err);
        if (event.kind == PJ_EVENT_STARTED) {
            r = take_started(trial, event.started, err);
            answered = asked;
            if (r == 0 && !asked)
                r = pj_pool_give(trial->pool, worker, order, descriptors, trial->timeout_ms, err);
            asked = true;
        } else {
            answered = true;
        }
    }
    if (r == 0 && event.kind != PJ_EVENT_DIED)
        pj_pool_stop(trial->pool, worker);
    *ret_event = event;
    return r;
}

int pj_trial_deadline_passed(struct pj_error **err)
{
    return pj_error_set(err, PJ_ERROR_INTERRUPTED,
                        "the deadline passed before everything was tried, so there is no profile: give it "
                        "longer with --deadline SECONDS, or leave that away");
}

int pj_trial_open(const struct pj_profile_options *options, struct pj_trial *ret_trial, struct pj_error **err)
{
    PJ_CLEANUP_TRIAL struct pj_trial trial = {
        .timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS,
        .deadline_ms = options->deadline_ms > 0 ? pj_clock_ms() + options->deadline_ms : (double)INFINITY,
    };
    const struct pj_pool_options pool = {
        .worker_program = options->worker_program,
        .driver_path = options->driver,
        .root = pj_host_root_from_environment(),
        .interrupt_fd = options->interrupt_fd,
        .start_timeout_ms = pj_patience_ms(options->timeout_ms),
    };
    int r = pj_pool_new(&pool, &trial.pool, err);
    if (r == 0)
        r = pj_directory_temporary(getenv("TMPDIR"), "prejit-trial", &trial.folder, err);
    struct pj_event event;
    const struct pj_worker_spec spec = {.cache_path = ""}; /* no cache at all [25] */
    if (r == 0)
        r = ask(&trial, &spec, NULL, NULL, &event, err);
    if (r == 0 && event.kind == PJ_EVENT_DIED)
        r = pj_driver_start_death(&event.death, err);
    if (r < 0)
        return r;
    *ret_trial = trial;
    trial = (struct pj_trial){0};
    return 0;
}

int pj_trial_cache(struct pj_trial *trial, const char *name, const char **ret_path, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *path = pj_path_join(trial->folder, name);
    if (!path)
        return pj_error_no_memory(err);
    int r = pj_directory_create(path, 0700, err);
    if (r < 0)
        return r;
    *ret_path = pj_arena_strdup(&trial->arena, path);
    return *ret_path ? 0 : pj_error_no_memory(err);
}

static int make_parts(const struct pj_trial_load *load, struct pj_wire_part *parts,
                      struct pj_wire_descriptors *descriptors, struct pj_error **err)
{
    for (size_t i = 0; i < load->text_count; i++) {
        const char *bytes = load->image ? pj_buffer_text(load->image) : load->texts[i];
        size_t size = load->image ? load->image->size : strlen(bytes);
        parts[i] = (struct pj_wire_part){.type = load->link ? PJ_JIT_INPUT_PTX : 0,
                                         .name = i == 0 ? "first.ptx" : "second.ptx",
                                         .bytes = size};
        pj_sha256_of(bytes, size, &parts[i].sha256);
        int r = pj_file_in_memory(bytes, size, &descriptors->fds[i], err);
        if (r < 0)
            return r;
        descriptors->count = i + 1;
    }
    return 0;
}

/* How a process ended that was asked something, for people; NULL where memory is out. */
static const char *describe_death(struct pj_trial *trial, const struct pj_death *death)
{
    char limit[PJ_DURATION_TEXT];
    return death->cause == PJ_DEATH_TIMED_OUT && death->busy
               ? pj_arena_printf(&trial->arena, "gave up after %s (--timeout)",
                                 pj_text_from_ms(trial->timeout_ms, limit))
               : pj_arena_strdup(&trial->arena, death->text);
}

static int take_answer(struct pj_trial *trial, const struct pj_event *event, struct pj_trial_answer *answer,
                       struct pj_error **err)
{
    answer->died = event->kind != PJ_EVENT_LOADED;
    answer->result = answer->died ? -1 : event->loaded->result;
    answer->result_name = pj_arena_strdup(&trial->arena, answer->died ? "" : event->loaded->result_name);
    answer->log = answer->died ? describe_death(trial, &event->death)
                               : pj_arena_strdup(&trial->arena, event->loaded->log);
    return answer->result_name && answer->log ? 0 : pj_error_no_memory(err);
}

static int load_in(struct pj_trial *trial, const struct pj_worker_spec *spec,
                   const struct pj_trial_load *load, enum pj_wire_method method, const char *kernel,
                   uint32_t count, int results, struct pj_trial_answer *ret_answer, struct pj_error **err)
{
    PJ_CLEANUP_DESCRIPTORS struct pj_wire_descriptors descriptors = {0};
    struct pj_wire_part *parts = pj_arena_calloc(&trial->arena, load->text_count, sizeof *parts);
    struct pj_event event;
    const struct pj_job job = {.link = load->link, .options = load->options};
    struct pj_wire_message order = {.type = PJ_WIRE_LOAD};
    if (!parts)
        return pj_error_no_memory(err);
    pj_job_order_begin(&job, 0, method, load->target, &order.load);
    int r = make_parts(load, parts, &descriptors, err);
    order.load.parts = parts;
    order.load.part_count = (uint32_t)load->text_count;
    order.load.run_kernel = kernel;
    order.load.run_count = count;
    if (r == 0 && results >= 0) {
        int copy = fcntl(results, F_DUPFD_CLOEXEC, 0); /* the descriptors are closed together */
        if (copy < 0)
            return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot hand a file to a worker");
        descriptors.fds[descriptors.count++] = copy;
    }
    if (r == 0)
        r = ask(trial, spec, &order, &descriptors, &event, err);
    return r == 0 ? take_answer(trial, &event, ret_answer, err) : r;
}

int pj_trial_compile(struct pj_trial *trial, const char *cache, const struct pj_trial_load *load,
                     struct pj_trial_answer *ret_answer, struct pj_error **err)
{
    const struct pj_worker_spec spec = {
        .cache_path = cache, .cache_max_bytes = PJ_PRIVATE_CACHE_BYTES, .context = load->link};
    *ret_answer = (struct pj_trial_answer){0};
    return load_in(trial, &spec, load, PJ_LOAD_COMPILE, "", 0, -1, ret_answer, err);
}

int pj_trial_run(struct pj_trial *trial, const char *cache, const struct pj_trial_load *load,
                 const char *kernel, uint32_t count, struct pj_trial_answer *ret_answer,
                 struct pj_error **err)
{
    const struct pj_worker_spec spec = {
        .cache_path = cache, .cache_max_bytes = PJ_PRIVATE_CACHE_BYTES, .disable_jit = true, .context = true};
    PJ_CLEANUP_CLOSE int results = -1;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    *ret_answer = (struct pj_trial_answer){0};
    int r = pj_file_in_memory(NULL, 0, &results, err);
    if (r == 0)
        r = load_in(trial, &spec, load, PJ_LOAD_RUN, kernel, count, results, ret_answer, err);
    if (r < 0 || ret_answer->died || ret_answer->result != 0)
        return r;
    r = pj_file_read_fd(results, "what a kernel computed", (uint64_t)count * sizeof(int32_t), &bytes, err);
    if (r < 0)
        return r;
    ret_answer->value_count = bytes.size / sizeof(int32_t);
    ret_answer->values =
        pj_arena_calloc(&trial->arena, ret_answer->value_count + 1, sizeof *ret_answer->values);
    if (!ret_answer->values)
        return pj_error_no_memory(err);
    memcpy(ret_answer->values, pj_buffer_text(&bytes), ret_answer->value_count * sizeof(int32_t));
    return 0;
}

void pj_trial_close(struct pj_trial *trial)
{
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL;
    pj_pool_free(trial->pool);
    if (trial->folder)
        (void)pj_tree_remove(AT_FDCWD, trial->folder, &ignored);
    free(trial->folder);
    pj_arena_free(&trial->arena);
    *trial = (struct pj_trial){0};
}
