/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the progress renderer with a run's events and writes out what it draws. */
#include "cli/watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/output.h"

static void flush(struct pj_cli_watch *watch)
{
    if (!watch->quiet && watch->buffer.size > 0)
        (void)pj_cli_write(STDERR_FILENO, watch->buffer.data, watch->buffer.size);
    pj_buffer_reset(&watch->buffer);
}

static void on_phase(void *context, const char *phase, size_t jobs, uint64_t weight_bytes)
{
    struct pj_cli_watch *watch = context;
    pj_progress_begin(&watch->progress, phase, jobs, weight_bytes, pj_clock_ms(), &watch->buffer);
    flush(watch);
}

static void on_started(void *context, size_t job, const char *name)
{
    struct pj_cli_watch *watch = context;
    PJ_CLEANUP_ERROR struct pj_error *ignored = NULL; /* out of memory: one name less on the screen */
    (void)pj_progress_start(&watch->progress, job, name, pj_clock_ms(), &watch->buffer, &ignored);
    flush(watch);
}

static void on_requeued(void *context, size_t job)
{
    struct pj_cli_watch *watch = context;
    pj_progress_requeue(&watch->progress, job);
}

static void on_finished(void *context, size_t job, const char *name, uint64_t weight_bytes,
                        const char *outcome, bool attention)
{
    struct pj_cli_watch *watch = context;
    pj_progress_finish(&watch->progress, job, name, weight_bytes, outcome, attention, pj_clock_ms(),
                       &watch->buffer);
    flush(watch);
}

static void on_tick(void *context)
{
    struct pj_cli_watch *watch = context;
    pj_progress_tick(&watch->progress, pj_clock_ms(), &watch->buffer);
    flush(watch);
}

static void on_message(void *context, const char *text)
{
    struct pj_cli_watch *watch = context;
    pj_progress_say(&watch->progress, text, &watch->buffer);
    flush(watch);
}

struct pj_observer pj_cli_watch_begin(struct pj_cli_watch *watch, bool quiet)
{
    struct winsize size = {0};
    bool terminal = isatty(STDERR_FILENO) == 1;
    *watch = (struct pj_cli_watch){.quiet = quiet};
    if (terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
        size.ws_col = 0;
    pj_progress_init(&watch->progress, terminal, size.ws_col);
    return (struct pj_observer){
        .phase = on_phase,
        .started = on_started,
        .requeued = on_requeued,
        .finished = on_finished,
        .tick = on_tick,
        .message = on_message,
        .context = watch,
    };
}

void pj_cli_watch_end(struct pj_cli_watch *watch)
{
    pj_progress_end(&watch->progress, &watch->buffer);
    flush(watch);
    pj_buffer_free(&watch->buffer);
}
