/* SPDX-License-Identifier: Apache-2.0 */
/* The only writer into a cache directory: run lock, repair of the index, private folders for compile workers,
 * commit rounds.
 *
 * Order of use: open (run lock) → prepare (S0: index made valid, dead runs harvested) → folder for each
 * worker (S1) → commit in rounds (S2, S3, S4) → check (S5) → close (S8). The names S0 to S8 are those of
 * docs/design/commit.md. */
#ifndef PREJIT_CACHE_STORE_H
#define PREJIT_CACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/snapshot.h"

struct pj_store;

struct pj_store_options {
    const char *path; /* absolute path of the cache directory; created where missing (0700 less the umask) */
    uint64_t limit_bytes; /* the cap that programs will use */
    const char
        *limit_manifest; /* the manifest that sets the cap; NULL = CUDA_CACHE_MAXSIZE does, or nobody */
    bool evict;          /* --evict: entries of this build may go when room is short */
    double lock_wait_ms; /* how long to wait for another prejit; 0 = not at all */
    pj_payload_check *check_payload; /* required */
    /* Called once when another run holds the lock, with its pid (0 = not known); may be NULL. */
    void (*on_wait)(void *context, long pid);
    /* Asked again and again while it waits for another run; true ends the wait with PJ_ERROR_INTERRUPTED.
     * NULL = never. */
    bool (*is_interrupted)(void *context);
    void *context;
    /* Test hook: called at each named point ("S0.index-created", "S3.renamed", …); NULL outside tests. */
    void (*at_point)(void *context, const char *point);
};

/** Takes the run lock (flock on the directory, a lock file `.prejit/lock` where that is refused).
 * PJ_ERROR_BUSY, naming the holder, where it was not had in time; PJ_ERROR_ENVIRONMENT where the directory
 * cannot be used (not a directory, not writable, a link below it). */
int pj_store_open(const struct pj_store_options *options, struct pj_store **ret_store, struct pj_error **err);

/** What prepare found and did. */
struct pj_store_preparation {
    enum pj_index_state index_found;
    bool index_repaired;      /* rebuilt from the sound entries */
    size_t entries_adopted;   /* sound, not listed before: now listed */
    size_t entries_harvested; /* taken over from runs that died */
    size_t rubbish_removed;   /* empty entry files and folders of dead runs */
    bool can_commit;          /* false: unknown format; in_place_danger says what in-place work would risk */
    size_t in_place_danger;   /* entry files that a driver of another format could delete; 0 = none */
    size_t records_dropped;   /* records without a file, taken out of the index */
    /* Of the files that were not listed, and so were read: */
    size_t entries_unsound;   /* left where they are, unlisted; the driver rewrites them */
    size_t entries_dangerous; /* PJ_ENTRY_PAYLOAD_WRONG: unlisted too, but believed at every load until
                                 pj_store_remove */
    uint64_t dangerous_hash;  /* one of those */
};

/** S0 and the harvest of dead runs' folders `.prejit/run-<pid>-<starttime>/`. Takes over what passes the
 * checks of S2, removes the rest. */
int pj_store_prepare(struct pj_store *store, struct pj_store_preparation *ret_done, struct pj_error **err);

/** Makes (once) and names the private cache folder number `i` of this run: absolute path, owned by the store.
 */
int pj_store_private_folder(struct pj_store *store, size_t i, const char **ret_path, struct pj_error **err);

/** Any further folder of this run by name ("stamp", "canary"). */
int pj_store_named_folder(struct pj_store *store, const char *name, const char **ret_path,
                          struct pj_error **err);

enum pj_commit_result {
    PJ_COMMIT_PENDING,
    PJ_COMMIT_STORED,    /* ours is in the cache and listed */
    PJ_COMMIT_PRESENT,   /* a sound one was there already; ours was dropped */
    PJ_COMMIT_REJECTED,  /* failed the checks of S2; message says why */
    PJ_COMMIT_TOO_LARGE, /* does not fit under the cap */
    PJ_COMMIT_DISK_FULL, /* the disk takes no more; its private file is gone, which made room for others */
};

/** One entry to commit: where it lies and what it must be. */
struct pj_commit_item {
    uint64_t hash; /* expected; the file lies in the private folder under pj_entry_path(hash) */
    size_t folder; /* number of the private folder */
    enum pj_commit_result result;
    uint64_t file_bytes; /* size of the entry file, set with STORED and PRESENT */
    int64_t mtime_seconds;
    char *message; /* free(); why REJECTED */
};

/** S2 for each PENDING item, then S3 in one locked round (several where it would hold the lock for long),
 * then S4. `stamp` is the driver's; entries of another are stale and go first when room is short. Items'
 * results are set; negative where the round itself failed: what passed S2 stays PENDING and can be tried
 * again, which finds what got through before as PRESENT or stores it. An item also stays PENDING where
 * somebody removed its file at once, and the second of two items of one hash. PJ_ERROR_ENVIRONMENT where
 * `index` is of a format that is not known. */
int pj_store_commit(struct pj_store *store, const char *stamp, struct pj_commit_item *items, size_t count,
                    struct pj_error **err);

/** S5: is the entry listed with the file's size? Sets `ret_listed[i]` for each hash, under one shared lock.
 */
int pj_store_listed(struct pj_store *store, const uint64_t *hashes, size_t count, bool *ret_listed,
                    struct pj_error **err);

/** Removes one entry file that a check found to be PJ_ENTRY_PAYLOAD_WRONG (or otherwise unsound) together
 * with its record, under the lock. */
int pj_store_remove(struct pj_store *store, uint64_t hash, struct pj_error **err);

/** This run relies on the entry: it does not make room by removing it, whatever build it is of. */
int pj_store_keep(struct pj_store *store, uint64_t hash, struct pj_error **err);

/** Why entries of this run are TOO_LARGE, one sentence for all of them so far: how many and how large they
 * are, what the cache holds, which limit has room for all, and --evict where that would do. *ret_message:
 * free(). */
int pj_store_why_too_large(struct pj_store *store, char **ret_message, struct pj_error **err);

/** Figures of this run. */
struct pj_store_statistics {
    uint64_t total_bytes, entries; /* as the index says now */
    size_t stale_evicted, evicted; /* entries of other builds; of this build (--evict) */
    size_t lock_holds;
    double longest_hold_ms, longest_wait_ms;
};
void pj_store_statistics(const struct pj_store *store, struct pj_store_statistics *ret_statistics);

/** Descriptor of the cache directory, valid until close. */
int pj_store_directory(const struct pj_store *store);

/** Has a run that is over left its folder in the cache directory `path`? It takes a store to be prepared to
 * have it removed. */
bool pj_store_has_dead_run(const char *path);

/** Does another run work in the cache directory `path` now? Sets its process number; false also where
 * the directory cannot be read. Takes no lock. */
bool pj_store_has_live_run(const char *path, long *ret_pid);

/** S8, the first half: removes the run's folder while the lock is still held. Before the receipt (S7) is
 * written: a run that is killed between the two then leaves no receipt, never a receipt and a folder.
 * PJ_ERROR_IO where something of it stays. */
int pj_store_remove_run_folder(struct pj_store *store, struct pj_error **err);

/** S8: removes the run's folder, gives the lock back, frees. Accepts NULL. Keeps the folder where
 * `keep_folder` (something in it was not committed). */
void pj_store_close(struct pj_store *store, bool keep_folder);

#endif
