/* SPDX-License-Identifier: Apache-2.0 */
/* Entry files: where they lie below the cache directory, and what is in them. */
#ifndef FAKE_ENTRY_H
#define FAKE_ENTRY_H

#include "base.h"
#include "scenario.h"

/* "<cache>/<h0>/<h1>/<h2..h15>"; with `make_folders` the folders above it are made. */
void fake_entry_path(const struct fake_scenario *scenario, const char *cache_path, uint64_t hash,
                     bool make_folders, struct fake_buffer *ret_path);

/* False where there is no entry, or it is damaged in any way, or its key is another one. */
bool fake_entry_read(const struct fake_scenario *scenario, const char *path, const struct fake_buffer *key,
                     struct fake_buffer *ret_payload);
bool fake_entry_write(const struct fake_scenario *scenario, const char *path, const struct fake_buffer *key,
                      const struct fake_buffer *payload);

/* Every file in the hash directories, whoever made it; the directories stay. */
void fake_entry_delete_all(const char *cache_path);

/* `path` and what is missing above it, each 0700. */
void fake_entry_make_folders(const char *path);

#endif
