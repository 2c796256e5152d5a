/* SPDX-License-Identifier: Apache-2.0 */
/* Run models that several tests render. */
#ifndef PREJIT_TEST_REPORT_MODELS_H
#define PREJIT_TEST_REPORT_MODELS_H

#include "base/memory.h"
#include "report/model.h"

/** The names that model_make knows, NULL-terminated. */
extern const char *const model_names[];

/** The model of that name, or NULL where it does not exist or memory is out. Everything lives in `arena`. */
struct pj_report *model_make(struct pj_arena *arena, const char *name);

/** A model with `count` proven jobs m0… for sm_90, reused, all measured. */
struct pj_report *model_proven(struct pj_arena *arena, size_t count);

#endif
