/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a run as text: one line that redraws itself on a terminal, else a line per finished job.
 *
 * Pure: every call takes the time (milliseconds of a clock that only goes forward) and appends what is to be
 * written now, maybe nothing, to `buffer`. The caller owns the stream, writes the buffer out at once and
 * resets it. Names are copied. */
#ifndef PREJIT_REPORT_PROGRESS_H
#define PREJIT_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum {
    PJ_PROGRESS_REDRAW_MS = 100,      /* the line is not drawn again sooner */
    PJ_PROGRESS_STILL_MS = 30 * 1000, /* a job that runs on gets a line of its own this often */
    PJ_PROGRESS_TOLD_MAX = 16,        /* how many failures back an equal one is looked for */
};

/** A job that is being worked on. */
struct pj_progress_job {
    size_t id;
    char *name;
    double started_ms, told_ms;
};

/** A job that needed to be seen. */
struct pj_progress_told {
    char *name, *outcome;
};

struct pj_progress {
    bool terminal;
    unsigned width;    /* of the terminal, in columns; may be changed at any time */
    const char *phase; /* "compile", "prove"; a literal */
    size_t done, total, failed;
    uint64_t done_weight, total_weight;
    double phase_ms; /* when the phase began */
    struct {
        struct pj_progress_job *items;
        size_t count, capacity;
    } running;
    struct pj_progress_told told[PJ_PROGRESS_TOLD_MAX]; /* the last ones of the phase; no name = none */
    size_t told_next;
    bool drawn; /* a line is on the screen that has to be erased before anything else is written */
    bool dirty; /* the drawn line is out of date */
    double drawn_ms;
};

/** Zero-initialises *progress for stderr as it is. `width` 0 = not known (80 is taken). */
void pj_progress_init(struct pj_progress *progress, bool terminal, unsigned width);

/** A new phase begins: `total` jobs of `total_weight` (bytes, say; 0 = all weigh the same). Jobs still
 * running are forgotten. */
void pj_progress_begin(struct pj_progress *progress, const char *phase, size_t total, uint64_t total_weight,
                       double now_ms, struct pj_buffer *buffer);

/** A worker took job `id` (any number that no running job has). */
int pj_progress_start(struct pj_progress *progress, size_t id, const char *name, double now_ms,
                      struct pj_buffer *buffer, struct pj_error **err);

/** Job `id` goes back into the queue: its worker died, it is tried again. */
void pj_progress_requeue(struct pj_progress *progress, size_t id);

/** Job `id` is finished. `outcome` is what became of it ("compiled in 2.9 s"); `attention` = it needs to be
 * seen on a terminal as well; where it reads as that of another target of the same module did, the line says
 * so and is not longer than it. A job that was never started counts too (`name` is used then; NULL
 * otherwise). */
void pj_progress_finish(struct pj_progress *progress, size_t id, const char *name, uint64_t weight,
                        const char *outcome, bool attention, double now_ms, struct pj_buffer *buffer);

/** To be called now and then: redraws, and says which jobs run on. */
void pj_progress_tick(struct pj_progress *progress, double now_ms, struct pj_buffer *buffer);

/** A message of its own line (escaped here), above the line that redraws itself. */
void pj_progress_say(struct pj_progress *progress, const char *message, struct pj_buffer *buffer);

/** Erases the line and frees what is held; *progress may be used for a new phase. */
void pj_progress_end(struct pj_progress *progress, struct pj_buffer *buffer);

#endif
