/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the builds of the driver whose stamps are known. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "session/listing/drivers.h"
#include "session/receipt/file.h"

static int add(struct pj_known_drivers *drivers, const char *stamp, const char *version,
               struct pj_error **err)
{
    if (!stamp || !version || pj_known_drivers_find(drivers, stamp))
        return 0;
    const struct pj_known_driver driver = {.stamp = pj_arena_strdup(&drivers->arena, stamp),
                                           .version = pj_arena_strdup(&drivers->arena, version)};
    struct pj_known_driver *item = driver.stamp && driver.version ? PJ_ARRAY_PUSH(drivers) : NULL;
    if (!item)
        return pj_error_no_memory(err);
    *item = driver;
    return 0;
}

int pj_known_drivers_built_in(struct pj_known_drivers *drivers, struct pj_error **err)
{
    const char *const *versions = pj_profile_built_in();
    int r = 0;
    for (size_t i = 0; versions[i] && r == 0; i++) {
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_profile profile = {0};
        r = pj_profile_load(versions[i], &arena, &profile, err);
        if (r == 0)
            r = add(drivers, profile.stamp, profile.driver_version, err);
    }
    return r;
}

/* The driver of the run, or those that an offline run made entries for. */
static int add_of_receipt(void *context, const struct pj_receipt *receipt, struct pj_error **err)
{
    struct pj_known_drivers *drivers = context;
    int r = add(drivers, receipt->host.stamp, receipt->host.driver_version, err);
    for (size_t i = 0; i < receipt->offline.profile_count && r == 0; i++) {
        const struct pj_report_profile *profile = &receipt->offline.profiles[i];
        r = add(drivers, profile->stamp, profile->driver_version, err);
    }
    return r;
}

int pj_known_drivers_of_cache(struct pj_known_drivers *drivers, const char *cache_path, struct pj_error **err)
{
    return pj_receipt_each(cache_path, add_of_receipt, drivers, err);
}

const char *pj_known_drivers_find(const struct pj_known_drivers *drivers, const char *stamp)
{
    for (size_t i = 0; i < drivers->count; i++) {
        if (strcmp(drivers->items[i].stamp, stamp) == 0)
            return drivers->items[i].version;
    }
    return NULL;
}

void pj_known_drivers_free(struct pj_known_drivers *drivers)
{
    free(drivers->items);
    pj_arena_free(&drivers->arena);
}
