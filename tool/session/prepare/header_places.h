/* SPDX-License-Identifier: Apache-2.0 */
/* Where a header would be found before the one that NVRTC found. */
#ifndef PREJIT_SESSION_PREPARE_HEADER_PLACES_H
#define PREJIT_SESSION_PREPARE_HEADER_PLACES_H

#include "session/make/maker.h"

/** Adds to `files` (a copy, in `arena`) the paths at which a file of a header's name would be taken in place
 * of the header: in the folder of whoever includes it, and in the folders of -I before its own. They are
 * `absent`, and have to stay so. `list` is NVRTC's, `making` the order that it answers, `directory` where
 * both start from. What the toolkit's headers include among themselves is not looked at: there are hundreds.
 */
int pj_header_places_add(const struct pj_making *making, const char *list, const char *directory,
                         struct pj_arena *arena, struct pj_plan_file **files, size_t *count,
                         struct pj_error **err);

#endif
