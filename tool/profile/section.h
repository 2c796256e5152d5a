/* SPDX-License-Identifier: Apache-2.0 */
/* Private to profile: a mapping against the table of its keys. */
#ifndef PREJIT_PROFILE_SECTION_H
#define PREJIT_PROFILE_SECTION_H

#include "profile/profile.h"
#include "yaml/findings.h"

/** Where values go while a profile is read. Running out of memory sticks in `findings`. */
struct pj_profile_reader {
    struct pj_arena *arena;
    struct pj_findings findings;
    struct pj_profile profile;
    struct pj_profile_compiler *compiler;                          /* the one whose keys are read */
    const struct pj_yaml_node *kinds[PJ_PROFILE_KIND_COUNT];       /* where each kind was named */
    const struct pj_yaml_node *proven, *not_proven, *cases, *same; /* values; NULL until they were right */
};

/** One key, which must be given, and be of `kind` and not empty. */
struct pj_profile_key {
    const char *name;
    enum pj_yaml_kind kind;
    bool may_be_empty;   /* a list without items; of a value: it need not be given */
    const char *allowed; /* completes "allowed is …" */
    const char *example; /* of the value */
    /** Reads a value of that kind; what is wrong becomes a finding. */
    void (*read)(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                 const struct pj_yaml_node *node);
};

struct pj_profile_section {
    const char *name; /* "the profile", "`driver`" */
    const struct pj_profile_key *keys;
    size_t count; /* at most PJ_PROFILE_SECTION_KEYS */
};

enum { PJ_PROFILE_SECTION_KEYS = 9 };

/** Reads all values of a node that should be a mapping of `section`. */
void pj_profile_section_read(struct pj_profile_reader *reader, const struct pj_profile_section *section,
                             const struct pj_yaml_node *node);

/** Adds "`key`: read X; allowed is Y, for example `Z`", with "; advice" where that is not NULL. */
void pj_profile_refuse(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                       const struct pj_yaml_node *node, const char *advice);

/** Values of the lists. */
void pj_profile_read_archs(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                           const struct pj_yaml_node *node);
void pj_profile_read_proven(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                            const struct pj_yaml_node *node);
void pj_profile_read_not_proven(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                                const struct pj_yaml_node *node);
void pj_profile_read_compilers(struct pj_profile_reader *reader, const struct pj_profile_key *key,
                               const struct pj_yaml_node *node);

/** After both lists: is every kind in one of them? */
void pj_profile_check_kinds(struct pj_profile_reader *reader);

#define PJ_PROFILE_VERSION_ALLOWED "two to four numbers joined by points"
#define PJ_PROFILE_KINDS_ALLOWED                                                                             \
    "a list of `plain`, `one-option`, `options`, `link`, `fatbin`, `foreign` and `beside`, which may be "    \
    "empty"

#endif
