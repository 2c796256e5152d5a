/* SPDX-License-Identifier: Apache-2.0 */
/* One making of a profile: cases, what the driver and the compilers made of them, and what was proven. */
#ifndef PREJIT_SESSION_PROFILE_PROFILE_H
#define PREJIT_SESSION_PROFILE_PROFILE_H

#include "session/profile/cases.h"

enum { PJ_PROFILE_TEXTS_MAX = 2, PJ_PROFILE_COMPILERS_MAX = 2 };

/** One case and what is known of it. */
struct pj_profile_trial {
    const struct pj_profile_case *of;
    uint16_t arch;                                   /* that its entries are for */
    const char *option_text;                         /* as in the key */
    struct pj_buffer payloads[PJ_PROFILE_TEXTS_MAX]; /* what the driver made of each text */
    struct pj_buffer cubins[PJ_PROFILE_TEXTS_MAX];   /* what ptxas made */
    bool unknown_arch;                               /* the driver does not compile for it: no case then */
    bool predicted; /* name, key and checksum of every entry are as predicted */
    bool ran; /* entries that prejit assembled from ptxas' cubins loaded with JIT disabled, and computed right
               */
    bool other_code[PJ_PROFILE_COMPILERS_MAX]; /* that compiler made it, and other code than the driver */
    const char *problem;                       /* why not, one line; NULL = all is well */
};

struct pj_profile_work {
    struct pj_profile_fatbins fatbins;
    const struct pj_profile_options *options;
    struct pj_trial trial;
    const char *stamp;
    struct pj_profile_trial *trials;
    size_t count;
    struct pj_profile profile;
    bool canary_held; /* the load that must fail did */
};

/** Learns the stamp from the entry that the driver makes of the plain case. PJ_ERROR_ENVIRONMENT where the
 * driver writes another format than the known one. */
int pj_profile_learn(struct pj_profile_work *work, struct pj_error **err);

/** The driver compiles every case; its entries are compared with those predicted, byte for byte. */
int pj_profile_predict(struct pj_profile_work *work, struct pj_error **err);

/** ptxas and nvJitLink compile every case; their code is compared with the driver's. PJ_ERROR_ENVIRONMENT
 * where there is no ptxas. */
int pj_profile_compile(struct pj_profile_work *work, struct pj_error **err);

/** Entries assembled from ptxas' cubins, in a cache of their own and beside the driver's, are loaded and run.
 */
int pj_profile_run(struct pj_profile_work *work, struct pj_error **err);

/** The name that the entry of text number `index` has, as it is predicted. */
uint64_t pj_profile_entry_hash(const struct pj_profile_work *work, const struct pj_profile_trial *trial,
                               size_t index);

/** Its file with that payload, and the name that it gives. */
int pj_profile_entry_assemble(const struct pj_profile_work *work, const struct pj_profile_trial *trial,
                              size_t index, const struct pj_buffer *payload, struct pj_buffer *ret_file,
                              uint64_t *ret_hash, struct pj_error **err);

/** Notes why a case is not proven; the first reason stays. */
int pj_profile_problem(struct pj_profile_work *work, struct pj_profile_trial *trial, struct pj_error **err,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
