/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing of progress: the bar, the lines, the time that is left. */
#include "report/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/phrase.h"

enum {
    WIDTH_DEFAULT = 80,
    BAR_CELLS = 20,
    BAR_WIDTH_MIN = 50, /* narrower terminals have no room for the bar itself */
    TICK_MS = 1000,     /* times shown move on once a second */
    ESTIMATE_AFTER_MS = 1000,
};

#define SAME "the same as "

void pj_progress_init(struct pj_progress *progress, bool terminal, unsigned width)
{
    *progress = (struct pj_progress){.terminal = terminal, .width = width, .phase = ""};
}

static void erase(struct pj_progress *progress, struct pj_buffer *buffer)
{
    if (progress->drawn)
        pj_buffer_puts(buffer, "\r\x1b[K");
    progress->drawn = false;
}

static void forget_running(struct pj_progress *progress)
{
    for (size_t i = 0; i < progress->running.count; i++)
        free(progress->running.items[i].name);
    progress->running.count = 0;
}

static void forget_told(struct pj_progress *progress)
{
    for (size_t i = 0; i < PJ_PROGRESS_TOLD_MAX; i++) {
        free(progress->told[i].name);
        free(progress->told[i].outcome);
        progress->told[i] = (struct pj_progress_told){.name = NULL};
    }
}

/* One that a reference to it would not be shorter than is not worth it. Where memory is out, the next equal
 * one is told in full again. */
static void remember_told(struct pj_progress *progress, const char *name, const char *outcome)
{
    if (strlen(outcome) <= strlen(SAME) + strlen(name))
        return;
    PJ_CLEANUP_FREE char *name_copy = strdup(name), *outcome_copy = strdup(outcome);
    if (!name_copy || !outcome_copy)
        return;
    struct pj_progress_told *told = &progress->told[progress->told_next++ % PJ_PROGRESS_TOLD_MAX];
    free(told->name);
    free(told->outcome);
    *told = (struct pj_progress_told){.name = PJ_STEAL(name_copy), .outcome = PJ_STEAL(outcome_copy)};
}

/* "saxpy sm_80" and "saxpy sm_90" */
static bool of_one_module(const char *a, const char *b)
{
    const char *a_target = strrchr(a, ' '), *b_target = strrchr(b, ' ');
    return a_target && b_target && a_target - a == b_target - b && strncmp(a, b, (size_t)(a_target - a)) == 0;
}

/* The job of the same module that this outcome was told of before; NULL = none. */
static const char *told_before(const struct pj_progress *progress, const char *name, const char *outcome)
{
    for (size_t i = 0; i < PJ_PROGRESS_TOLD_MAX; i++) {
        const struct pj_progress_told *told = &progress->told[i];
        if (told->name && strcmp(told->outcome, outcome) == 0 && of_one_module(told->name, name))
            return told->name;
    }
    return NULL;
}

/* Milliseconds that the rest of the phase will take; false while too little is known to guess. */
static bool estimate(const struct pj_progress *progress, double now_ms, double *ret_ms)
{
    double elapsed = now_ms - progress->phase_ms;
    double part = progress->total_weight > 0
                      ? (double)progress->done_weight / (double)progress->total_weight
                      : (double)progress->done / (double)(progress->total > 0 ? progress->total : 1);
    if (elapsed < ESTIMATE_AFTER_MS || part <= 0 || part > 1)
        return false;
    *ret_ms = elapsed * (1 - part) / part;
    return true;
}

/* Rounded up to seconds: the digits behind are no knowledge. */
static double whole_seconds(double ms)
{
    double seconds = ms / 1e3;
    if (seconds >= 1e9)
        return ms;
    int64_t whole = (int64_t)seconds;
    return (double)(whole + (seconds > (double)whole)) * 1e3;
}

static void put_bar(const struct pj_progress *progress, struct pj_buffer *line)
{
    size_t total = progress->total > 0 ? progress->total : 1;
    size_t done = progress->done < total ? progress->done : total;
    size_t full = (size_t)((double)done / (double)total * BAR_CELLS);
    pj_buffer_putc(line, '[');
    for (size_t i = 0; i < BAR_CELLS; i++)
        pj_buffer_putc(line, i < full ? '#' : '.');
    pj_buffer_puts(line, "] ");
}

/* "[####......] 12/64 compile, 1 failed, 3.0 s left: saxpy sm_90, physics sm_90" */
static void compose(const struct pj_progress *progress, unsigned width, double now_ms, struct pj_buffer *line)
{
    char duration[PJ_DURATION_TEXT];
    double left;
    if (width >= BAR_WIDTH_MIN)
        put_bar(progress, line);
    pj_buffer_printf(line, "%zu/%zu %s", progress->done, progress->total, progress->phase);
    if (progress->failed > 0)
        pj_buffer_printf(line, ", %zu failed", progress->failed);
    if (estimate(progress, now_ms, &left) && progress->done < progress->total)
        pj_buffer_printf(line, ", %s left", pj_text_from_ms(whole_seconds(left), duration));
    for (size_t i = 0; i < progress->running.count; i++) {
        const char *name = progress->running.items[i].name;
        if (pj_phrase_columns(pj_buffer_text(line), line->size) >= width)
            break;
        pj_buffer_puts(line, i == 0 ? ": " : ", ");
        pj_text_escape(line, name, strlen(name));
    }
}

static void draw(struct pj_progress *progress, double now_ms, struct pj_buffer *buffer)
{
    PJ_CLEANUP_BUFFER struct pj_buffer line = {0};
    unsigned width = progress->width > 0 ? progress->width : WIDTH_DEFAULT;
    compose(progress, width, now_ms, &line);
    buffer->failed |= line.failed;
    /* One column stays free: a character in the last one makes some terminals wrap. */
    pj_buffer_putc(buffer, '\r');
    pj_buffer_append(buffer, pj_buffer_text(&line),
                     pj_phrase_fit(pj_buffer_text(&line), line.size, width - 1));
    pj_buffer_puts(buffer, "\x1b[K");
    progress->drawn = true;
    progress->dirty = false;
    progress->drawn_ms = now_ms;
}

/* Draws if the last time is long enough ago; otherwise a later tick will. */
static void redraw(struct pj_progress *progress, double now_ms, struct pj_buffer *buffer)
{
    progress->dirty = true;
    if (progress->terminal && (!progress->drawn || now_ms - progress->drawn_ms >= PJ_PROGRESS_REDRAW_MS))
        draw(progress, now_ms, buffer);
}

void pj_progress_begin(struct pj_progress *progress, const char *phase, size_t total, uint64_t total_weight,
                       double now_ms, struct pj_buffer *buffer)
{
    forget_running(progress);
    forget_told(progress);
    progress->phase = phase;
    progress->done = progress->failed = 0;
    progress->total = total;
    progress->done_weight = 0;
    progress->total_weight = total_weight;
    progress->phase_ms = now_ms;
    redraw(progress, now_ms, buffer);
}

int pj_progress_start(struct pj_progress *progress, size_t id, const char *name, double now_ms,
                      struct pj_buffer *buffer, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *copy = strdup(name);
    struct pj_progress_job *job = copy ? PJ_ARRAY_PUSH(&progress->running) : NULL;
    if (!job)
        return pj_error_no_memory(err);
    *job =
        (struct pj_progress_job){.id = id, .name = PJ_STEAL(copy), .started_ms = now_ms, .told_ms = now_ms};
    redraw(progress, now_ms, buffer);
    return 0;
}

/* Takes job `id` out of the running ones, in order; gives its name (to be freed) or NULL. */
static char *take_running(struct pj_progress *progress, size_t id)
{
    for (size_t i = 0; i < progress->running.count; i++) {
        struct pj_progress_job *job = &progress->running.items[i];
        if (job->id != id)
            continue;
        char *name = job->name;
        progress->running.count--;
        memmove(job, job + 1, (progress->running.count - i) * sizeof *job);
        return name;
    }
    return NULL;
}

void pj_progress_requeue(struct pj_progress *progress, size_t id)
{
    free(take_running(progress, id));
    progress->dirty = true;
}

void pj_progress_finish(struct pj_progress *progress, size_t id, const char *name, uint64_t weight,
                        const char *outcome, bool attention, double now_ms, struct pj_buffer *buffer)
{
    PJ_CLEANUP_FREE char *taken = take_running(progress, id);
    const char *shown = taken ? taken : name ? name : "?";
    const char *before = attention ? told_before(progress, shown, outcome) : NULL;
    progress->done++;
    progress->failed += attention;
    progress->done_weight += weight;
    if (!progress->terminal || attention) {
        erase(progress, buffer);
        pj_buffer_printf(buffer, "[%zu/%zu] ", progress->done, progress->total);
        pj_text_escape(buffer, shown, strlen(shown));
        pj_buffer_puts(buffer, before ? ": " SAME : ": ");
        pj_text_escape(buffer, before ? before : outcome, strlen(before ? before : outcome));
        pj_buffer_putc(buffer, '\n');
    }
    if (attention && !before)
        remember_told(progress, shown, outcome);
    redraw(progress, now_ms, buffer);
}

static void tell_running(struct pj_progress *progress, double now_ms, struct pj_buffer *buffer)
{
    char duration[PJ_DURATION_TEXT];
    for (size_t i = 0; i < progress->running.count; i++) {
        struct pj_progress_job *job = &progress->running.items[i];
        if (now_ms - job->told_ms < PJ_PROGRESS_STILL_MS)
            continue;
        job->told_ms = now_ms;
        erase(progress, buffer);
        pj_text_escape(buffer, job->name, strlen(job->name));
        pj_buffer_printf(buffer, ": %s runs on, %s so far\n", progress->phase,
                         pj_text_from_ms(now_ms - job->started_ms, duration));
    }
}

void pj_progress_tick(struct pj_progress *progress, double now_ms, struct pj_buffer *buffer)
{
    tell_running(progress, now_ms, buffer);
    if (!progress->terminal || progress->total == 0)
        return;
    if (!progress->drawn ||
        now_ms - progress->drawn_ms >= (progress->dirty ? PJ_PROGRESS_REDRAW_MS : TICK_MS))
        draw(progress, now_ms, buffer);
}

void pj_progress_say(struct pj_progress *progress, const char *message, struct pj_buffer *buffer)
{
    erase(progress, buffer);
    pj_text_escape(buffer, message, strlen(message));
    pj_buffer_putc(buffer, '\n');
}

void pj_progress_end(struct pj_progress *progress, struct pj_buffer *buffer)
{
    erase(progress, buffer);
    forget_running(progress);
    forget_told(progress);
    free(progress->running.items);
    progress->running.items = NULL;
    progress->running.capacity = 0;
    progress->total = progress->done = 0;
    progress->phase = "";
}
