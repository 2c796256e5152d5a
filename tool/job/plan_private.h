/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the plan share. */
#ifndef PREJIT_JOB_PLAN_PRIVATE_H
#define PREJIT_JOB_PLAN_PRIVATE_H

#include "base/buffer.h"
#include "job/plan.h"

/** How messages call the manifest. */
const char *pj_plan_manifest_name(const struct pj_manifest *manifest);

/** Fills plan->images and plan->module_images for the selected modules. */
int pj_plan_read_images(struct pj_plan *plan, const bool *selected, struct pj_error **err);

/** Reads an image again into `bytes`; *ret_same = it still has the digest of the plan. */
int pj_plan_reread(const struct pj_plan_image *image, struct pj_buffer *bytes, bool *ret_same,
                   struct pj_error **err);

/** Joins jobs that have one key (image text, target, option text); the first one stays and takes all names.
 */
int pj_plan_join_equal(struct pj_plan *plan, struct pj_error **err);

#endif
