/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own word: one worker that starts it, without a cache. */
#include <string.h>

#include "base/clock.h"
#include "job/pool.h"
#include "session/doctor/doctor.h"

#define PATIENCE_MS 30000.0

static int not_started(struct pj_doctor *doctor, const char *why, struct pj_error **err)
{
    return pj_finding_add(&doctor->findings, PJ_FINDING_DRIVER_FAILED, doctor->facts.library, NULL, err, "%s",
                          why);
}

static int hear(struct pj_doctor *doctor, const struct pj_wire_started *started, struct pj_error **err)
{
    if (strcmp(started->failed_step, "open") == 0)
        return not_started(doctor, started->message, err);
    /* The driver itself knows best, also where its file's name tells no version. */
    if (strcmp(started->result_name, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH") == 0)
        return pj_finding_add(&doctor->findings, PJ_FINDING_REBOOT_PENDING, "/proc/driver/nvidia/version",
                              NULL, err, "%s says %s; the kernel driver is %s", started->failed_step,
                              started->result_name,
                              doctor->facts.kernel_version ? doctor->facts.kernel_version : "not known");
    if (started->failed_step[0])
        return pj_finding_add(&doctor->findings, PJ_FINDING_DRIVER_FAILED, doctor->facts.library, NULL, err,
                              "%s says %s", started->failed_step, started->result_name);
    doctor->driver_text = pj_arena_printf(&doctor->arena, "the driver starts: CUDA %d.%d, %u GPU%s",
                                          started->cuda_version / 1000, started->cuda_version % 1000 / 10,
                                          started->device_count, started->device_count == 1 ? "" : "s");
    return doctor->driver_text ? pj_doctor_find_unserved(doctor, started, err) : pj_error_no_memory(err);
}

static int wait(struct pj_doctor *doctor, struct pj_pool *pool, struct pj_error **err)
{
    struct pj_event event = {0};
    int r = pj_pool_wait(pool, pj_clock_ms() + 2 * PATIENCE_MS, &event, err);
    if (r < 0)
        return r;
    switch (event.kind) {
    case PJ_EVENT_STARTED:
        return hear(doctor, event.started, err);
    case PJ_EVENT_DIED:
        return not_started(doctor, event.death.text, err);
    case PJ_EVENT_INTERRUPTED:
        return pj_error_set(err, PJ_ERROR_INTERRUPTED, "interrupted while the driver was asked");
    default:
        return not_started(doctor, "it does not answer", err);
    }
}

int pj_doctor_ask_driver(struct pj_doctor *doctor, struct pj_error **err)
{
    const struct pj_pool_options options = {
        .worker_program = doctor->options->worker_program,
        .driver_path = doctor->options->driver,
        .root = doctor->root,
        .interrupt_fd = doctor->options->interrupt_fd,
        .start_timeout_ms = PATIENCE_MS,
    };
    /* An empty path is no cache at all, so that nothing is made there [cache-model 25]. */
    const struct pj_worker_spec spec = {.cache_path = "", .cache_max_bytes = 1, .disable_jit = true};
    struct pj_pool *pool = NULL;
    struct pj_worker *worker;
    int r = pj_pool_new(&options, &pool, err);
    if (r < 0)
        return r;
    r = pj_pool_start(pool, &spec, &worker, err);
    if (r == 0)
        r = wait(doctor, pool, err);
    pj_pool_free(pool);
    return r;
}
