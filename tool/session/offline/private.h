/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the offline run share. */
#ifndef PREJIT_SESSION_OFFLINE_PRIVATE_H
#define PREJIT_SESSION_OFFLINE_PRIVATE_H

#include "session/make/maker.h"
#include "session/offline/offline.h"

/** One entry of a unit: that of one profile's driver. */
struct pj_offline_entry {
    struct pj_outcome_entry entry;
    bool there;     /* in the cache: found, or committed */
    bool assembled; /* in the private folder, to be committed */
    bool ours;      /* made by this run */
};

/** What is compiled once: an image for a target with options, whatever jobs and profiles want it. */
struct pj_offline_unit {
    size_t job, index; /* one of the jobs, and which of its images */
    const struct pj_plan_image *image;
    uint16_t target;
    const char *option_text;
    struct pj_offline_entry *entries; /* parallel to the profiles */
    struct pj_making_part part;
    bool named; /* the entries' names are known: the image was what the plan saw */
    bool compiled;
    double compile_ms;
    uint64_t peak_rss_bytes;
    enum pj_verdict failure; /* NONE = it has not failed */
    const char *reason_code, *reason, *log;
};

struct pj_offline {
    struct pj_session *session;
    struct pj_profile *profiles;
    size_t profile_count;
    struct pj_offline_unit *units;
    size_t unit_count;
    size_t **job_units; /* per job: its units, one for each input that is PTX; NULL = none */
    size_t *job_unit_counts;
    struct pj_maker *maker;
    struct pj_making *makings; /* of the units that are compiled */
    size_t *owners;            /* parallel: their units */
    size_t making_count;
    enum pj_wire_library library;
    const char *compiler; /* "ptxas 13.0.88" */
    bool checked;         /* it is one that the profiles were proven with */
    int folder_fd;        /* private folder that entries are put together in; -1 = none so far */
    struct pj_buffer image_bytes, file_bytes;
    double ready_since_ms; /* of the oldest entry that is not committed; 0 = none */
};

/** Reads the profiles that were asked for, once each, and refuses those that cannot be used. */
int pj_offline_read_profiles(struct pj_offline *offline, struct pj_error **err);

/** The oldest CUDA version among the profiles' drivers: what is too new for it is too new. */
int pj_offline_cuda_version(const struct pj_offline *offline);

/** Refuses a cache that already holds entries where a profile was not proven beside them. */
int pj_offline_check_beside(const struct pj_offline *offline, struct pj_error **err);

/** Refuses a compiler that a profile was not proven with, or that is newer than its driver. */
int pj_offline_check_compiler(const struct pj_offline *offline, const struct pj_compiler *compiler,
                              const char *tool, struct pj_error **err);

/** Is it PTX, by itself or as a link's input? Each driver makes one entry of that, for each target. */
bool pj_offline_is_ptx(const struct pj_plan_image *image);

/** Reads the images and plans the jobs, sources prepared: what no profile covers has its fate. */
int pj_offline_plan(struct pj_offline *offline, struct pj_error **err);

/** Makes the units of the open jobs, with the names of their entries, and finds those that are there. */
int pj_offline_find(struct pj_offline *offline, struct pj_error **err);

/** Reads the bytes of a unit's image into offline->image_bytes; *ret_same: they are those of the plan. */
int pj_offline_read_image(struct pj_offline *offline, const struct pj_offline_unit *unit, bool *ret_same,
                          struct pj_error **err);

/** Is there something to compile for the unit? */
bool pj_offline_is_missing(const struct pj_offline *offline, const struct pj_offline_unit *unit);

/** Starts the compiler that an offline run takes. */
int pj_offline_open_compiler(struct pj_offline *offline, struct pj_error **err);

/** Compiles what is missing. What becomes of each order is taken as it comes. */
int pj_offline_compile(struct pj_offline *offline, struct pj_error **err);

/** The arguments of the compiler for a unit, in the session's arena. *ret_refusal: why there are none. */
int pj_offline_arguments(const struct pj_offline *offline, const struct pj_offline_unit *unit,
                         const char ***ret_arguments, size_t *ret_count, const char **ret_refusal,
                         struct pj_error **err);

/** Checks what was made for a unit, and puts its entries together in the private folder. */
int pj_offline_take_made(struct pj_offline *offline, struct pj_offline_unit *unit, struct pj_making *making,
                         struct pj_error **err);

/** Commits what was put together, profile by profile. */
int pj_offline_commit(struct pj_offline *offline, struct pj_error **err);

/** After the last commit: what got lost meanwhile goes in once more. */
int pj_offline_check_listed(struct pj_offline *offline, struct pj_error **err);

/** The jobs' outcomes, from what became of their units. */
int pj_offline_settle(struct pj_offline *offline, struct pj_error **err);

#endif
