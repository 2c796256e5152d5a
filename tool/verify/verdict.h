/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and the witnesses they are made of; which exit status a run's verdicts add up to. Pure code. */
#ifndef PREJIT_VERIFY_VERDICT_H
#define PREJIT_VERIFY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum pj_verdict {
    PJ_VERDICT_NONE, /* not decided yet: null in reports */
    PJ_VERDICT_PROVEN,
    PJ_VERDICT_STORED,
    PJ_VERDICT_SKIPPED,
    PJ_VERDICT_REJECTED,     /* the image, or the driver refused it */
    PJ_VERDICT_INCOMPATIBLE, /* an explicitly named target cannot run it */
    PJ_VERDICT_CRASHED,
    PJ_VERDICT_TIMED_OUT,
    PJ_VERDICT_OUT_OF_MEMORY,
    PJ_VERDICT_MISSED,
    PJ_VERDICT_LOST,
    PJ_VERDICT_EVICTED,
    PJ_VERDICT_TOO_LARGE,
    PJ_VERDICT_INCONCLUSIVE,
    PJ_VERDICT_COUNT,
};

/** Name as reports print it: "timed-out". "" for NONE. */
const char *pj_verdict_name(enum pj_verdict verdict);

/** One piece of evidence; absent evidence is UNKNOWN, never false. */
enum pj_witness { PJ_WITNESS_UNKNOWN, PJ_WITNESS_YES, PJ_WITNESS_NO };

/** All that speaks for or against one job. */
struct pj_witnesses {
    enum pj_witness jit_disabled;   /* the load hit with JIT disabled, in every process */
    enum pj_witness canary;         /* the load that must fail did fail */
    enum pj_witness wall_time_zero; /* CU_JIT_WALL_TIME was 0 */
    enum pj_witness entry_present;  /* the entry file is there and sound, payload checked */
    enum pj_witness faster;         /* warm is faster than cold; informative only */
};

/** Exit statuses of the program, pinned. */
enum pj_exit {
    PJ_EXIT_OK = 0,
    PJ_EXIT_FAILED = 1,
    PJ_EXIT_USAGE = 2,
    PJ_EXIT_ENVIRONMENT = 3,
    PJ_EXIT_COLD = 4,   /* something will be compiled at first use */
    PJ_EXIT_RETRY = 75, /* the cause passes */
};

/** What one verdict alone would make the exit status. `passing`: the cause of an inconclusive one passes (GPU
 * memory, exclusive mode, lock). `slow`: a threshold of the manifest was not met. `required` false: 0
 * whatever the verdict. */
enum pj_exit pj_verdict_exit(enum pj_verdict verdict, bool passing, bool slow, bool required);

/** The first that applies of 2, 3, 1, 75, 4, 0. */
enum pj_exit pj_exit_combine(enum pj_exit a, enum pj_exit b);

#endif
