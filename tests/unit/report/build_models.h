/* SPDX-License-Identifier: Apache-2.0 */
/* Models of builds that several tests render. */
#ifndef PREJIT_TEST_REPORT_BUILD_MODELS_H
#define PREJIT_TEST_REPORT_BUILD_MODELS_H

#include "base/memory.h"
#include "report/build.h"

/** The names that build_model_make knows, NULL-terminated. */
extern const char *const build_model_names[];

/** The model of that name, or NULL where it does not exist or memory is out. Everything lives in `arena`. */
struct pj_build_report *build_model_make(struct pj_arena *arena, const char *name);

/** `count` units u0… for sm_90, built by nvJitLink, of one kernel each. */
struct pj_build_report *build_model_built(struct pj_arena *arena, size_t count);

#endif
