/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in a cache directory at one moment: index, entry files, and whether an entry is sound. Only
 * reads. */
#ifndef PREJIT_CACHE_SNAPSHOT_H
#define PREJIT_CACHE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cache/format.h"
#include "cache/index.h"

struct pj_snapshot_entry {
    uint64_t hash;
    uint64_t size; /* of the file, in bytes */
    int64_t mtime_seconds;
    int64_t ctime_ns;        /* since 1970, of the inode */
    uint64_t index_position; /* PJ_NOT_LISTED where the index does not name it */
};
#define PJ_NOT_LISTED UINT64_MAX

struct pj_snapshot {
    bool exists; /* the cache directory is there */
    struct pj_index index;
    enum pj_index_state index_state;
    struct pj_snapshot_entry *entries; /* regular files in the hash directories, ascending by hash */
    size_t count, capacity;
    uint64_t bytes; /* sum of the file sizes */
    /* Where this process is root's: files that another user owns or can write, one of them, and its owner. */
    size_t foreign_count;
    uint64_t foreign_hash;
    uid_t foreign_uid;
};

/** Reads the directory `path` (absent: exists = false, success). Foreign names and links below it are passed
 * over. */
int pj_snapshot_take(const char *path, struct pj_snapshot *ret_snapshot, struct pj_error **err);

/** The entry of `hash`, or NULL. */
const struct pj_snapshot_entry *pj_snapshot_find(const struct pj_snapshot *snapshot, uint64_t hash);

void pj_snapshot_free(struct pj_snapshot *snapshot);

enum pj_entry_state {
    PJ_ENTRY_SOUND,
    PJ_ENTRY_ABSENT,
    PJ_ENTRY_IN_THE_WAY, /* a directory, named pipe, socket or device has the name: it is not opened */
    PJ_ENTRY_UNREADABLE, /* it, or its hash directory, cannot be opened or read */
    PJ_ENTRY_EMPTY,      /* left by a killed store [cache-model 21] */
    PJ_ENTRY_TRUNCATED,  /* size is not 28 + key + payload */
    PJ_ENTRY_OTHER_FORMAT,
    PJ_ENTRY_NAME_WRONG,     /* the name is not the key's hash, or the key is none */
    PJ_ENTRY_CHECKSUM_WRONG, /* the driver recompiles it */
    PJ_ENTRY_PAYLOAD_WRONG,  /* right checksum, another module's content or none that loads: the driver
                                believes it and never compiles it again [cache-model 22] */
};

/** Judges a payload against its key: 0, or PJ_ERROR_FORMAT with what is proven wrong. pj_check_payload is the
 * one that is used; a function pointer, because the cache module knows neither ELF nor PTX. */
typedef int pj_payload_check(const void *payload, size_t size, const struct pj_cache_key *key,
                             struct pj_error **err);

/** Reads one entry file (relative to the open cache directory `cache_fd`, no links followed) and judges it.
 * *ret_message (free(), may be NULL) says what is wrong. `key_stamp` receives the stamp of a sound entry (""
 * otherwise). PJ_ERROR_NO_MEMORY is the only failure. */
int pj_entry_check(int cache_fd, uint64_t hash, pj_payload_check *check_payload,
                   enum pj_entry_state *ret_state, char ret_stamp[PJ_STAMP_MAX + 1], char **ret_message,
                   struct pj_error **err);

const char *pj_entry_state_text(enum pj_entry_state state);

#endif
