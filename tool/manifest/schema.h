/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's keys, as one table: parsing, checks, help, the reference page and the JSON Schema read it.
 */
#ifndef PREJIT_MANIFEST_SCHEMA_H
#define PREJIT_MANIFEST_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/** A mapping of the manifest and the keys it may have. */
enum pj_schema_section {
    PJ_SECTION_ROOT,
    PJ_SECTION_CACHE,
    PJ_SECTION_VERIFY,
    PJ_SECTION_MODULE,
    PJ_SECTION_OPTIONS, /* its keys are arch/options.h's table */
    PJ_SECTION_COUNT,
};

enum pj_schema_type {
    PJ_TYPE_INTEGER,      /* a whole number from minimum to maximum */
    PJ_TYPE_NUMBER,       /* a decimal number above 0, at most maximum */
    PJ_TYPE_BOOLEAN,      /* true or false */
    PJ_TYPE_SIZE,         /* bytes, with or without a unit, from minimum to maximum */
    PJ_TYPE_CHOICE,       /* one of `choices` */
    PJ_TYPE_NAME,         /* the name of a module */
    PJ_TYPE_TEXT,         /* text without control characters */
    PJ_TYPE_PATH,         /* one path */
    PJ_TYPE_PATH_OR_GLOB, /* one path, or a pattern */
    PJ_TYPE_DIGEST,       /* a SHA-256 in hex */
    PJ_TYPE_TARGETS,      /* a list of what pj_target_parse takes */
    PJ_TYPE_TEXTS,        /* a list of texts */
    PJ_TYPE_PATHS,        /* a list of paths, at most `maximum`, no two the same */
    PJ_TYPE_PATH_MAP,     /* a mapping of include names to paths, at most `maximum` */
    PJ_TYPE_SECTION,      /* a mapping: `section` */
    PJ_TYPE_SECTIONS,     /* a list of mappings: `section` */
};

/* Index of a key within its section's table. */
enum pj_root_key {
    PJ_ROOT_VERSION,
    PJ_ROOT_CACHE,
    PJ_ROOT_TARGETS,
    PJ_ROOT_VERIFY,
    PJ_ROOT_MODULES,
    PJ_ROOT_KEY_COUNT
};
enum pj_cache_key { PJ_CACHE_PATH, PJ_CACHE_MAX_SIZE, PJ_CACHE_KEY_COUNT };
enum pj_verify_key { PJ_VERIFY_SAMPLES, PJ_VERIFY_MAX_WARM_MS, PJ_VERIFY_MIN_SPEEDUP, PJ_VERIFY_KEY_COUNT };
enum pj_module_key {
    PJ_MODULE_KEY_NAME,
    PJ_MODULE_KEY_PTX, /* these four say what kind of module it is, in the order of enum pj_module_kind */
    PJ_MODULE_KEY_SOURCE,
    PJ_MODULE_KEY_LINK,
    PJ_MODULE_KEY_BINARY,
    PJ_MODULE_KEY_TARGETS,
    PJ_MODULE_KEY_OPTIONS,
    PJ_MODULE_KEY_KERNELS,
    PJ_MODULE_KEY_SHA256,
    PJ_MODULE_KEY_REQUIRED,
    PJ_MODULE_KEY_NVRTC,
    PJ_MODULE_KEY_PROGRAM_NAME,
    PJ_MODULE_KEY_HEADERS,
    PJ_MODULE_KEY_NAME_EXPRESSIONS,
    PJ_MODULE_KEY_TAKES,
    PJ_MODULE_KEY_LINKER,
    PJ_MODULE_KEY_NVJITLINK,
    PJ_MODULE_KEY_COUNT
};

/** More keys than any section has. */
enum { PJ_SCHEMA_MAX_KEYS = 32 };

enum { PJ_MANIFEST_VERSION = 1, PJ_MODULE_NAME_MAX_BYTES = 200 };

struct pj_schema_key {
    const char *name;
    enum pj_schema_type type;
    bool required;
    bool later;     /* parsed and checked, and not supported by this version */
    unsigned kinds; /* of a module: bit per enum pj_module_kind that it goes with; 0 = all */
    uint64_t minimum, maximum;
    const char *const *choices;
    const uint32_t *choice_values; /* what each choice stands for; NULL: its index */
    size_t choice_count;
    enum pj_schema_section section;
    const char *default_text; /* NULL: nothing is assumed */
    const char *help;         /* one sentence */
    const char *example;      /* one line, as the manifest has it */
};

/** How many keys a section has. */
size_t pj_schema_count(enum pj_schema_section section);

/** The key number `index` of `section`. */
struct pj_schema_key pj_schema_key(enum pj_schema_section section, size_t index);

/** Index of `name` within `section`, or -1. */
int pj_schema_find(enum pj_schema_section section, const char *name);

/** "the manifest", "`cache`", "a module", …: how messages call a section. */
const char *pj_schema_section_name(enum pj_schema_section section);

/** Is `maximum` the most items that the key's value may have? */
bool pj_schema_counts(const struct pj_schema_key *key);

/** Appends what the key may have for a value: "a whole number from 1 to 16". */
void pj_schema_allowed(const struct pj_schema_key *key, struct pj_buffer *buffer);

/** A CUjit_option that a manifest cannot have, with the reason as the end of a sentence that begins with its
 * name; and the count of all. */
struct pj_refused_option {
    const char *name;
    const char *reason;
};
const struct pj_refused_option *pj_schema_refused_options(size_t *ret_count);

#endif
