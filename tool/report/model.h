/* SPDX-License-Identifier: Apache-2.0 */
/* The model of one run's result: what every renderer (table, JSON, last line) and the receipt are made from.
 *
 * Strings are borrowed: whoever fills the model keeps them alive (an arena). A value that was not measured
 * has its validity bit unset and is printed as `-` or null, never as 0. Times are milliseconds, sizes bytes.
 */
#ifndef PREJIT_REPORT_MODEL_H
#define PREJIT_REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/options.h"
#include "verify/verdict.h"

struct pj_report_device {
    const char *name; /* "NVIDIA H200" */
    const char *arch; /* "sm_90" */
    const char *uuid; /* "GPU-…" or NULL */
};

struct pj_report_host {
    const char *driver_version; /* "580.159.04", of the user-space driver; NULL = not known */
    const char *kernel_driver;  /* of /proc/driver/nvidia/version; NULL = not known */
    int cuda_version;           /* 13000 = 13.0; 0 = not known */
    const char *stamp;          /* NULL = not known */
    struct pj_report_device *devices;
    size_t device_count;
};

/** A compiler library of the toolkit. */
struct pj_report_library {
    const char *path;    /* links resolved; NULL = none was opened */
    const char *version; /* "13.0" */
    const char *build;   /* "13.0.88", of the file's name; NULL = not known */
};

/** A driver build that entries were made for without it. */
struct pj_report_profile {
    const char *driver_version; /* "580.159.04" */
    const char *stamp;
};

/** A run without a driver: whose entries it made, and with what. */
struct pj_report_offline {
    struct pj_report_profile *profiles;
    size_t profile_count;      /* 0 = the run had a driver */
    const char *compiler;      /* "ptxas 13.0.88"; NULL = there was nothing to compile */
    const char *compiler_path; /* of that one; NULL = none */
};

struct pj_report_cache {
    const char *path; /* NULL = none */
    uint64_t limit_bytes;
    bool has_content; /* bytes and entries are known */
    uint64_t bytes, entries;
};

enum pj_target_kind { PJ_TARGET_KIND_NATIVE, PJ_TARGET_KIND_FOREIGN };

enum { PJ_SAMPLES_MAX = 16 };

/** The sample times of one job's hits, one per proof process. */
struct pj_samples {
    double ms[PJ_SAMPLES_MAX];
    size_t count;
};

/** median (of an even number: the mean of the middle two), minimum, maximum; false where there are no
 * samples. Samples that are negative or not finite do not count. */
bool pj_samples_summary(const struct pj_samples *samples, double *ret_median, double *ret_minimum,
                        double *ret_maximum);

/** How a job's entry came to be there in this run. */
enum pj_origin {
    PJ_ORIGIN_NONE,
    PJ_ORIGIN_COMPILED, /* by this run */
    PJ_ORIGIN_REUSED,   /* was there, sound */
    PJ_ORIGIN_REPAIRED, /* compiled twice in this run: the first result got lost */
};

/** How the machine code of a job's entries compares with what the driver compiles itself. */
enum pj_against {
    PJ_AGAINST_NONE, /* not asked for, or the job is not proven */
    PJ_AGAINST_SAME,
    PJ_AGAINST_OTHER,
    PJ_AGAINST_NOT_COMPARED,
};

/** "same-code", "other-code", "not-compared"; "" for NONE. */
const char *pj_against_name(enum pj_against against);

/** One cache entry of a job. */
struct pj_report_entry {
    const char *name; /* "c/a/920786966c763d" */
    bool has_bytes;
    uint64_t bytes;
};

/** One job. */
struct pj_report_job {
    const char *id;       /* unique: "module@sm_90", "module[max_registers=64]@sm_90" */
    const char *module;   /* its name for people; of several the first few: "a, b, c and 7 more" */
    const char **modules; /* all names where there are several; NULL = `module` alone */
    size_t module_count;
    const char *target; /* "sm_90" */
    enum pj_target_kind target_kind;
    struct pj_jit_options options;
    bool required;
    enum pj_verdict verdict;
    const char *reason_code; /* pinned word, NULL where there is nothing to say */
    const char *reason;      /* for people */
    bool passing;            /* an inconclusive verdict whose cause passes: exit 75 */
    bool slow;               /* a threshold of the manifest was not met */
    enum pj_origin origin;
    const char *offline_compiler; /* "ptxas 13.0.88": what made its entries in place of a driver; NULL = a
                                     driver did, or it is not known */
    enum pj_against against_driver;
    const char *against_detail; /* OTHER: the first section that differs; NOT_COMPARED: why; else NULL */
    bool has_compile_ms, has_cold_ms, cold_from_receipt;
    double compile_ms; /* of this run */
    double cold_ms;    /* wall time of the compile that made the entry, this run's or the receipt's; what
                          offline_compiler took is told in its own run alone */
    struct pj_samples warm;
    struct pj_witnesses witnesses;
    struct pj_report_entry *entries; /* none = not known */
    size_t entry_count;
    bool has_peak_rss;
    uint64_t peak_rss_bytes;
    const char *log; /* the compiler's, NULL = none */
    bool has_to_ptx_ms;
    double to_ptx_ms; /* what NVRTC or nvJitLink took to make its PTX, which the cache spares no program */
    const char *header_note; /* which header prejit found where the program does not look; NULL = none */
};

/** Modules that a visible GPU compiles at first use, because no target is for it: all of them required, or
 * none. */
struct pj_report_unserved {
    const char *target; /* "sm_120" */
    bool required;
    const char **modules;
    size_t module_count;
};

/** Something the program must have set to read this cache. */
struct pj_report_variable {
    const char *name, *value;
};

/** How long the parts of a run took. */
struct pj_report_phases {
    bool has_prepare, has_compile, has_prove;
    double prepare_ms; /* from NVRTC's start to its last result */
    double compile_ms; /* from the first worker's start to the last compile's result */
    double prove_ms;   /* from the first job's proof to the last */
};

/** What the writer into the cache did and how long it held the lock on `index`. */
struct pj_report_store {
    size_t lock_holds;
    double longest_hold_ms, longest_wait_ms;
    size_t stale_evicted, evicted; /* entries of other driver builds; of this one (--evict) */
};

/** With the command "plan", a job without a verdict is `present` where witnesses.entry_present is YES, to be
 *  compiled where it is NO, and not known where it is UNKNOWN. */
struct pj_report {
    const char *command;  /* "warm" */
    const char *manifest; /* as given, for the cure in the last line */
    struct pj_report_host host;
    struct pj_report_library nvrtc;     /* that sources were compiled with; path NULL = none */
    struct pj_report_library nvjitlink; /* that linked files to PTX; path NULL = none */
    struct pj_report_offline offline;
    struct pj_report_cache cache;
    struct pj_report_job *jobs;
    size_t job_count;
    size_t left_out; /* targets of a range, family or `all` that a module is not warmed for; the notes name
                        them */
    struct pj_report_unserved *unserved;
    size_t unserved_count;
    bool targets_given; /* by -t, which speaks of other machines: a GPU that is not served is no trouble */
    double seconds;
    struct pj_report_phases phases;
    bool has_store;
    struct pj_report_store store;
    struct pj_report_variable *environment;
    size_t environment_count;
    const char **notes; /* facts about the run, one line each, for people and for JSON */
    size_t note_count;
    bool against_driver; /* the proven jobs' code was to be compared with the driver's own */
    bool nothing_to_do;  /* the receipt held: the driver was not opened */
    /* Options of this command line that a cure has to repeat (`--cache`, `DIR`), each as given. */
    const char **repeat_options;
    size_t repeat_option_count;
    /* Why the exit status is not what the jobs add up to (a reboot is pending), one clause; NULL = it is. */
    const char *exit_reason;
    bool ended_early;    /* by a signal or the deadline, which is what exit_reason says */
    bool dies_by_signal; /* exit_code is not what the caller will see */
    enum pj_exit exit_code;
};

/** Counts over the jobs. `repaired` ones are among `compiled` too. */
struct pj_report_summary {
    size_t jobs, compiled, reused, repaired;
    size_t verdicts[PJ_VERDICT_COUNT]; /* NONE: not decided */
    size_t failed;                     /* rejected, incompatible, crashed, timed-out, out-of-memory */
};
void pj_report_summarise(const struct pj_report *report, struct pj_report_summary *ret_summary);

/** Exit status that the jobs' verdicts add up to. A required job without a verdict counts as PJ_EXIT_COLD,
 *  unless the command is `plan`: a run that stopped early never looks finished. */
enum pj_exit pj_report_exit(const struct pj_report *report);

#endif
