/* SPDX-License-Identifier: Apache-2.0 */
/* Private to profile: the texts that are built in. The build makes the tables from manifests/drivers
 * (cmake/profiles.cmake).
 */
#ifndef PREJIT_PROFILE_BUILT_IN_H
#define PREJIT_PROFILE_BUILT_IN_H

#include <stddef.h>

/** Bytes of a profile. */
struct pj_profile_text {
    const unsigned char *bytes;
    size_t size;
};

/** Names of the files without `.yaml`, which are drivers' versions, ascending as text; NULL ends them. */
extern const char *const pj_profile_built_in_versions[];

/** What each of them holds, in the same order; one without bytes ends them. */
extern const struct pj_profile_text pj_profile_built_in_texts[];

#endif
