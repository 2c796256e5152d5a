/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what workers write to standard error, so that a library that floods it fills neither a disk nor
 * memory. */
#include "job/pool_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static void say(struct pj_words_listener *listener, const char *text)
{
    if (listener->hear)
        listener->hear(listener->context, text);
}

static void take_line(struct pj_words *words, struct pj_words_listener *listener)
{
    words->line[words->length] = '\0';
    if (words->length == 0)
        return;
    (void)snprintf(words->last, sizeof words->last, "%.*s", PJ_WORDS_LAST_TEXT - 1, words->line);
    listener->shown_bytes += words->length;
    words->length = 0;
    if (listener->shown_bytes <= PJ_WORDS_SHOWN_BYTES) {
        say(listener, words->line);
    } else if (!listener->told) {
        listener->told = true;
        say(listener, "(workers write too much to standard error: the rest is left out)");
    }
}

static void take_bytes(struct pj_words *words, struct pj_words_listener *listener, const char *bytes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            take_line(words, listener);
            continue;
        }
        if (words->length == sizeof words->line - 1)
            take_line(words, listener);
        words->line[words->length++] = bytes[i] ? bytes[i] : '?';
    }
}

void pj_words_take(struct pj_words *words, struct pj_words_listener *listener)
{
    char bytes[4096];
    while (words->fd >= 0) {
        ssize_t got = read(words->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got > 0) {
            take_bytes(words, listener, bytes, (size_t)got);
            words->bytes += (size_t)got;
        }
        if (got > 0 && words->bytes < PJ_WORDS_WORKER_BYTES)
            continue;
        pj_close(words->fd); /* its end; or, of one that writes on, an error that it gets from now on */
        words->fd = -1;
        if (got > 0 && !listener->told)
            say(listener, "(this worker writes too much to standard error: the rest is left out)");
    }
}

void pj_words_end(struct pj_words *words, struct pj_words_listener *listener)
{
    pj_words_take(words, listener);
    take_line(words, listener);
    pj_close(words->fd);
    words->fd = -1;
}
