/* SPDX-License-Identifier: Apache-2.0 */
/* What the store's files share: its state, the index under lock, and rounds of steps. */
#ifndef PREJIT_CACHE_STORE_PRIVATE_H
#define PREJIT_CACHE_STORE_PRIVATE_H

#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "cache/entry.h"
#include "cache/store.h"

/** A hold ends after this time: programs give up after 200 ms of being kept out. */
#define PJ_STORE_HOLD_MS 5.0
/** So long a wait for `index` means that somebody is stuck with the lock. */
#define PJ_STORE_INDEX_WAIT_MS 30000.0
/** So long a wait means that readers without pause starve us. */
#define PJ_STORE_STARVED_MS 300.0

struct pj_store_folder {
    char *name, *path;
};

struct pj_hashes {
    uint64_t *items;
    size_t count, capacity;
};

struct pj_store {
    struct pj_store_options options;
    char *path;
    int lock_fd; /* carries the run lock */
    int cache_fd, prejit_fd, run_fd, stage_fd;
    char *run_name;
    struct {
        struct pj_store_folder *items;
        size_t count, capacity;
    } folders;
    struct pj_hashes kept;    /* entries of this run, never evicted by it */
    struct pj_hashes refused; /* entries of this run that found no room, each once */
    uint64_t refused_bytes;   /* as the index counts them: less their headers */

    /* The live index. Everything but the descriptor is valid only between acquire and release. */
    int index_fd;
    struct stat index_status;
    struct pj_buffer index_bytes;
    struct pj_index index;
    enum pj_index_state index_state;
    double held_since_ms;
    bool no_preallocation;         /* the file system cannot */
    struct pj_index_record *fresh; /* the records to be, room kept between rounds */
    size_t fresh_capacity;

    /* Set when an invalid index was made valid under the lock: the entries are still to be listed. */
    bool rebuild_needed;
    struct {
        struct pj_index_record *items;
        size_t count, capacity;
    } former; /* readable records of that index: the order of storing */

    struct pj_store_statistics statistics;
};

/** Calls the test hook. */
void pj_store_point(const struct pj_store *store, const char *point);

/* index_file.c: the live index */

/** Opens or makes `index`, locks it, reads it. On success the lock is held. */
int pj_index_file_acquire(struct pj_store *store, bool exclusive, enum pj_index_state *ret_found,
                          struct pj_error **err);
void pj_index_file_release(struct pj_store *store);

/** Milliseconds since the lock was had. */
double pj_index_file_held_ms(const struct pj_store *store);

/** Under the exclusive lock: an index that is not valid becomes a valid one of count 0, which protects every
 * file, and rebuild_needed is set. PJ_ERROR_ENVIRONMENT for a format that is not known. */
int pj_index_file_make_valid(struct pj_store *store, struct pj_error **err);

/** Makes the file long enough for `records`, so that later writes change no size. Gives the lock back and
 * takes it again where it had to flush: the index may be another then. */
int pj_index_file_grow(struct pj_store *store, size_t records, struct pj_error **err);

/** Under the exclusive lock: writes store->fresh[0..count) in place of the records, never passing through an
 * invalid state. */
int pj_index_file_replace(struct pj_store *store, size_t count, struct pj_error **err);

/** Is the file behind the name still the one that is open? */
bool pj_index_file_is_same(const struct pj_store *store);

/** The hashes that the index lists, in its order, read under a shared lock. */
int pj_index_file_hashes(struct pj_store *store, struct pj_hashes *ret_hashes, struct pj_error **err);

/* takeover.c */

/** Has a locked copy take the place of `index`, for a writer that readers keep out. On success the lock is
 * held. */
int pj_index_file_take_over(struct pj_store *store, struct pj_error **err);

/* round.c: changes to index and files, in holds of limited time */

enum pj_step_kind {
    PJ_STEP_INSTALL, /* rename the staged file into place, list it */
    PJ_STEP_LIST,    /* list a file that is there, as it was when it was looked at */
    PJ_STEP_DROP,    /* take out a record whose file is missing */
    PJ_STEP_SWEEP,   /* remove an empty file, and its record */
    PJ_STEP_REMOVE,  /* remove file and record */
};

enum pj_step_outcome {
    PJ_STEP_WAITING,
    PJ_STEP_DONE,
    PJ_STEP_KEPT,    /* INSTALL: a sound one was there, and is listed */
    PJ_STEP_CHANGED, /* the file is no longer as it was looked at: nothing was done */
    PJ_STEP_NO_ROOM,
    PJ_STEP_IN_THE_WAY, /* INSTALL: something that is no file has the name */
};

struct pj_step {
    uint64_t hash;
    enum pj_step_kind kind;
    enum pj_step_outcome outcome;
    uint64_t file_bytes;   /* INSTALL: of the staged file */
    int64_t mtime_seconds; /* out: of the file that is listed */
    bool seen_sound;       /* INSTALL: the present file was read and is sound */
    struct stat seen;      /* INSTALL with seen_sound, LIST: the file as it was looked at */
    ino_t staged_inode;    /* INSTALL */
    int folder;            /* descriptor of the hash directory while the step is carried out, -1 = absent */
    size_t position;       /* in the index, PJ_STEP_UNLISTED where it is not */
    bool listed_twice;
};
#define PJ_STEP_UNLISTED SIZE_MAX

/** Entries that may go for others, in two orders of preference. */
struct pj_room {
    struct pj_hashes stale, own;
    uint64_t stale_gone, own_gone; /* counted here during the round */
};

/** Carries out the steps in their order. NO_ROOM where the limit is in the way and `room` (NULL: nothing may
 * go) does not help. */
int pj_round_run(struct pj_store *store, struct pj_step *steps, size_t count, struct pj_room *room,
                 struct pj_error **err);

/* room.c */

/** Finds the entries that may go: of other builds than `stamp`, and with --evict of this one. */
int pj_room_collect(struct pj_store *store, const char *stamp, struct pj_room *ret_room,
                    struct pj_error **err);
void pj_room_free(struct pj_room *room);

/* stage.c: S2 */

/** Name of the staged file in store->stage_fd. */
enum { PJ_STAGE_NAME_TEXT = 17 };
char *pj_stage_name(uint64_t hash, char ret_name[PJ_STAGE_NAME_TEXT]);

/** Checks the entry `hash` in the folder and stages it for a round. *ret_message is set, and no step made,
 * where the entry was rejected. `stamp` NULL: any. */
int pj_stage_entry(struct pj_store *store, int folder_fd, uint64_t hash, const char *stamp,
                   struct pj_step *ret_step, char **ret_message, struct pj_error **err);

/** Removes what is left of the staged file. */
void pj_stage_remove(const struct pj_store *store, uint64_t hash);

/** Gives the file the mode and the group of the entries that are there. */
void pj_stage_like_entries(const struct pj_store *store, int fd);

/* commit.c */

/** S4: everything to disk. */
int pj_store_flush(const struct pj_store *store, struct pj_error **err);

/* prepare.c */

/** Sweeps empty files, drops records without a file, and lists every sound file that is not listed, in the
 * order of storing. `done` may be NULL. */
int pj_store_adopt(struct pj_store *store, struct pj_store_preparation *done, struct pj_error **err);

/* harvest.c */
int pj_store_harvest(struct pj_store *store, struct pj_store_preparation *done, struct pj_error **err);

/* run.c: run folders and who they belong to */

/** Start time of a process in clock ticks; false where there is none or it cannot be told. */
bool pj_run_start_time(long pid, uint64_t *ret_ticks);
/** Takes "run-<pid>-<ticks>", perhaps with ".<n>" behind it, apart. */
bool pj_run_name_parse(const char *name, long *ret_pid, uint64_t *ret_ticks, bool *ret_superseded);
/** Does the process of this run folder still live? */
bool pj_run_is_alive(const char *name);
/** Pid of a living run on this cache, 0 where none is known. */
long pj_run_find_holder(int prejit_fd);

/** Appends; PJ_ERROR_NO_MEMORY. */
int pj_hashes_add(struct pj_hashes *hashes, uint64_t hash, struct pj_error **err);
void pj_hashes_sort(struct pj_hashes *hashes);
/** In a sorted array. */
bool pj_hashes_contain(const struct pj_hashes *hashes, uint64_t hash);
void pj_hashes_free(struct pj_hashes *hashes);

#endif
