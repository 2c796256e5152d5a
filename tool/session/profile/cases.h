/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is proven with: small kernels whose results are known, in every way that leads to an entry.
 */
#ifndef PREJIT_SESSION_PROFILE_CASES_H
#define PREJIT_SESSION_PROFILE_CASES_H

#include "profile/profile.h"
#include "session/profile/trial.h"

/** One way to an entry. */
struct pj_profile_case {
    const char *title; /* for people: "max_registers=64" */
    enum pj_profile_kind kind;
    struct pj_trial_load load;
    const struct pj_buffer *key_image; /* what of load.image stands in the key; NULL = the text does */
};

/** The kernel that all cases have, and what it computes of in[i] = i. */
#define PJ_PROFILE_KERNEL "axpb"
int32_t pj_profile_expected(uint32_t i);

/** How the PTX of a fatbin is packed in the cases. */
enum { PJ_PROFILE_FATBINS = 3 };

/** Fatbins that cases are made of. Zero-initialised it holds none. */
struct pj_profile_fatbins {
    struct pj_buffer bytes[PJ_PROFILE_FATBINS]; /* of the texts */
    const char *texts[PJ_PROFILE_FATBINS];
    struct pj_buffer images[PJ_PROFILE_FATBINS], key_images[PJ_PROFILE_FATBINS];
};

int pj_profile_fatbins_make(struct pj_profile_fatbins *fatbins, struct pj_error **err);
void pj_profile_fatbins_free(struct pj_profile_fatbins *fatbins);

/** Every case, in `arena`: the plain one first, then one with another entry for `own`; those of foreign
 * architectures for every architecture but `own`. They point to `fatbins`. */
int pj_profile_cases(uint16_t own, const struct pj_profile_fatbins *fatbins, struct pj_arena *arena,
                     struct pj_profile_case **ret_cases, size_t *ret_count, struct pj_error **err);

/** Another module than those of the cases, to be stored beside them. */
struct pj_trial_load pj_profile_other_load(void);

#endif
