/* SPDX-License-Identifier: Apache-2.0 */
/* A set of workers with one compiler, NVRTC, nvJitLink or ptxas, and the orders that they work off in
 * parallel. */
#ifndef PREJIT_SESSION_MAKE_MAKER_H
#define PREJIT_SESSION_MAKE_MAKER_H

#include <prejit/prejit.h>

#include "base/buffer.h"
#include "job/pool.h"
#include "session/run/session.h"

/** nvJitLinkInputType, whose header only workers see. */
enum pj_nvjitlink_type {
    PJ_NVJITLINK_CUBIN = 1,
    PJ_NVJITLINK_PTX,
    PJ_NVJITLINK_LTOIR,
    PJ_NVJITLINK_FATBIN,
    PJ_NVJITLINK_OBJECT,
    PJ_NVJITLINK_LIBRARY,
};

/** One file of an order: the file at `path`, or `bytes` in memory where they are not NULL. */
struct pj_making_part {
    uint32_t type; /* enum pj_nvjitlink_type; for NVRTC and ptxas 0 */
    const char *name, *path, *bytes;
    uint64_t size_bytes;
    struct pj_sha256 sha256;
};

enum pj_making_end {
    PJ_MAKING_NOT_TRIED, /* the run ended before */
    PJ_MAKING_MADE,
    PJ_MAKING_REFUSED,    /* by the library: `result_name`, the log tells more */
    PJ_MAKING_IMPOSSIBLE, /* no worker got it: a file cannot be opened, or it is too long: `reason` */
    PJ_MAKING_CHANGED,    /* a file changed meanwhile: `reason` */
    PJ_MAKING_CRASHED,    /* a worker died of it, or could not hand its result over, twice: `reason` */
    PJ_MAKING_TIMED_OUT,
    PJ_MAKING_OUT_OF_MEMORY,
};

/** One order and what came of it. The first group is the caller's, and outlives the run. */
struct pj_making {
    const char *title; /* for people: "physics sm_90" */
    const char *name;  /* NVRTC: the program's */
    uint32_t outputs;  /* enum pj_wire_output */
    const struct pj_making_part *parts;
    size_t part_count;
    const char **arguments;
    size_t argument_count;
    const char **expressions; /* NVRTC: name expressions */
    size_t expression_count;
    uint64_t weight_bytes; /* heaviest first */
    bool quiet;            /* a repetition: observers are not told */

    enum pj_making_end end;
    const char *reason; /* in the maker's arena, or a literal; NULL where there is none */
    const char *result_name, *failed_call;
    struct pj_buffer results[PJ_OUTPUT_COUNT]; /* by number of the output's bit; freed by pj_making_free */
    double call_ms;
    uint64_t peak_rss_bytes;
    unsigned deaths;
};

void pj_making_free(struct pj_making *making);

/** The result that `output` stands for. */
struct pj_buffer *pj_making_result(struct pj_making *making, enum pj_wire_output output);

struct pj_maker_options {
    enum pj_wire_library library; /* NVRTC, NVJITLINK or PTXAS */
    const char *const *paths;     /* tried in this order */
    size_t path_count;
    const char *directory; /* where relative paths in options start from */
    const char *temporary; /* where ptxas may put its files; NULL = where TMPDIR says */
    const char *worker_program;
    struct pj_host_root root;
    int interrupt_fd;
    double timeout_ms;  /* of one order */
    double patience_ms; /* of a worker's start */
    double deadline_ms; /* pj_clock_ms at which the run ends; INFINITY = none */
    unsigned workers;   /* -j; 0 = by cores and memory */
    const struct pj_observer *observer;
    const char *phase;      /* how observers hear of it: "prepare", "build" */
    struct pj_arena *arena; /* the caller's: what the maker says lives there */
    /* Called when an order has got its end, so that its results need not wait in memory for the others'. What
     * it returns below 0 ends the run. NULL = nobody wants to know. */
    int (*taken)(void *context, struct pj_making *making, struct pj_error **err);
    void *context;
};

struct pj_maker;

/** What every maker of a session has in common; `paths` are the caller's. */
struct pj_maker_options pj_maker_options_of(struct pj_session *session, enum pj_wire_library library,
                                            const char *phase);

/** Starts one worker and waits for what it says of its library. Where none of the paths is usable:
 * PJ_ERROR_ENVIRONMENT with a line for each. */
int pj_maker_open(const struct pj_maker_options *options, struct pj_maker **ret_maker, struct pj_error **err);

/** What was opened. Its files are complete, and its build is known as far as it can be, after the first
 * order. */
const struct pj_compiler *pj_maker_compiler(const struct pj_maker *maker);

/** Works off all orders, as many at once as the machine is good for; what became of each is in it. Orders are
 * begun in the order of their weight, those of the same weight as they stand. Negative only where no order
 * can be carried out any more. */
int pj_maker_run(struct pj_maker *maker, struct pj_making *makings, size_t count, struct pj_error **err);

/** Did a signal, or the deadline, end the last run? */
bool pj_maker_interrupted(const struct pj_maker *maker);
bool pj_maker_deadline_passed(const struct pj_maker *maker);

/** The first line of a compiler's log that speaks of an error, else the first line; "" of an empty one. In
 * `arena`, NULL when memory is out. */
const char *pj_maker_first_error(const char *log, struct pj_arena *arena);

void pj_maker_free(struct pj_maker *maker);
void pj_maker_free_pointer(struct pj_maker **maker);
#define PJ_CLEANUP_MAKER __attribute__((cleanup(pj_maker_free_pointer)))

#endif
