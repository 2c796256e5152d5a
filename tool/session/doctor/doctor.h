/* SPDX-License-Identifier: Apache-2.0 */
/* What `doctor` knows while it looks around: the program asked about, the caches, the findings. */
#ifndef PREJIT_SESSION_DOCTOR_DOCTOR_H
#define PREJIT_SESSION_DOCTOR_DOCTOR_H

#include <prejit/prejit.h>

#include "cache/location.h"
#include "host/check.h"
#include "host/finding.h"
#include "host/program.h"
#include "session/run/session.h"

struct pj_doctor {
    const struct pj_doctor_options *options;
    struct pj_arena arena;
    struct pj_host_root root;
    struct pj_program program;
    struct pj_finding_list findings;
    struct pj_driver_facts facts;
    struct pj_toolkit_needs needs; /* of the manifest and the options */
    struct pj_toolkit_facts toolkit;
    struct pj_manifest *manifest; /* NULL = none was given */
    const char *read_path;        /* the cache that the program uses; NULL = none */
    enum pj_cache_source read_source;
    uint64_t limit_bytes; /* of the program; 0 = it stores nothing */
    enum pj_cache_source limit_source;
    const char *filled_path;  /* the cache asked about; NULL = not asked, or none */
    const char *filled_by;    /* "the manifest fills", "--cache names" */
    bool elsewhere;           /* both are there and are two directories */
    const char *path;         /* the one that was looked at; NULL = none */
    bool exists, has_content; /* of `path` */
    uint64_t bytes, entries;
    const char *driver_text;       /* what the driver said of itself; NULL = not asked, or it did not start */
    const char *offline_compiler;  /* "ptxas 13.0.88"; NULL = not asked for, or not known */
    struct pj_buffer offline_text; /* lines: which profile it fits */
};

/** Looks whether `warm --offline` would work with options->offline; what is in its way are findings. */
typedef int pj_doctor_look_offline(struct pj_doctor *doctor, struct pj_error **err);

/** As pj_doctor; `look_offline` is what lies above this room. */
int pj_doctor_run(const struct pj_doctor_options *options, pj_doctor_look_offline *look_offline,
                  char **ret_text, int *ret_exit_code, struct pj_error **err);

/** The cache that is read and the one that is filled. */
int pj_doctor_locate(struct pj_doctor *doctor, struct pj_error **err);

/** What lies in an existing cache: index, sizes against the limit, what the program may not read.
 * `ret_entries` and `ret_bytes` are set where *ret_known is. */
int pj_doctor_content(const struct pj_program *program, const char *path, uint64_t limit_bytes,
                      struct pj_finding_list *findings, bool *ret_known, uint64_t *ret_entries,
                      uint64_t *ret_bytes, struct pj_error **err);

/** Asks the driver itself, in a worker. A driver that does not start, or not in time, is a finding. */
int pj_doctor_ask_driver(struct pj_doctor *doctor, struct pj_error **err);

/** The driver's worker told its GPUs: one that the manifest's targets leave out is a finding. */
int pj_doctor_find_unserved(struct pj_doctor *doctor, const struct pj_wire_started *started,
                            struct pj_error **err);

/** The report, with the answer as its last line; and as JSON. */
int pj_doctor_render_text(const struct pj_doctor *doctor, struct pj_buffer *text, struct pj_error **err);
int pj_doctor_render_json(const struct pj_doctor *doctor, struct pj_buffer *text, struct pj_error **err);

/** The one line that is the answer, without "exit 3: " and line end. */
void pj_doctor_answer(const struct pj_doctor *doctor, struct pj_buffer *text);

int pj_doctor_exit_code(const struct pj_doctor *doctor);

/* For other sessions: */

enum pj_doctor_part {
    PJ_DOCTOR_CACHE = 1,   /* path, index, content, file system */
    PJ_DOCTOR_PLACE = 4,   /* of these the path and the file system alone */
    PJ_DOCTOR_MACHINE = 2, /* driver libraries, kernel driver, device nodes, memory */
};

/** What stands in the way of this process using the cache `path`, before anything is done there. `parts`: of
 * enum pj_doctor_part. Opens no driver; takes a few milliseconds. */
int pj_doctor_findings(const struct pj_host_root *root, const char *path, uint64_t limit_bytes,
                       const char *driver, unsigned parts, struct pj_finding_list *findings,
                       struct pj_error **err);

/** The error for the first finding that makes `warm` useless: PJ_ERROR_BUSY for a pending reboot, else
 * PJ_ERROR_ENVIRONMENT, with what was found and the cure. 0 where there is none. */
int pj_doctor_refuse(const struct pj_finding_list *findings, struct pj_error **err);

#endif
