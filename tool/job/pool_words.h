/* SPDX-License-Identifier: Apache-2.0 */
/* What one worker writes to standard error: passed on line by line up to a limit, and its last line kept. */
#ifndef PREJIT_JOB_POOL_WORDS_H
#define PREJIT_JOB_POOL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PJ_WORDS_LINE_TEXT = 256,          /* what is longer is shown in pieces */
    PJ_WORDS_WORKER_BYTES = 64 * 1024, /* of one worker: then its standard error is closed */
    PJ_WORDS_SHOWN_BYTES = 256 * 1024, /* of all workers of one pool */
    PJ_WORDS_LAST_TEXT = 120,
};

/** Who hears of the lines of all workers of a pool. */
struct pj_words_listener {
    void (*hear)(void *context, const char *text); /* NULL = nobody */
    void *context;
    size_t shown_bytes;
    bool told; /* that the limit was reached */
};

struct pj_words {
    int fd; /* does not block; -1 = none, or the limit was reached */
    size_t bytes;
    char line[PJ_WORDS_LINE_TEXT]; /* the one that is being written */
    size_t length;
    char last[PJ_WORDS_LAST_TEXT]; /* begin of the last line that was not empty; "" = none */
};

/** Takes what waits there. */
void pj_words_take(struct pj_words *words, struct pj_words_listener *listener);

/** The same of a worker that is gone, and its last line though it has no line end; closes the descriptor. */
void pj_words_end(struct pj_words *words, struct pj_words_listener *listener);

#endif
