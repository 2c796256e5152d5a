/* SPDX-License-Identifier: Apache-2.0 */
/* What is known, and was proven, of one build of the driver: enough to write cache entries that it takes for
 * its own. */
#ifndef PREJIT_PROFILE_PROFILE_H
#define PREJIT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/isa.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    PJ_PROFILE_VERSION = 1,         /* of the file's format */
    PJ_PROFILE_MAX_BYTES = 1000000, /* of a file */
    PJ_PROFILE_STAMP_MAX = 63,      /* characters, as in the cache module's keys */
    PJ_PROFILE_MAX_COMPILERS = 64,
    PJ_PROFILE_MAX_CASES = 1000000,
    PJ_PROFILE_BUILD_MAX = 95,
    PJ_PROFILE_TEXT_MAX = 200, /* bytes of a free text */
};

/** Ways to an entry, each proven by itself: its name, key and checksum predicted, and an entry that prejit
 * assembled loaded and run with JIT disabled. */
enum pj_profile_kind {
    PJ_PROFILE_PLAIN, /* PTX without options */
    PJ_PROFILE_ONE_OPTION,
    PJ_PROFILE_OPTIONS, /* several */
    PJ_PROFILE_LINK,    /* an input of the driver's linker, with and without options */
    PJ_PROFILE_FATBIN,  /* PTX in a fatbin: stored, packed with LZ4 and with zstd */
    PJ_PROFILE_FOREIGN, /* for an architecture that the machine does not have: name, key and checksum alone */
    PJ_PROFILE_BESIDE,  /* into a cache with a valid index, beside entries of the driver's, which stayed */
    PJ_PROFILE_KIND_COUNT
};

/** "plain", "one-option", …: as the file spells them. */
const char *pj_profile_kind_name(enum pj_profile_kind kind);

/** A compiler that the profile was made with. */
struct pj_profile_compiler {
    const char *tool;    /* "ptxas", "nvjitlink" */
    const char *version; /* "13.0.88" */
    const char *build; /* of ptxas, as it tells it: "cuda_13.0.r13.0/compiler.36424714_0"; NULL = not told */
    bool same_code;    /* its .text sections are the driver's, byte for byte, in every case tried */
    unsigned cases, same; /* how many were compared, and were the same: `same_code` is `same == cases` */
};

struct pj_profile {
    const char *name;           /* where it was read from, for messages */
    const char *driver_version; /* "580.159.04" */
    int cuda_version;           /* 13000 = 13.0 */
    const char *stamp;          /* 1 to PJ_PROFILE_STAMP_MAX characters, ' ' to '~' */
    unsigned cache_format;
    struct pj_isa ptx_isa; /* the newest that the driver takes */
    uint16_t *archs;       /* that it compiles for, ascending */
    size_t arch_count;
    bool proven[PJ_PROFILE_KIND_COUNT];
    struct pj_profile_compiler *compilers;
    size_t compiler_count;
    const char *made_on;   /* "2026-11-30" */
    const char *made_with; /* "prejit 0.1.0" */
    const char *gpu;       /* "NVIDIA H200" */
};

/** Reads a profile: all faults of a well-formed file at once, each "file:line:column: what was read, what is
 * allowed". Of a file of another version than PJ_PROFILE_VERSION nothing but that is said. Everything in
 * *ret_profile lives in `arena`. PJ_ERROR_MANIFEST, or PJ_ERROR_NO_MEMORY. */
int pj_profile_parse(const char *bytes, size_t size, const char *name, struct pj_arena *arena,
                     struct pj_profile *ret_profile, struct pj_error **err);

/** `given` is the version of a driver whose profile is built in ("580.159.04"), or else the path of a file;
 * one whose name looks like a version is reached by `./580.159.04`. A version without a profile:
 * PJ_ERROR_USAGE that lists those there are. A file that cannot be read: PJ_ERROR_MANIFEST. */
int pj_profile_load(const char *given, struct pj_arena *arena, struct pj_profile *ret_profile,
                    struct pj_error **err);

/** Appends the YAML text that pj_profile_parse reads, with a head that says what it is: fit to be kept in
 * manifests/drivers. `name` and `same_code` are not part of it. What pj_profile_parse would refuse (a stamp
 * that is too long, an architecture twice) is not written: PJ_ERROR_INTERNAL, which holds what it would say.
 */
int pj_profile_write(const struct pj_profile *profile, struct pj_buffer *text, struct pj_error **err);

/** The profiles that are built in: drivers' versions, ascending as text, NULL-terminated. */
const char *const *pj_profile_built_in(void);

/** What the profile says of that compiler; NULL where it was not made with it. */
const struct pj_profile_compiler *pj_profile_compiler_find(const struct pj_profile *profile, const char *tool,
                                                           const char *version);

/** Does its driver compile for devices of that number (90 for 9.0)? */
bool pj_profile_has_arch(const struct pj_profile *profile, uint16_t number);

#endif
