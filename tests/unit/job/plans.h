/* SPDX-License-Identifier: Apache-2.0 */
/* Plans made from a manifest's text, and their jobs as lines of text. */
#ifndef PREJIT_UNIT_JOB_PLANS_H
#define PREJIT_UNIT_JOB_PLANS_H

#include "folder.h"

#include "job/plan.h"

/** A PTX text with one kernel `k`. */
#define PTX(target) ".version 8.6\n.target " target "\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"

/** What is put in and what comes out. `manifest` and `plan` are freed by plan_case_free. */
struct plan_case {
    const char *text; /* of the manifest; relative paths start from `directory` */
    const char *directory;
    const char *targets[4], *modules[4]; /* -t and -m, ended by NULL */
    uint16_t devices[4];                 /* ended by 0 */
    int cuda_version;
    bool unsettled; /* expanding ends before jobs are dropped and joined */
    struct pj_manifest *manifest;
    struct pj_plan *plan;
};

/** Parses the manifest and reads the images. */
int plan_case_read(struct plan_case *plan_case, struct pj_error **err);

/** Makes the jobs. */
int plan_case_expand(struct plan_case *plan_case, struct pj_error **err);

/** As if NVRTC had made `ptx` for the job number `job`; `ptx` outlives the plan. */
void plan_case_prepare(struct plan_case *plan_case, size_t job, const char *ptx);

/** Both; fails the test where one fails. */
void plan_case_make(struct plan_case *plan_case);

void plan_case_free(struct plan_case *plan_case);
#define CLEANUP_PLAN __attribute__((cleanup(plan_case_free)))

/** pj_plan_settle that succeeds. */
void plan_case_settle(struct plan_case *plan_case);

/** The reason of a job, in which FOLDER stands for the plan's directory. */
void plan_expect_reason(const struct plan_case *plan_case, size_t job, const char *reason);

/** The jobs, one a line: "id | name | kind | fate" and, where there is one, " | reason code". */
void plan_expect(const struct plan_case *plan_case, const char *lines);

/** What was left out, one reason of a module a line: "new: 80 86: .target sm_90 runs on …". */
void plan_expect_left_out(const struct plan_case *plan_case, const char *lines);

#endif
