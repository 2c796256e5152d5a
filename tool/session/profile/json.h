/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of `profile`. */
#ifndef PREJIT_SESSION_PROFILE_JSON_H
#define PREJIT_SESSION_PROFILE_JSON_H

#include "base/buffer.h"
#include "session/profile/profile.h"

struct pj_column;

struct pj_profile_document {
    const struct pj_profile_work *work;
    const struct pj_column *case_columns; /* rows are of struct pj_profile_trial */
    size_t case_column_count;
    const char *profile; /* as it is written into a file */
    int exit_code;
};

/** Appends JSON of schema prejit-profile-run/1 (docs/profile.schema.json). */
int pj_profile_json(const struct pj_profile_document *document, struct pj_buffer *text,
                    struct pj_error **err);

#endif
