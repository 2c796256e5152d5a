/* SPDX-License-Identifier: Apache-2.0 */
/* Which build of the driver a stamp belongs to, as far as anybody knows. */
#ifndef PREJIT_SESSION_LISTING_DRIVERS_H
#define PREJIT_SESSION_LISTING_DRIVERS_H

#include "base/error.h"
#include "base/memory.h"

/** A build that has a name. */
struct pj_known_driver {
    const char *stamp, *version; /* "Apr 29 202617:12:06", "580.159.04" */
};

/** Zero-initialised is a valid, empty list. */
struct pj_known_drivers {
    struct pj_arena arena; /* holds the strings */
    struct pj_known_driver *items;
    size_t count, capacity;
};

/** Adds those of the profiles that are built in. */
int pj_known_drivers_built_in(struct pj_known_drivers *drivers, struct pj_error **err);

/** Adds those that the receipts of the cache tell of, where they are to be believed. Negative only for out of
 * memory. */
int pj_known_drivers_of_cache(struct pj_known_drivers *drivers, const char *cache_path,
                              struct pj_error **err);

/** The version of the driver with that stamp, the list's; NULL where it is not known. */
const char *pj_known_drivers_find(const struct pj_known_drivers *drivers, const char *stamp);

void pj_known_drivers_free(struct pj_known_drivers *drivers);
#define PJ_CLEANUP_KNOWN_DRIVERS __attribute__((cleanup(pj_known_drivers_free)))

#endif
