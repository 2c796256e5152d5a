/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of preparing share. */
#ifndef PREJIT_SESSION_PREPARE_PRIVATE_H
#define PREJIT_SESSION_PREPARE_PRIVATE_H

#include "session/prepare/prepare.h"
#include "session/prepare/prepared_file.h"
#include "session/prepare/source.h"

/** One source job. */
struct pj_prepare_item {
    size_t job; /* of the plan */
    struct pj_source source;
    const char *request;  /* what identifies it from run to run */
    const char *kept_ptx; /* of an earlier run, still good; NULL = none */
};

/** Hands PTX to the plan. */
int pj_prepare_adopt(struct pj_session *session, const struct pj_prepare_item *item, const char *ptx,
                     size_t size, const struct pj_plan_file *files, size_t file_count, struct pj_error **err);

/** Compiles the items' sources and tells the plan. PJ_ERROR_ENVIRONMENT where there is no usable NVRTC: then
 * no job was touched. */
int pj_prepare_compile(struct pj_session *session, const struct pj_prepare_item *items, size_t count,
                       struct pj_error **err);

/** "line 12 is `…`, and was `…`": where two texts differ first, cut to be shown. In `arena`, NULL when memory
 * is out. */
const char *pj_prepare_first_difference(const char *before, const char *after, struct pj_arena *arena);

#endif
