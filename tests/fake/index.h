/* SPDX-License-Identifier: Apache-2.0 */
/* The file `index`: which entries the driver believes it has, oldest first, and how many bytes they are. */
#ifndef FAKE_INDEX_H
#define FAKE_INDEX_H

#include "base.h"
#include "scenario.h"

enum fake_index_state {
    FAKE_INDEX_GOOD,
    FAKE_INDEX_FOREIGN, /* empty, random, another format: reads go on, the next store starts anew */
    FAKE_INDEX_SHORT,   /* fewer records than it says: whoever opens it next starts anew */
};

struct fake_record {
    uint64_t hash;
    uint64_t bytes; /* key and payload, without the entry's header */
};

struct fake_index {
    enum fake_index_state state;
    uint64_t total;
    struct fake_record *records;
    size_t count;
};

/* Opens `<path>/index` for reading and writing, makes it where there is none; -1 where neither works. */
int fake_index_open(const char *cache_path);

/* The lock of the cache: tried every 10 ms, 20 times, then given up. Closing the descriptor ends it. */
bool fake_index_lock(int descriptor, bool exclusive);

bool fake_index_read(int descriptor, const struct fake_scenario *scenario, struct fake_index *ret_index);
/* Header and records from the start of the file; what stood behind them stays. */
bool fake_index_write(int descriptor, const struct fake_scenario *scenario, const struct fake_index *index);
void fake_index_add(struct fake_index *index, uint64_t hash, uint64_t bytes);
void fake_index_remove(struct fake_index *index, size_t position);
void fake_index_free(struct fake_index *index);

#endif
