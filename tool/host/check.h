/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that need no knowledge of the cache's files: each looks at one thing and adds what it finds.
 *
 * All of them only read. They fail for out of memory alone; what cannot be looked at is a finding or is
 * passed over. */
#ifndef PREJIT_HOST_CHECK_H
#define PREJIT_HOST_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "host/finding.h"
#include "host/program.h"
#include "host/root.h"

/** The variables that the driver, its loader and container runtimes read; misspelt ones. */
int pj_check_variables(const struct pj_program *program, struct pj_finding_list *findings,
                       struct pj_error **err);

/** Every level of `path` (absolute, as the program sees it): there, a directory, passable, closed to others.
 * *ret_exists = the directory is there. */
int pj_check_path(const struct pj_program *program, const char *path, bool *ret_exists,
                  struct pj_finding_list *findings, struct pj_error **err);

/** Is the program root, and the cache, or a directory on the way to it, another user's (*ret_foreign) or open
 * to others? Then that is a finding. */
int pj_check_for_root(const struct pj_program *program, const char *path, bool *ret_foreign,
                      struct pj_finding_list *findings, struct pj_error **err);

/** Adds the finding for a cache that the program may not use, with `status` of its directory: whose it is,
 * and what its owner or root can do. `what` ends "user X ": "may not pass it". */
int pj_check_closed(const struct pj_program *program, const char *path, const struct stat *status,
                    const char *what, struct pj_finding_list *findings, struct pj_error **err);

/** Is it neither the program's nor root's? */
bool pj_check_is_foreign(const struct pj_program *program, const struct stat *status);

/** `index` of an existing cache directory: may the program read and write it? */
int pj_check_index(const struct pj_program *program, const char *path, struct pj_finding_list *findings,
                   struct pj_error **err);

enum pj_file_system_class {
    PJ_FILE_SYSTEM_LOCAL,
    PJ_FILE_SYSTEM_SHARED,
    PJ_FILE_SYSTEM_MEMORY,
    PJ_FILE_SYSTEM_LAYERED,
};

/** Name and class for statfs's f_type; NULL and LOCAL for a type of no interest. */
const char *pj_file_system_kind(uint64_t type, enum pj_file_system_class *ret_class);

/** Kind, free space and inodes of the file system that `path`, or its nearest existing parent, lies on. */
int pj_check_file_system(const struct pj_program *program, const char *path, struct pj_finding_list *findings,
                         struct pj_error **err);

/** The driver's libraries as the loader would find them for the program. Strings live in the arena. */
struct pj_driver_facts {
    struct pj_arena arena;
    const char *library;        /* libcuda.so.1 as the program sees it; NULL = none */
    const char *version;        /* of its file name; NULL = not known */
    const char *kernel_version; /* NULL = not loaded */
    bool stub, compat;
};

/** libcuda and its helpers, forward compatibility. `driver` (may be NULL) is --driver. */
int pj_check_driver(const struct pj_host_root *root, const struct pj_program *program, const char *driver,
                    struct pj_finding_list *findings, struct pj_driver_facts *ret_facts,
                    struct pj_error **err);

/** What a driver that starts makes needless: the kernel driver, its version against the libraries', the
 * device nodes and the GPUs listed. */
int pj_check_machine(const struct pj_host_root *root, const struct pj_program *program,
                     const struct pj_driver_facts *facts, struct pj_finding_list *findings,
                     struct pj_error **err);

/** Memory that can still be used. */
int pj_check_memory(const struct pj_host_root *root, struct pj_finding_list *findings, struct pj_error **err);

/** What is asked of a toolkit. Zero-initialised: what is there? */
struct pj_toolkit_needs {
    size_t sources, required_sources; /* modules of the manifest */
    /* --nvrtc, --nvjitlink, --ptxas: these and no others. NULL = looked for. */
    const char *nvrtc, *nvjitlink, *ptxas;
};

/** The first one of each that prejit tries, with links followed; NULL = none. Strings live in the arena. */
struct pj_toolkit_facts {
    struct pj_arena arena;
    const char *nvrtc, *nvjitlink, *ptxas;
};

/** The toolkit that prejit takes where `program` (prejit itself) has this environment: is it where options
 * and CUDA_HOME say, and has it what the modules need? Opens no library: whether one can be loaded is not
 * known. */
int pj_check_toolkit(const struct pj_host_root *root, const struct pj_program *program,
                     const struct pj_toolkit_needs *needs, struct pj_finding_list *findings,
                     struct pj_toolkit_facts *ret_facts, struct pj_error **err);

/** Caches that frameworks keep themselves, and the driver's default one where another is in use (`path`, may
 * be NULL). */
int pj_check_other_caches(const struct pj_program *program, const char *path,
                          struct pj_finding_list *findings, struct pj_error **err);

#endif
