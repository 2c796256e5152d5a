/* SPDX-License-Identifier: Apache-2.0 */
/* A session without a driver: a manifest of one module, a cache with its entry from the real driver, and a
 * receipt of which every word holds. */
#ifndef PREJIT_UNIT_SESSION_RUNS_H
#define PREJIT_UNIT_SESSION_RUNS_H

#include "folder.h"

#include "session/run/session.h"

#define ENTRY_HASH UINT64_C(0xca920786966c763d)
#define ENTRY_PATH "c/a/920786966c763d"
#define STAMP      "Apr 29 202617:12:06"

struct run {
    struct folder folder; /* axpb.ptx, m.yaml, driver/libcuda.so.580.1, cache/, root/ */
    struct pj_options options;
    struct pj_session session;
    struct pj_receipt receipt;
    struct pj_receipt_job job;
    struct pj_receipt_input input; /* the only one */
    uint32_t position;             /* its, for the job */
    struct pj_receipt_entry entry;
    struct pj_receipt_file driver;
    struct pj_report_device device;
    char *manifest_path, *image_path, *driver_path, *root_path;
};

/** Everything made, the identity noted; session.receipt is the receipt, not compared so far. */
void run_make(struct run *run);
void run_free(struct run *run);
#define CLEANUP_RUN __attribute__((cleanup(run_free)))

/** What a receipt says of the file `name` below the run's folder, not as named; its path lives in `arena`. */
struct pj_receipt_input run_describe(const struct run *run, struct pj_arena *arena, const char *name);

/** Gives a file below the run's folder another time. */
void run_touch(const struct run *run, const char *name);

#endif
