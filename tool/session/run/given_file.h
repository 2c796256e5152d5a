/* SPDX-License-Identifier: Apache-2.0 */
/* The file that was given as a manifest. */
#ifndef PREJIT_SESSION_RUN_GIVEN_FILE_H
#define PREJIT_SESSION_RUN_GIVEN_FILE_H

#include "manifest/manifest.h"

/** pj_manifest_load, which for PTX, a program, a fatbin or another file of code says what it holds, what that
 * means for warming, and what a manifest for it is. */
int pj_given_manifest_load(const char *path, struct pj_manifest **ret_manifest, struct pj_error **err);

#endif
