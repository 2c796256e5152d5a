/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's main loop in a process of its own, with the test as its parent. */
#ifndef PREJIT_UNIT_JOB_SERVED_H
#define PREJIT_UNIT_JOB_SERVED_H

#include "folder.h"

#include "job/wire.h"

/* A worker process, what it said when it ended, and the parent's end of its socket. */
struct served {
    pid_t pid;
    int socket, end; /* `end` is a pipe: the worker's error message, "" for none */
    struct pj_arena arena;
    char step[512]; /* what it said last that it would do */
};

/** Starts a worker that takes `parent` for its parent, with this compute cache. */
void served_start(struct served *served, const char *cache, bool disable_jit, long parent);

/** The next message, which is of this type and brings no descriptors. Its texts live as long as `served`. */
void served_receive(struct served *served, enum pj_wire_type type, struct pj_wire_message *message);

/** Sends a message with one descriptor, -1 = none. */
void served_send(const struct served *served, const struct pj_wire_message *message, int fd);

/** Closes the socket, waits, and compares the worker's last words. */
void served_end(struct served *served, const char *message);

/** Ends it without any words, and without a look for leaks. */
void served_kill(struct served *served);

/** A text in memory, as a part of an order; gives its descriptor. */
int served_part(const char *text, struct pj_wire_part *ret_part);

#endif
