/* SPDX-License-Identifier: Apache-2.0 */
/* The model of what `build` made, and its renderers: table, JSON (also the index that lies beside the
 * cubins), last line.
 *
 * Strings are borrowed, sizes are bytes, times milliseconds. A value that is not known has its validity bit
 * unset. */
#ifndef PREJIT_REPORT_BUILD_H
#define PREJIT_REPORT_BUILD_H

#include "base/buffer.h"
#include "base/digest.h"
#include "report/model.h"

/** A file that went in, or came out. */
struct pj_build_file {
    const char *path; /* in: as the manifest has it; out: relative to the output folder */
    const char
        *kind; /* in: "ptx", "cubin", "fatbin", "object", "library", "ltoir", "source", "header"; out: NULL */
    uint64_t bytes;
    struct pj_sha256 sha256;
};

/** What one kernel takes, as the compiler says. */
struct pj_build_kernel {
    const char *name;
    bool has_registers, has_shared, has_stack, has_spills, has_constant;
    uint32_t registers;
    uint64_t shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes, constant_bytes;
};

/** What NVRTC calls the kernel that a name expression asked for. */
struct pj_build_name {
    const char *expression; /* "scale<5>" */
    const char *name;       /* "_Z5scaleILi5EEvPi" */
};

enum pj_build_verdict {
    PJ_BUILD_NOT_TRIED, /* the run ended before */
    PJ_BUILD_BUILT,
    PJ_BUILD_REJECTED,     /* a file cannot be used, or a compiler refused it */
    PJ_BUILD_INCOMPATIBLE, /* the module does not run on a target that was named */
    PJ_BUILD_CRASHED,
    PJ_BUILD_TIMED_OUT,
    PJ_BUILD_OUT_OF_MEMORY,
    PJ_BUILD_VERDICT_COUNT
};

/** "built", "rejected", …: pinned words. */
const char *pj_build_verdict_name(enum pj_build_verdict verdict);

/** One module for one target. */
struct pj_build_unit {
    const char *module;
    const char *target;   /* "sm_90a" */
    const char *compiler; /* "nvrtc", "nvjitlink", "nvrtc, nvjitlink" */
    bool required;
    enum pj_build_verdict verdict;
    const char *reason_code, *reason; /* NULL where there is nothing to say */
    const char **arguments;           /* of the compilers, in order */
    size_t argument_count;
    struct pj_build_file *inputs; /* what it was made from, headers that NVRTC read among it */
    size_t input_count;
    bool has_cubin, has_ptx; /* the PTX that NVRTC made on the way */
    struct pj_build_file cubin, ptx;
    struct pj_build_kernel *kernels;
    size_t kernel_count;
    struct pj_build_name *names;
    size_t name_count;
    const char **warnings; /* of the compilers, one line each */
    size_t warning_count;
    const char *log; /* of a compiler that refused it; NULL = none */
    bool has_ms;
    double ms; /* in compilers */
};

struct pj_build_report {
    const char *manifest;                      /* as given */
    const char *out_dir;                       /* as given; NULL with --check: nothing is written */
    struct pj_report_library nvrtc, nvjitlink; /* path NULL = not used */
    struct pj_build_unit *units;
    size_t unit_count;
    size_t left_out; /* targets of a range, family or `all` that a module, or the toolkit, does not do */
    size_t removed;  /* files of earlier runs, of units that were not built now */
    double seconds;
    const char **notes;
    size_t note_count;
    const char *ended_by; /* "interrupted", "the deadline passed"; NULL = it came to its end */
    enum pj_exit exit_code;
};

/** What the units add up to: OK, FAILED where a required one was not built, RETRY where the run ended early.
 */
enum pj_exit pj_build_exit(const struct pj_build_report *report);

/** The table for people: a row a unit (with `verbose` also a row a kernel and the warnings in full), then
 * reasons of what failed, left-out targets, notes. As pj_render_table's it ends where the answer follows. */
int pj_build_render_table(const struct pj_build_report *report, bool verbose, struct pj_buffer *ret_text,
                          struct pj_error **err);

/** JSON, schema "prejit-build/1" (docs/build.schema.json). */
int pj_build_render_json(const struct pj_build_report *report, struct pj_buffer *ret_text,
                         struct pj_error **err);

/** The one line that is the answer: "12 cubins built for 4 targets in 2.1 s into out", with --check "12
 * cubins compile for 4 targets (nothing written)"; "exit 1: 1 of 12 failed: physics sm_75 (rejected: NVRTC
 * refused it: …)". `below_table`: it stands below the table, which tells long reasons. No newline. */
int pj_build_render_answer(const struct pj_build_report *report, bool below_table, struct pj_buffer *ret_text,
                           struct pj_error **err);

#endif
