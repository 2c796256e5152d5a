/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: files read and judged, and the jobs (images × target × options) that the manifest asks for on a
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
#include "image/contents.h"
#include "image/ptx.h"
#include "manifest/manifest.h"

/** What a file is read as. */
enum pj_plan_form {
    PJ_FORM_PTX,    /* PTX that is loaded as it is */
    PJ_FORM_INPUT,  /* an input of a link */
    PJ_FORM_SOURCE, /* CUDA C++, or a header handed over in memory */
};

/** A file that a job's result depends on, as it was read. */
struct pj_plan_file {
    const char *path;
    struct stat status;
    struct pj_sha256 sha256;
    bool named;  /* by the manifest; else found by a compiler: a header */
    bool absent; /* there was none, and one that came would be taken in place of another */
};

/** One file of a module, or the PTX that was prepared from a source. A file's bytes are not kept. */
struct pj_plan_image {
    const char *path; /* as opened; of prepared PTX its source's */
    enum pj_plan_form form;
    const char *bytes; /* of prepared PTX; NULL = the file's */
    struct stat status;
    struct pj_sha256 sha256;
    struct pj_sha256 key; /* of what the driver's key has of it: of PTX the text before its first NUL [3] */
    uint64_t size_bytes;
    struct pj_plan_file file;    /* the same again, as the one file of a job */
    struct pj_ptx ptx;           /* FORM_PTX, and inputs that are PTX */
    struct pj_contents contents; /* FORM_INPUT */
    /* What is to be said of the file by itself: a fault that keeps it from being used, else a warning; NULL =
     * none.
     */
    const char *fault_code, *fault;
    const char *warning_code, *warning;
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
    PJ_JOB_CRASHED,      /* preparing its source: NVRTC crashed, ran out of time, or of memory */
    PJ_JOB_TIMED_OUT,
    PJ_JOB_OUT_OF_MEMORY,
    PJ_JOB_NOT_TRIED, /* the run ended before its source was prepared */
    PJ_JOB_SKIPPED,   /* there is nothing to warm: the driver compiles none of it */
    PJ_JOB_LEFT_OUT,  /* of a range, family or `all`, and cannot be done: dropped, `left_out_why` is kept */
};

struct pj_job {
    const char *id; /* "saxpy@sm_90", "saxpy[max_registers=64]@sm_90" */
    const char
        *name; /* module name; where several modules have one key the first few: "a, b, c and 7 more" */
    const char **names; /* all of them, in the order of the manifest; NULL = `name` alone */
    size_t name_count;
    size_t module; /* index of the first module in the manifest */
    bool link;     /* the driver's linker takes all images; else there is one, which is loaded */
    const struct pj_plan_image **images; /* a source's is the prepared PTX: none before it is there */
    size_t image_count;
    uint64_t size_bytes;      /* of all images; of a source that is not prepared its own */
    struct pj_sha256 content; /* of what the driver gets: one image's own, or of the list of several */
    struct pj_sha256 key;     /* the same of what its keys are made of: jobs that agree in it are one */
    const struct pj_plan_file *files; /* what all this comes from */
    size_t file_count;
    bool files_unknown;   /* there are more: this NVRTC does not tell which headers it read */
    uint16_t target;      /* architecture number; 0 = UNRESOLVED */
    char letter;          /* of the target as it was named, for a source's compiler; 0 = none */
    bool explicit_target; /* named one by one, or native */
    enum pj_job_kind kind;
    struct pj_jit_options options;
    const char *option_text; /* as in the key; "" = none */
    bool required;
    enum pj_job_fate fate;
    const char *reason_code, *reason; /* of a fate other than OPEN, or a warning; NULL = none */
    const char *left_out_why;         /* of LEFT_OUT, in one clause that holds whatever the target */
    const char *log;                  /* of the compiler that prepared it; NULL = it said nothing */
    bool has_to_ptx_ms;               /* as in the report */
    double to_ptx_ms;
    const char *header_note; /* as in the report; NULL = none */
    bool has_names;          /* every entry of the job is predicted */
    const uint64_t *entries; /* hashes: one, or of a link one for each input that is PTX */
    size_t entry_count;
};

/** A target of a range, family or `all` that a module is not warmed for. */
struct pj_left_out {
    size_t module; /* index in the manifest */
    uint16_t target;
    const char *why; /* one clause that holds for every target with this reason */
};

/** A visible GPU that would compile a module at first use: it can run it, and no job is for it. */
struct pj_unserved {
    size_t module; /* index in the manifest */
    uint16_t target;
};

struct pj_plan {
    struct pj_arena arena;
    const struct pj_manifest *manifest; /* borrowed */
    struct pj_plan_image *images;       /* one per distinct path and form */
    size_t image_count;
    const struct pj_plan_image ***module_images; /* per module: its file, or a link's inputs in order; then
                                                    headers in memory. NULL = not selected */
    struct pj_job *jobs;                         /* in manifest order */
    size_t job_count, job_capacity;
    struct {
        struct pj_left_out *items;
        size_t count, capacity;
    } left_out;
    struct {
        struct pj_unserved *items; /* in manifest order */
        size_t count, capacity;
    } unserved;
    uint16_t last_left_out; /* that the module at hand does not run on, while one is expanded */
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

/** A name given with -m that selects nothing is a mistake, never an empty run: PJ_ERROR_USAGE that names what
 * was meant. */
int pj_plan_check_selection(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
                            struct pj_error **err);

/** Reads and judges every image of the selected modules, once each. A required module's file that cannot be
 * read is PJ_ERROR_MANIFEST (all of them at once, one a line); for one that is not required its jobs are
 * rejected. */
int pj_plan_read(const struct pj_manifest *manifest, const struct pj_plan_selection *selection,
                 struct pj_plan **ret_plan, struct pj_error **err);

/** Makes the jobs for `machine`; may be called once. Jobs of sources have no image so far. */
int pj_plan_expand(struct pj_plan *plan, const struct pj_plan_selection *selection,
                   const struct pj_plan_machine *machine, struct pj_error **err);

/** Judges the module that job->module names by itself, whatever the target: its files, its pin, its kernels
 * as far as they are known. The fate stays OPEN where nothing is wrong. */
int pj_plan_judge_module(struct pj_plan *plan, struct pj_job *job, struct pj_error **err);

/** How many files a module names: its own, or a link's inputs, and headers in memory. */
size_t pj_plan_file_count(const struct pj_module *module);

/** Does a cubin run on `number`: its own architecture, or one of the same major number that came after it?
 * True for everything that is no cubin. */
bool pj_plan_cubin_runs_on(const struct pj_plan_image *image, uint16_t number);

/** Is it a cubin that was made to be loaded as it is? No linker takes it. False where that is not known. */
bool pj_plan_is_finished_cubin(const struct pj_plan_image *image);

/** Is this the job of a source whose PTX is still to be made? */
bool pj_job_needs_preparing(const struct pj_job *job);

/** Takes in the PTX made for the source job number `job`: `bytes`, `files` and their strings stay the
 * caller's and outlive the plan. What is wrong with it becomes the job's fate. */
int pj_plan_prepared(struct pj_plan *plan, size_t job, const struct pj_plan_machine *machine,
                     const char *bytes, size_t size, const struct pj_plan_file *files, size_t file_count,
                     struct pj_error **err);

/** After expanding, and preparing where that takes place: drops jobs that are LEFT_OUT, and joins those of
 * one key into one with all names. */
int pj_plan_settle(struct pj_plan *plan, struct pj_error **err);

/** Predicts the entries of every OPEN job of a known target, as far as that can be done (what a fatbin,
 * object or library holds is not predicted [45]); images are read again, and one that changed meanwhile stays
 * without a name.
 */
int pj_plan_name(struct pj_plan *plan, const char *stamp, struct pj_error **err);

/** The job's fate is decided, for `reason` (borrowed). NULL for it is PJ_ERROR_NO_MEMORY. */
int pj_job_decide(struct pj_job *job, enum pj_job_fate fate, const char *code, const char *reason,
                  struct pj_error **err);

/** Opens what the driver gets as image number `index` of the job: the file, or memory. */
int pj_job_open_image(const struct pj_job *job, size_t index, int *ret_fd, struct pj_error **err);

void pj_plan_free(struct pj_plan *plan);

#endif
