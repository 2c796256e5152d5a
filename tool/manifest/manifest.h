/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest: what to warm, for which targets, into which cache. Parsed and checked, globs expanded. */
#ifndef PREJIT_MANIFEST_MANIFEST_H
#define PREJIT_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/options.h"
#include "arch/target.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"

enum pj_module_kind {
    PJ_MODULE_PTX,
    PJ_MODULE_SOURCE,
    PJ_MODULE_LINK,
    PJ_MODULE_BINARY, /* parsed; not supported by this version */
};

/** Which linker the program of a PJ_MODULE_LINK uses. */
enum pj_linker {
    PJ_LINKER_DRIVER,    /* cuLinkCreate and its like: an entry for each input [5] */
    PJ_LINKER_NVJITLINK, /* a cubin that the program loads, or with -ptx PTX that the driver compiles */
};

/** What the program of a PJ_MODULE_SOURCE takes from NVRTC. */
enum pj_takes {
    PJ_TAKES_PTX,   /* nvrtcGetPTX: the driver compiles it */
    PJ_TAKES_CUBIN, /* nvrtcGetCUBIN: NVRTC has compiled it */
};

/** A header that a program hands to nvrtcCreateProgram in memory: the name that `#include` finds it by, and
 * the file that its text comes from, as opened. */
struct pj_header {
    const char *name;
    const char *path;
};

/** What `link` and `headers` may have at most. */
enum { PJ_MODULE_FILES_MAX = 199 };

/** One item of the manifest after glob expansion: one PTX file, one source, or one group of files that are
 * linked. Strings live in the manifest's arena. "As opened": relative paths joined to the manifest's folder.
 */
struct pj_module {
    enum pj_module_kind kind;
    const char *name;       /* unique; `name/stem` for each file of a glob, also where it matched just one */
    const char *path;       /* PTX, SOURCE, BINARY: as opened; NULL for LINK */
    const char **inputs;    /* LINK: paths as opened, in the order of linking, no two the same */
    size_t input_count;     /* LINK: 1 to PJ_MODULE_FILES_MAX; else 0 */
    enum pj_linker linker;  /* LINK */
    const char **nvrtc;     /* SOURCE: NVRTC's options, as the program passes them */
    size_t nvrtc_count;     /* SOURCE; may be 0 */
    enum pj_takes takes;    /* SOURCE */
    const char **nvjitlink; /* LINK with LINKER_NVJITLINK: its options, as the program passes them */
    size_t nvjitlink_count; /* may be 0 */
    const char *program_name;      /* SOURCE: the name given to nvrtcCreateProgram; else NULL */
    struct pj_header *headers;     /* SOURCE: headers that the program hands over in memory */
    size_t header_count;           /* SOURCE: 0 to PJ_MODULE_FILES_MAX */
    const char **name_expressions; /* SOURCE: for nvrtcAddNameExpression, in order */
    size_t name_expression_count;
    struct pj_jit_options options;
    const char **kernels; /* must exist in the image */
    size_t kernel_count;
    bool has_sha256;
    struct pj_sha256 sha256;
    bool required;
    struct pj_target_spec *targets; /* the module's own, else the manifest's */
    size_t target_count;
    size_t line; /* of the module in the manifest */
};

struct pj_manifest {
    struct pj_arena arena;
    const char *name;              /* as given: a path, or "-" */
    const char *directory;         /* that relative paths start from */
    struct pj_sha256 digest;       /* of the manifest's bytes */
    const char *cache_path;        /* absolute, or NULL */
    uint64_t cache_max_size_bytes; /* 0 = not given */
    unsigned verify_samples;       /* default 3 */
    bool has_max_warm_ms, has_min_speedup;
    double max_warm_ms, min_speedup;
    struct pj_module *modules; /* in manifest order, globs sorted bytewise */
    size_t module_count;
    const char *undecided; /* what pj_manifest_check_decided refuses; NULL = nothing */
};

/** Is what the driver gets of this module PTX that NVRTC or nvJitLink makes of its files first? */
bool pj_module_is_prepared(const struct pj_module *module);

/** Parses and checks `size` bytes. `name` is for messages ("-" reads as <stdin>), `directory` what relative
 * paths start from. All schema errors of a well-formed file come in one PJ_ERROR_MANIFEST, one a line, each
 * "file:line:column: …". Expands globs (reads directories, opens no image). `binary:` parses, and is then
 * PJ_ERROR_UNSUPPORTED unless `allow_unsupported`. */
int pj_manifest_parse(const char *bytes, size_t size, const char *name, const char *directory,
                      bool allow_unsupported, struct pj_manifest **ret_manifest, struct pj_error **err);

/** Reads the file `path` ("-": standard input), at most 64 MB, and parses it. What cannot be read is
 * PJ_ERROR_MANIFEST too, with the errno of the failing call. */
int pj_manifest_load(const char *path, struct pj_manifest **ret_manifest, struct pj_error **err);

/** PJ_ERROR_MANIFEST with file, line and column where a module does not say what its program takes from
 * NVRTC, and that cannot be known: who works on the driver's cache has to know it, who makes cubins need not.
 */
int pj_manifest_check_decided(const struct pj_manifest *manifest, struct pj_error **err);

void pj_manifest_free(struct pj_manifest *manifest);
void pj_manifest_free_pointer(struct pj_manifest **manifest);
#define PJ_CLEANUP_MANIFEST __attribute__((cleanup(pj_manifest_free_pointer)))

#endif
