/* SPDX-License-Identifier: Apache-2.0 */
/* Where the loader would find a shared library, found out without loading anything. */
#ifndef PREJIT_HOST_LIBRARY_H
#define PREJIT_HOST_LIBRARY_H

#include <stdbool.h>

#include "host/program.h"
#include "host/root.h"

struct pj_library_folder {
    const char *prefix, *path; /* the path as the program sees it, and what stands before it for us */
};

/** The folders in the loader's order; strings live in the arena. */
struct pj_library_search {
    struct pj_arena arena;
    struct {
        struct pj_library_folder *items;
        size_t count, capacity;
    } folders;
};

struct pj_library {
    const char *path; /* as the program sees it */
    const char *folder;
    const char *real;    /* the caller's path of the file that it links to */
    const char *version; /* "580.159.04", from the name of the file that it links to; NULL = not known */
};

/** `driver` (may be NULL): an explicit libcuda, whose folder comes first. Then LD_LIBRARY_PATH, then
 * /etc/ld.so.conf and the default folders below the root. */
int pj_library_search_make(const struct pj_host_root *root, const struct pj_program *program,
                           const char *driver, struct pj_library_search *ret_search, struct pj_error **err);

/** *ret_found = false where no folder has it. */
int pj_library_find(struct pj_library_search *search, const char *name, struct pj_library *ret_library,
                    bool *ret_found, struct pj_error **err);

/** The same in one folder. */
int pj_library_at(struct pj_library_search *search, const struct pj_library_folder *folder, const char *name,
                  struct pj_library *ret_library, bool *ret_found, struct pj_error **err);

void pj_library_search_free(struct pj_library_search *search);
#define PJ_CLEANUP_LIBRARIES __attribute__((cleanup(pj_library_search_free)))

#endif
