/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what it was asked for, what is known of the machine, its jobs and what became of each. */
#ifndef PREJIT_SESSION_RUN_SESSION_H
#define PREJIT_SESSION_RUN_SESSION_H

#include <prejit/prejit.h>

#include "base/way.h"
#include "cache/location.h"
#include "cache/snapshot.h"
#include "cache/store.h"
#include "host/root.h"
#include "job/plan.h"
#include "job/wire.h"
#include "report/model.h"
#include "report/receipt.h"
#include "verify/judge.h"

/** The limit of a cache that a run has for itself: far above what any run compiles, so that the driver evicts
 * nothing from it. */
#define PJ_PRIVATE_CACHE_BYTES (UINT64_C(1) << 40)

/** Why a job has no result whose file was another one at the end. */
#define PJ_FILE_CHANGED "a file changed while prejit was working on it; run again"

/** How long a worker may take for one module where --timeout says nothing. */
#define PJ_DEFAULT_TIMEOUT_MS 3600000.0

/** How far one job has come in this run. */
enum pj_stage {
    PJ_STAGE_WAITING, /* its entry is not there, as far as is known */
    PJ_STAGE_COMPILING,
    PJ_STAGE_COMPILED, /* in a private folder, to be committed */
    PJ_STAGE_PRESENT,  /* in the cache: committed, found there, or compiled in place */
    PJ_STAGE_FAILED,   /* has its verdict */
    PJ_STAGE_CARRIED,  /* proven before, and nothing changed since: taken from the receipt */
};

/** One cache entry of a job. */
struct pj_outcome_entry {
    uint64_t hash;
    uint64_t file_bytes; /* 0 = not known */
    int64_t mtime_seconds;
    uint64_t checksum; /* of its payload, before it was proven; 0 = not known */
    int64_t ctime_ns;  /* of its inode, then; 0 = not known, or of a file system that knows whole seconds */
};

/** What became of one job; parallel to the plan's jobs. */
struct pj_outcome {
    enum pj_stage stage;
    enum pj_verdict verdict;
    const char *reason_code, *reason;
    bool passing, slow;
    enum pj_origin origin;
    unsigned proof_deaths; /* of proof processes that loaded it */
    unsigned attempts;     /* compiles that ended with the worker's death, or with nothing stored */
    size_t folder;         /* private folder of the entries, while COMPILED */
    struct pj_outcome_entry *entries; /* none = not known; a link has one for each PTX input */
    size_t entry_count;
    const struct pj_receipt_job *before; /* the receipt's, of the same images and options; NULL = none */
    const char *offline_compiler;        /* what made its entries in this run, in place of a driver */
    enum pj_against against_driver;
    const char *against_detail; /* as in the report */
    bool has_compile_ms, has_cold_ms, cold_from_receipt;
    double compile_ms, cold_ms;
    uint64_t peak_rss_bytes; /* 0 = not known */
    const char *log;
    struct pj_evidence evidence;
    struct pj_samples warm;
    struct pj_witnesses witnesses;
};

/** The driver and its GPUs, as a worker or a receipt that still holds told. */
struct pj_machine {
    bool known;
    struct pj_report_device *devices; /* visible ones, in CUDA's order */
    uint16_t *device_arch;            /* parallel */
    size_t device_count;
    uint16_t archs[PJ_WIRE_DEVICES_MAX]; /* distinct, ascending */
    size_t arch_count;
    int cuda_version;
    const char *driver_version; /* NULL = not known */
    struct pj_receipt_file *files;
    size_t file_count;
};

/** NVRTC or nvJitLink, as a worker or a receipt that still holds told. */
struct pj_compiler {
    const char *search; /* what was looked for, one name a line, then what the loader goes by where it
                           searches; NULL = nobody needs it */
    const char **paths; /* the same, in order */
    size_t path_count;
    bool known;
    struct pj_report_library library;
    const char *label; /* of ptxas: "cuda_13.0.r13.0/compiler.36424714_0"; NULL = not told */
    int version;       /* 13000 = 13.0 */
    uint16_t *archs;   /* numbers that it compiles for, ascending; none = not told */
    size_t arch_count;
    struct pj_receipt_file *files; /* mapped ones, itself first */
    size_t file_count;
};

enum pj_format_state {
    PJ_FORMAT_UNSEEN, /* the driver has not written an entry yet */
    PJ_FORMAT_KNOWN,  /* it writes the format this version knows; the stamp is known */
    PJ_FORMAT_OTHER,  /* it writes another: no names, no commit */
};

struct pj_phases {
    bool has_prepare, has_compile, has_prove;
    double prepare_ms, compile_ms, prove_ms;
};

/** What the store's callbacks work on while it is open. */
struct pj_lock_wait {
    struct pj_session *session;
    bool waited; /* another run held the lock */
};

struct pj_session {
    const struct pj_options *options;
    struct pj_arena arena; /* strings and arrays that live as long as the session */
    double begin_ms;
    struct timespec begin_time; /* the same moment, since 1970 */
    const char *command;
    struct pj_host_root root;
    struct pj_manifest *manifest;
    struct pj_plan_selection selection;
    const char *selection_text;
    struct pj_cache_location location;
    struct pj_way way; /* to the cache, judged where this process is root's; else without a fault */
    /* Root's, and not there when the way was judged: what appears under its name before the store is opened
     * may be anybody's, and is not looked at. */
    bool cache_absent;
    struct pj_receipt *receipt; /* of the last run; NULL = none, or ignored */
    struct pj_receipt
        now; /* what holds now of a receipt's identity, as far as it is known without the driver */
    bool same_driver, same_gpus, same_request; /* receipt against now */
    bool gpus_listed;                          /* by the kernel: what it lists is what there is */
    bool gpus_unsure; /* all that can be seen of them is as it was, and that is not enough to tell */
    struct pj_plan *plan;
    struct pj_outcome *outcomes;
    struct pj_machine machine;
    struct pj_compiler nvrtc, nvjitlink; /* those that make PTX of modules' files */
    struct pj_report_unserved *unserved;
    size_t unserved_count;
    struct pj_report_offline offline; /* of a run without a driver */
    enum pj_format_state format;
    const char *stamp; /* NULL = not known */
    struct pj_store *store;
    struct pj_lock_wait lock_wait;
    struct pj_phases phases;
    const char **notes;
    size_t note_count, note_capacity;
    size_t entries_harvested;
    bool interrupted, deadline_passed;
    const char *exit_reason;  /* the machine's fault in one clause; NULL = none */
    enum pj_exit exit_status; /* for that */
};

/** After a run that ended early: every job that is not settled is inconclusive, and says why. */
void pj_session_settle_early_end(struct pj_session *session);

/** Opens the cache's directory, and takes a snapshot of it; one that is absent is as a path that is not
 * there. */
int pj_session_open_cache(const struct pj_session *session, int *ret_fd, struct pj_error **err);
int pj_session_snapshot(const struct pj_session *session, struct pj_snapshot *ret_snapshot,
                        struct pj_error **err);

/** A line about the run that people and JSON get to see. */
int pj_session_note(struct pj_session *session, struct pj_error **err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The machine's fault, for which the run ends with `status` or worse: of several the worst one is told.
 * `reason` is one clause that lives as long as the session. */
void pj_session_blame(struct pj_session *session, enum pj_exit status, const char *reason);

/** --timeout of this run, and when its --deadline is, on the clock of pj_clock_ms; INFINITY = never. */
double pj_session_timeout_ms(const struct pj_session *session);

/** How long a driver or a compiler may take to start, and a proof, where --timeout says nothing: they take
 * seconds at most. */
#define PJ_DEFAULT_PATIENCE_MS 120000.0

/** The cure where such a wait was too short. */
#define PJ_GIVE_LONGER "where it only needs longer: --timeout SECONDS"

/** --timeout, which bounds these waits too; else that. */
double pj_patience_ms(double timeout_ms);
double pj_session_deadline_ms(const struct pj_session *session);

/** Tells the observer. */
void pj_session_message(const struct pj_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void pj_session_free(struct pj_session *session);
void pj_session_free_pointer(struct pj_session **session);
#define PJ_CLEANUP_SESSION __attribute__((cleanup(pj_session_free_pointer)))

#endif
