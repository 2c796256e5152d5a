/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest while it is being read; private to tool/manifest. */
#ifndef PREJIT_MANIFEST_READER_H
#define PREJIT_MANIFEST_READER_H

#include "manifest/check.h"
#include "manifest/manifest.h"

/** A module with the node that names it. */
struct pj_module_entry {
    struct pj_module module;
    const struct pj_yaml_node *name;
};

struct pj_reader {
    struct pj_manifest *manifest;
    struct pj_check check;
    struct pj_target_spec *targets; /* of the manifest */
    size_t target_count;
    struct pj_module_entry *items; /* modules so far; the three fields are those that PJ_ARRAY_PUSH takes */
    size_t count, capacity;
    struct pj_findings unsupported; /* right, but beyond this version */
    struct pj_findings undecided;   /* right, but not enough for pj_manifest_check_decided */
};

/** Reads one item of `modules`, expanding its glob; what is wrong becomes a finding. */
void pj_module_read(struct pj_reader *reader, const struct pj_yaml_node *node);

/** Fills in what a module of kind PJ_MODULE_SOURCE is made of, from the values of its keys;
 * manifest/inputs.c. */
void pj_source_read(struct pj_reader *reader, const struct pj_value *values, struct pj_module *module);

/** What cannot be right in the value of `nvrtc` becomes a finding; gives the node that names an architecture,
 * or NULL; manifest/nvrtc.c. */
const struct pj_yaml_node *pj_nvrtc_check(struct pj_findings *findings, const struct pj_value *value);

/** Fills in what the program takes from NVRTC; manifest/takes.c. `architecture`: as pj_nvrtc_check gave it.
 */
void pj_takes_read(struct pj_reader *reader, const struct pj_value *values,
                   const struct pj_yaml_node *architecture, struct pj_module *module);

/** The same for PJ_MODULE_LINK. */
void pj_link_read(struct pj_reader *reader, const struct pj_value *values, struct pj_module *module);

/** Finds names that several modules have. */
void pj_module_check_names(struct pj_reader *reader);

#endif
