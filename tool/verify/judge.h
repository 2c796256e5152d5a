/* SPDX-License-Identifier: Apache-2.0 */
/* From evidence to a verdict. Pure code: no files, no clock, no driver. */
#ifndef PREJIT_VERIFY_JUDGE_H
#define PREJIT_VERIFY_JUDGE_H

#include <stdbool.h>

#include "verify/verdict.h"

/** What one load in a proof process said, with JIT disabled. */
enum pj_load_answer {
    PJ_LOAD_HIT,    /* native: success; foreign: CUDA_ERROR_INVALID_SOURCE */
    PJ_LOAD_MISS,   /* CUDA_ERROR_JIT_COMPILATION_DISABLED */
    PJ_LOAD_POISON, /* native: INVALID_SOURCE, INVALID_IMAGE, NO_BINARY_FOR_GPU, NOT_FOUND: the entry is
                       believed and cannot be loaded */
    PJ_LOAD_MEMORY, /* CUDA_ERROR_OUT_OF_MEMORY: nothing was learned, and the cause passes */
    PJ_LOAD_ODD,    /* anything else: nothing was learned */
};

/** Reads a CUresult (its number) of a load. `foreign`: CU_JIT_TARGET of another architecture was given. */
enum pj_load_answer pj_load_read(int result, bool foreign);

/** All that was gathered about one job. */
struct pj_evidence {
    unsigned hits, misses, poisoned, memory, odd; /* answers, over all proof processes */
    unsigned walls, walls_not_zero; /* CU_JIT_WALL_TIME values heard on hits, and those above 0 */
    enum pj_witness canary;         /* YES: the load that must fail failed each time; NO: one succeeded */
    enum pj_witness entry_present;  /* by file: sound, payload of the right architecture */
    bool driver_made_it;      /* of `poisoned`: what does not load is what the driver itself compiled for
                                 this GPU in this run */
    bool entry_listed_before; /* the index named it earlier in this run */
    bool passing_obstacle;    /* no proof process could start, for a cause that passes */
    bool lasting_obstacle;    /* … that does not pass */
};

struct pj_judgement {
    enum pj_verdict verdict;
    const char *reason_code; /* pinned word, NULL where proven */
    bool passing;
    struct pj_witnesses witnesses; /* but for `faster` */
};

/** The verdict. Rules: a canary that loaded makes everything inconclusive (control-failed); one miss is a
 * miss; a hit counts only with the canary, with a wall time of 0 where one was heard, and with a sound entry
 * where files can be read. Times decide nothing. */
void pj_judge(const struct pj_evidence *evidence, struct pj_judgement *ret_judgement);

#endif
