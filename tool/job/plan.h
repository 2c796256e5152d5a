/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: images read and judged, and the jobs (image × target × options) that the manifest asks for on a
 * machine. */
#ifndef PREJIT_JOB_PLAN_H
#define PREJIT_JOB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "arch/options.h"
#include "base/digest.h"
#include "base/memory.h"
#include "image/ptx.h"
#include "manifest/manifest.h"

/** One PTX file. Its bytes are not kept. */
struct pj_plan_image {
    const char *path;
    struct stat status;
    struct pj_sha256 sha256;
    uint64_t size_bytes;
    struct pj_ptx ptx;
    struct pj_ptx_finding finding; /* of the file by itself */
};

/** How a job relates to the machine's GPUs. */
enum pj_job_kind {
    PJ_JOB_NATIVE,     /* a visible GPU has this architecture */
    PJ_JOB_FOREIGN,    /* compiled for another GPU than those here */
    PJ_JOB_UNRESOLVED, /* `native`, and which GPU there is was not known when planning */
};

/** What the plan itself already decided about a job. */
enum pj_job_fate {
    PJ_JOB_OPEN,         /* to be compiled or found */
    PJ_JOB_REJECTED,     /* the image cannot be used; finding tells */
    PJ_JOB_INCOMPATIBLE, /* an explicit target, or this GPU, cannot run it; finding tells */
};

struct pj_job {
    const char *id;   /* "saxpy@sm_90", "saxpy[max_registers=64]@sm_90" */
    const char *name; /* module name; several joined by ", " where two spellings have one key */
    size_t module;    /* index of the first module in the manifest */
    const struct pj_plan_image *image;
    uint16_t target; /* architecture number; 0 = UNRESOLVED */
    enum pj_job_kind kind;
    struct pj_jit_options options;
    const char *option_text; /* as in the key; "" = none */
    bool required;
    enum pj_job_fate fate;
    const char *reason_code, *reason; /* of a fate other than OPEN, or a warning; NULL = none */
    bool has_name;
    uint64_t entry_hash; /* predicted, where has_name */
};

struct pj_plan {
    struct pj_arena arena;
    const struct pj_manifest *manifest; /* borrowed */
    struct pj_plan_image *images;       /* one per distinct path */
    size_t image_count;
    const struct pj_plan_image **module_images; /* per module */
    struct pj_job *jobs;                        /* in manifest order */
    size_t job_count, job_capacity;
    size_t left_out;        /* targets of a range, family or `all` that a module does not run on */
    uint16_t last_left_out; /* while one module is expanded */
};

/** What the machine can do, as far as it is known. */
struct pj_plan_machine {
    const uint16_t *devices; /* architecture numbers of the visible GPUs, distinct, ascending */
    size_t device_count;     /* 0 = not known: `native` stays UNRESOLVED */
    int cuda_version;        /* of the driver, 0 = not known */
};

/** -t and -m: override the manifest's targets, select modules by name (or by the part before '/' of a
 * glob's). */
struct pj_plan_selection {
    const struct pj_target_spec *targets;
    size_t target_count; /* 0 = the manifest's */
    const char *const *modules;
    size_t module_count; /* 0 = all */
};

/** Is the module among those that -m selects? */
bool pj_plan_selects(const struct pj_plan_selection *selection, const struct pj_module *module);

/** Reads and judges every image of the selected modules, once each. A required module's file that cannot be
 * read is PJ_ERROR_MANIFEST (all of them at once, one a line); for one that is not required its jobs are
 * rejected. */
int pj_plan_read(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
                 struct pj_plan **ret_plan, struct pj_error **err);

/** Makes the jobs for `machine`; may be called once. Equal keys become one job with all names. */
int pj_plan_expand(struct pj_plan *plan, const struct pj_plan_selection *selection,
                   const struct pj_plan_machine *machine, struct pj_error **err);

/** Predicts the entry of every OPEN job of a known target; images are read again, and one that changed
 * meanwhile stays without a name. */
int pj_plan_name(struct pj_plan *plan, const char *stamp, struct pj_error **err);

void pj_plan_free(struct pj_plan *plan);

#endif
