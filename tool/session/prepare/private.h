/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of preparing share. */
#ifndef PREJIT_SESSION_PREPARE_PRIVATE_H
#define PREJIT_SESSION_PREPARE_PRIVATE_H

#include "session/prepare/prepare.h"
#include "session/prepare/prepared_file.h"
#include "session/prepare/source.h"

/** One job whose PTX is made of a source, or of linked files. */
struct pj_prepare_item {
    size_t job;                   /* of the plan */
    enum pj_wire_library library; /* NVRTC or NVJITLINK */
    struct pj_source source;
    const char *request;  /* what identifies it from run to run */
    const char *kept_ptx; /* of an earlier run, still good; NULL = none */
};

/** Hands PTX to the plan. */
int pj_prepare_adopt(struct pj_session *session, const struct pj_prepare_item *item, const char *ptx,
                     size_t size, const struct pj_plan_file *files, size_t file_count, struct pj_error **err);

/** Makes the PTX of the items, all of one library, and tells the plan. PJ_ERROR_ENVIRONMENT where it is not
 * to be had, or cannot work on this machine. */
int pj_prepare_compile(struct pj_session *session, enum pj_wire_library library,
                       const struct pj_prepare_item *items, size_t count, struct pj_error **err);

/** What the session knows of the library. */
struct pj_compiler *pj_prepare_compiler(struct pj_session *session, enum pj_wire_library library);

/** "NVRTC", "nvJitLink". */
const char *pj_prepare_name(enum pj_wire_library library);

/** "line 12 is `…`, and was `…`": where two texts differ first, cut to be shown. In `arena`, NULL when memory
 * is out. */
const char *pj_prepare_first_difference(const char *before, const char *after, struct pj_arena *arena);

/** Says of which headers in NVRTC's `list` a program with the module's options alone would not find: those
 * that NVRTC took from a folder which only the arguments behind the first `own_count` name. *ret_note is NULL
 * where there are none; else in `arena`. */
int pj_prepare_hidden_header(const struct pj_making *making, size_t own_count, const char *list,
                             struct pj_arena *arena, const char **ret_note, struct pj_error **err);

#endif
