/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests that lie in a folder of their own. */
#ifndef PREJIT_UNIT_MANIFEST_FOLDER_H
#define PREJIT_UNIT_MANIFEST_FOLDER_H

#include "support.h"

#include "../support/folder.h"

/** Appends `text` with each "<>" in it replaced by `path`. */
static inline void put_path(struct pj_buffer *buffer, const char *text, const char *path)
{
    for (const char *mark; (mark = strstr(text, "<>")) != NULL; text = mark + 2) {
        pj_buffer_append(buffer, text, (size_t)(mark - text));
        pj_buffer_puts(buffer, path);
    }
    pj_buffer_puts(buffer, text);
}

#endif
