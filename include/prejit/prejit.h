/* SPDX-License-Identifier: Apache-2.0 */
/* prejit's calls for other programs, the command line among them. Unstable before 1.0.
 *
 * Strings given in are borrowed for the length of the call. What a call gives back in a `ret_` argument is
 * the caller's; errors are freed with pj_error_free. Nothing here prints, and nothing here opens a CUDA
 * library in the calling process: workers do. */
#ifndef PREJIT_PREJIT_H
#define PREJIT_PREJIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <prejit/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pj_error;
struct pj_result;

/** Who watches a run. Each function may be NULL; all are called from the thread that made the call. `job`
 * numbers are those of the run; `name` is for people ("saxpy sm_90"). */
struct pj_observer {
    void (*phase)(void *context, const char *phase, size_t jobs,
                  uint64_t weight_bytes); /* "compile" or "prove" begins */
    void (*started)(void *context, size_t job, const char *name);
    void (*requeued)(void *context, size_t job); /* its worker died; it is tried once more */
    void (*finished)(void *context, size_t job, const char *name, uint64_t weight_bytes, const char *outcome,
                     bool attention);
    void (*tick)(void *context);                      /* several times a second while the run waits */
    void (*message)(void *context, const char *text); /* one line for people */
    void *context;
};

/** What a run is given. Zero-initialise, then set what differs. */
struct pj_options {
    const char *manifest;       /* path, or "-" for standard input; required */
    const char *cache;          /* --cache; NULL = the manifest's, else the driver's own rule */
    const char *driver;         /* --driver; NULL = libcuda.so.1 by the loader's rule */
    const char *nvrtc;          /* --nvrtc: a file, or a folder that holds it; NULL = looked for */
    const char *const *offline; /* --offline: warm without a driver, for those of these profiles: paths, or
                                   versions of drivers whose profile is built in */
    size_t offline_count;
    const char *ptxas;     /* --ptxas, of an offline run: a file, or a folder that holds it */
    const char *nvjitlink; /* --nvjitlink, the same: in place of ptxas */
    bool prepare;          /* plan: run NVRTC, so that the jobs of sources are known */
    bool measure_cold;     /* verify: have the driver compile each module beside the cache, and time it */
    bool against_driver;   /* verify: compare the code of what is proven with the driver's own */
    bool check_stable;     /* compile sources twice although that was done before */
    const char *worker_program; /* absolute path of a prejit program to run as worker; required */
    const char *const *targets; /* -t: replace the manifest's */
    size_t target_count;
    const char *const *modules; /* -m: only these */
    size_t module_count;
    unsigned workers;   /* -j; 0 = chosen by cores, memory and jobs */
    double timeout_ms;  /* per job; 0 = 3,600,000 */
    double deadline_ms; /* for the run; 0 = none */
    double lock_wait_ms;
    bool no_receipt;
    bool evict;
    const char *user; /* --user as given, for the command line of a cure: the process is that user already */
    const char
        *repeat_driver; /* --driver as given, for the cure in the last line; NULL = it came otherwise */
    int interrupt_fd;   /* becomes readable when the run shall end early; -1 = none */
    struct pj_observer observer;
    void (*at_point)(void *context, const char *point); /* test hook: named points of the commit; NULL */
    void *at_point_context;
};

/** The main job: compile what is missing, commit, prove, write the receipt. 0 when the run took place,
 * whatever it found: pj_result_exit_code tells. With `offline` there is no driver, so nothing is proven:
 * ptxas or nvJitLink compiles, and entries are made as the drivers of those profiles would make them. */
PJ_API int pj_warm(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err);

/** Proves only; compiles nothing and writes nothing. */
PJ_API int pj_verify(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err);

/** The jobs with their findings and, where the driver's stamp is known from a receipt, their entry names.
 * Opens no driver. */
PJ_API int pj_plan(const struct pj_options *options, struct pj_result **ret_result, struct pj_error **err);

/** Exit status that the result stands for: 0, 1, 3, 4 or 75. */
PJ_API int pj_result_exit_code(const struct pj_result *result);

/** True where the run was ended by interrupt_fd. */
PJ_API bool pj_result_interrupted(const struct pj_result *result);

/** Says before the texts are made that the caller will die by the signal that made interrupt_fd readable. */
PJ_API void pj_result_set_signal(struct pj_result *result, int signal_number);

/** The table for people, the JSON report (schema prejit-report/1), the one line that is the answer;
 * `below_table`: that line will stand below the table, which tells long reasons.
 * NUL-terminated; free(). */
PJ_API int pj_result_table(const struct pj_result *result, bool verbose, char **ret_text,
                           struct pj_error **err);
PJ_API int pj_result_json(const struct pj_result *result, char **ret_text, struct pj_error **err);
PJ_API int pj_result_answer(const struct pj_result *result, bool below_table, char **ret_text,
                            struct pj_error **err);

PJ_API void pj_result_free(struct pj_result *result);

/** What lies in a cache (NULL: by the driver's own rule), as a table or as JSON; free(). */
PJ_API int pj_cache_ls(const char *cache, bool json, char **ret_text, struct pj_error **err);

/** What doctor is asked. Zero-initialise, then set what differs. */
struct pj_doctor_options {
    const char *manifest;       /* would the program read the cache that it fills? NULL = no such question */
    const char *cache;          /* --cache: the cache asked about instead of the manifest's */
    const char *driver;         /* --driver; NULL = libcuda.so.1 by the loader's rule */
    const char *nvrtc;          /* --nvrtc: a file, or a folder that holds it; NULL = looked for */
    const char *nvjitlink;      /* --nvjitlink: the same */
    const char *ptxas;          /* --ptxas: the same */
    const char *worker_program; /* starts the driver, or the compiler of `offline`, to hear what it says;
                                   NULL = neither is started */
    const char *user;           /* the program's user, "UID", "UID:GID" or a name; NULL = this process's */
    const char *env_file;       /* the program's environment, NAME=VALUE lines; NULL = this process's */
    long pid;                   /* the program is this running process; 0 = none */
    const char *const *offline; /* --offline: profiles, as in pj_options. With any of them the question is
                                   whether `warm` with them would work here, and no driver is needed */
    size_t offline_count;
    unsigned columns; /* lines are broken before this; 0 = not at all */
    bool json;
    bool quiet;       /* the answer alone */
    bool verbose;     /* each finding with the reason behind it */
    int interrupt_fd; /* becomes readable when the run shall end early; -1 = none */
};

/** Looks for everything around a cache that would make warming useless, and changes nothing. The findings
 * with their cures and, as the last line, the answer; or JSON (schema prejit-doctor/1). *ret_text: free().
 * *ret_exit_code: 3 with a finding of severity error, else 0. */
PJ_API int pj_doctor(const struct pj_doctor_options *options, char **ret_text, int *ret_exit_code,
                     struct pj_error **err);

/** What build is asked. Zero-initialise, then set what differs. */
struct pj_build_options {
    const char *manifest;       /* path, or "-" for standard input; required */
    const char *out_dir;        /* made where it is missing; NULL with `check` */
    bool check;                 /* compile everything, write nothing */
    const char *nvrtc;          /* --nvrtc: a file, or a folder that holds it; NULL = looked for */
    const char *nvjitlink;      /* --nvjitlink: the same */
    const char *worker_program; /* absolute path of a prejit program to run as worker; required */
    const char *const *targets; /* -t: replace the manifest's */
    size_t target_count;
    const char *const *modules; /* -m: only these */
    size_t module_count;
    unsigned workers;   /* -j; 0 = chosen by cores, memory and modules */
    double timeout_ms;  /* per module and target; 0 = 3,600,000 */
    double deadline_ms; /* for the run; 0 = none */
    bool json, verbose;
    bool quiet;       /* the answer stands alone: it says long reasons, which the table would have said */
    int interrupt_fd; /* becomes readable when the run shall end early; -1 = none */
    struct pj_observer observer;
};

/** Makes a cubin for every module and target with NVRTC and nvJitLink, and an index of what was made from
 * what; needs no GPU and no driver. *ret_text is the table, or JSON (schema prejit-build/1); *ret_answer the
 * one line that is the answer; both free(). *ret_exit_code: 0, 1 where something was not built, 75 where the
 * run ended early (*ret_interrupted: by interrupt_fd). */
PJ_API int pj_build(const struct pj_build_options *options, char **ret_text, char **ret_answer,
                    int *ret_exit_code, bool *ret_interrupted, struct pj_error **err);

/** What profile is asked. Zero-initialise, then set what differs. */
struct pj_profile_options {
    const char *driver;         /* --driver; NULL = libcuda.so.1 by the loader's rule */
    const char *ptxas;          /* --ptxas: the program, or a folder that holds it; NULL = looked for */
    const char *nvjitlink;      /* --nvjitlink: a file, or a folder that holds it; NULL = looked for */
    const char *worker_program; /* absolute path of a prejit program to run as worker; required */
    double timeout_ms;          /* per case, of the driver and of each compiler; 0 = 60,000 */
    double deadline_ms;         /* for the run, which then ends without a profile; 0 = none */
    bool json;                  /* *ret_text is JSON of schema prejit-profile-run/1 */
    const char *file; /* where the caller writes the profile, as the JSON says; NULL = the JSON holds it */
    int interrupt_fd; /* becomes readable when the run shall end early; -1 = none */
};

/** Learns how the driver at hand names and writes cache entries, proves it step by step (predicts entries
 * byte for byte, then assembles some itself, loads and runs them with JIT disabled), and compares the code of
 * compilers with the driver's. *ret_profile is the profile (YAML), *ret_text the cases as a table with the
 * answer as its last line, or as JSON; both free(). *ret_exit_code: 0 where everything was proven and ptxas'
 * code is the driver's, else 1. No cache but one of its own is touched. */
PJ_API int pj_profile_make(const struct pj_profile_options *options, char **ret_profile, char **ret_text,
                           int *ret_exit_code, struct pj_error **err);

/** What a manifest holds, for people; free(). */
PJ_API int pj_manifest_help_text(char **ret_text, struct pj_error **err);

/** Exit status for an error that kept a run from taking place: 2, 3, 75 or 1. */
PJ_API int pj_error_exit_code(const struct pj_error *error);

#ifdef __cplusplus
}
#endif

#endif
