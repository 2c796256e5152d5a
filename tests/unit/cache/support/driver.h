/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's way with a cache, as docs/cache-model.md has it: what the store must get along with. Written
 * from the model, without the code under test. */
#ifndef PREJIT_TESTS_CACHE_DRIVER_H
#define PREJIT_TESTS_CACHE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Looks for an entry: false where it is not there or the lock was not had in 20 tries. */
bool driver_read(const char *cache, uint64_t hash);

/** Stores an entry; false where the lock was not had in 20 tries. */
bool driver_store(const char *cache, uint64_t hash, const void *bytes, size_t size, uint64_t limit);

#endif
