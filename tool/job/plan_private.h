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

/** Judges `bytes`, what the image holds, in its form: fills what the form has, and fault or warning. */
int pj_plan_judge_bytes(struct pj_plan *plan, struct pj_plan_image *image, const char *bytes, size_t size,
                        struct pj_error **err);

/** Reads an image again into `bytes`; *ret_same = it still has the digest of the plan. */
int pj_plan_reread(const struct pj_plan_image *image, struct pj_buffer *bytes, bool *ret_same,
                   struct pj_error **err);

/** Decides the job's fate by what is wrong with the module, its files, and the target; OPEN where nothing is.
 */
int pj_plan_judge(struct pj_plan *plan, struct pj_job *job, const struct pj_plan_machine *machine,
                  struct pj_error **err);

/** Does the machine's driver make code for the architecture? True where it is not known: the driver's own
 * word decides then. */
bool pj_plan_driver_takes(const struct pj_plan_machine *machine, uint16_t target);

/** The same as pj_plan_judge for the PTX that was prepared for a source. */
int pj_plan_judge_prepared(struct pj_plan *plan, struct pj_job *job, const struct pj_plan_machine *machine,
                           struct pj_error **err);

/** Sets the key, and the digest of what the job's result comes from: its image's, or that of its images'
 * list; of a source that is not prepared that of all that NVRTC is given. */
int pj_plan_digest(const struct pj_module *module, struct pj_job *job, struct pj_error **err);

/** After expanding: fills plan->unserved for the machine's GPUs. */
int pj_plan_find_unserved(struct pj_plan *plan, const struct pj_plan_machine *machine, struct pj_error **err);

/** Joins jobs that have one key (contents, target, option text); the first one stays and takes all names. */
int pj_plan_join_equal(struct pj_plan *plan, struct pj_error **err);

#endif
