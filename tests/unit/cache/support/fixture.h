/* SPDX-License-Identifier: Apache-2.0 */
/* Caches made for tests: folders, entries, indexes, and what lies in them afterwards. */
#ifndef PREJIT_TESTS_CACHE_FIXTURE_H
#define PREJIT_TESTS_CACHE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cache/store.h"

#define STAMP       "Apr 29 202617:12:06"
#define OTHER_STAMP "Jan 01 202500:00:00"

/** A new empty folder; remove_cache takes it away. */
char *make_cache(void);
void remove_cache(char *path);

/** Bytes of a sound entry for an image of the given text; the payload has about `payload_size` bytes. */
uint64_t make_entry_bytes(const char *stamp, unsigned arch, const char *image, size_t payload_size,
                          struct pj_buffer *ret_bytes);

/** Writes `bytes` as the file of `hash`, folders included. */
void write_entry(const char *cache, uint64_t hash, const void *bytes, size_t size);

/** Both: a sound entry in the cache; gives its hash. */
uint64_t put_entry(const char *cache, const char *stamp, const char *image, size_t payload_size);

/** Writes `index` with the sizes that the files have. */
void put_index(const char *cache, const uint64_t *hashes, size_t count);
void put_index_bytes(const char *cache, const void *bytes, size_t size);

bool entry_exists(const char *cache, uint64_t hash);
bool path_exists(const char *cache, const char *name);
uint64_t entry_bytes(const char *cache, uint64_t hash);
enum pj_entry_state entry_state(const char *cache, uint64_t hash);

/** Fails the test unless `index` is valid, lists just these in this order, and each with its file's size. */
void expect_index(const char *cache, const uint64_t *hashes, size_t count);

/** Fails the test unless `.prejit` holds no run folder. */
void expect_no_rubbish(const char *cache);

/** Payloads of the fixture begin with "ELF" and the number of their architecture. */
int fixture_check(const void *payload, size_t size, const struct pj_cache_key *key, struct pj_error **err);

/** Options for a store on `cache` with a limit of 1 GiB. */
struct pj_store_options fixture_options(const char *cache);

/** Opens and prepares; fails the test where that fails. */
struct pj_store *open_store(const struct pj_store_options *options, struct pj_store_preparation *ret_done);

/** A sound entry in private folder `folder`, as an item to commit. */
struct pj_commit_item put_item(struct pj_store *store, size_t folder, const char *stamp, const char *image,
                               size_t payload_size);

#endif
