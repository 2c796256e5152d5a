/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were probably meant by a path that names none. */
#ifndef PREJIT_BASE_NEARBY_H
#define PREJIT_BASE_NEARBY_H

#include <stdbool.h>

#include "base/buffer.h"

/** Appends the path of a file that `path`, which names none, probably means, and says whether there is one:
 * in the same folder a name that differs in case, in a letter or two, or in `.yml` for `.yaml`; else the same
 * name in a folder below, or above where the folder does not exist. Names whose numbers differ are two
 * files. */
bool pj_nearby_file(const char *path, struct pj_buffer *ret_path);

/** Appends the path of the manifest in `folder`, and says whether there is one: prejit.yaml, else app.yaml,
 * else the only YAML file with a line that begins with `modules:`. */
bool pj_nearby_manifest(const char *folder, struct pj_buffer *ret_path);

#endif
