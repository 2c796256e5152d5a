/* SPDX-License-Identifier: Apache-2.0 */
/* A set of names that is filled, sorted once, and then looked into. */
#ifndef PREJIT_BASE_NAMES_H
#define PREJIT_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/** Zero-initialised is a valid, empty set. The texts are the caller's and must outlive it. */
struct pj_names {
    const char **items;
    size_t count, capacity;
};

/** Adds a name, which pj_names_have finds after the next pj_names_sort; one that is there already does no
 * harm. False when memory is out. */
bool pj_names_add(struct pj_names *names, const char *name);

/** Brings the names into the order of strcmp. */
void pj_names_sort(struct pj_names *names);

/** Is it among the sorted names? */
bool pj_names_have(const struct pj_names *names, const char *name);

/** Frees the set, not the texts; it is empty and usable afterwards. */
void pj_names_free(struct pj_names *names);

#define PJ_CLEANUP_NAMES __attribute__((cleanup(pj_names_free)))

#endif
