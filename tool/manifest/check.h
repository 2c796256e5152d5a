/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a mapping's values by the schema table: keys, types and ranges, but nothing that takes two keys. */
#ifndef PREJIT_MANIFEST_CHECK_H
#define PREJIT_MANIFEST_CHECK_H

#include "arch/target.h"
#include "base/digest.h"
#include "manifest/schema.h"
#include "yaml/findings.h"

/** Where findings go, and the arena that values are allocated in. */
struct pj_check {
    struct pj_arena *arena;
    struct pj_findings findings;
};

/** One key's value. `node` is NULL where the key is absent; `ok` says that the value is a right one. */
struct pj_value {
    const struct pj_yaml_node *node;
    bool ok;
    uint64_t integer; /* INTEGER, SIZE, BOOLEAN (0, 1), CHOICE (its value) */
    double number;    /* NUMBER */
    const char *text; /* NAME, TEXT, PATH, PATH_OR_GLOB; lives in the arena of the nodes */
    struct pj_sha256 digest;
    const char **texts; /* TEXTS, PATHS; PATH_MAP: the paths */
    const char **names; /* PATH_MAP: the name of each path */
    struct pj_target_spec *targets;
    size_t count; /* of texts or targets */
};

/** Fills `values`, one for each key of `section`, from a node that should be a mapping of it; what is wrong
 * becomes a finding. False where `node` is no mapping. Values of type SECTION and SECTIONS are checked
 * for being a mapping or a list; their inside is the caller's. */
bool pj_check_section(struct pj_check *check, const struct pj_yaml_node *node, enum pj_schema_section section,
                      struct pj_value values[PJ_SCHEMA_MAX_KEYS]);

/** Reads one value; manifest/value.c. */
void pj_check_value(struct pj_check *check, const struct pj_schema_key *key, const struct pj_yaml_node *node,
                    struct pj_value *value);

/** What makes `text` no name of a module, as the end of a sentence ("holds `@`, …"); NULL for a good one. */
const char *pj_check_name(struct pj_findings *findings, const char *text);

/** Adds "`key`: read X; allowed is Y, for example `Z`", with "; advice" where that is not NULL. */
void pj_check_refuse(struct pj_check *check, const struct pj_schema_key *key, const struct pj_yaml_node *node,
                     const char *advice);

#endif
