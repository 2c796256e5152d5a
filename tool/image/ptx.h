/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a PTX text's header, its functions and who calls whom, and says what is wrong with it. */
#ifndef PREJIT_IMAGE_PTX_H
#define PREJIT_IMAGE_PTX_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/arch.h"
#include "arch/isa.h"
#include "base/error.h"
#include "base/memory.h"

/** Who may call a function, by the directive before it; of several declarations the highest counts. */
enum pj_ptx_linkage {
    PJ_PTX_OWN,    /* its own text alone: there is no directive, or .extern */
    PJ_PTX_WEAK,   /* others too: .weak, which gives way to other definitions */
    PJ_PTX_SHARED, /* others too: .visible, .common */
};

/** A kernel or function that a text defines, or that it declares and that has to come from elsewhere. */
struct pj_ptx_function {
    const char *name;
    bool is_defined; /* here, as an alias too */
    bool is_kernel;  /* and defined */
    enum pj_ptx_linkage linkage;
    size_t line;                   /* where it is declared first; 0 where it is defined */
    size_t first_call, call_count; /* its piece of `calls` */
};

/** A declaration with which the driver compiles a module, stores it, and loads it never [77]. */
struct pj_ptx_unloadable {
    const char *what;   /* "`.ptr .shared`"; NULL = there is none */
    const char *kernel; /* whose parameter it is, or NULL: it stands outside functions */
    const char *answer; /* "CUDA_ERROR_INVALID_IMAGE" of cuModuleLoadData */
    const char *cure;
    size_t line;
};

/** What the text says. Strings live in the arena given to pj_ptx_read. Sizes are in bytes. */
struct pj_ptx {
    struct pj_isa version;
    struct pj_arch target; /* the last .target counts */
    unsigned address_size; /* 32 or 64 */
    bool texmode_independent;
    const char **kernels; /* names of .entry functions, in order, without duplicates */
    size_t kernel_count;
    const char *unresolved; /* an extern function that is called and not defined here (vprintf and the like
                               excepted), or NULL */
    size_t unresolved_line; /* where that function is declared, 0 where there is none */
    struct pj_ptx_function *functions; /* sorted by name as by strcmp, without duplicates; without what the
                                          driver supplies, unless it is defined here */
    size_t function_count;
    const size_t *calls; /* indices of functions that functions call, in the order of the text, each once for
                            each caller; none at all where nothing has to come from elsewhere */
    size_t call_count;
    struct pj_ptx_unloadable unloadable;
    const char *optix; /* what tells that it is an OptiX module: a function, call or variable; NULL = none */
    size_t optix_line;
    size_t marker_line; /* line of a `# 1 "x"` in front of .version, 0 where there is none: ptxas takes such a
                           file, driver 580 answers CUDA_ERROR_INVALID_IMAGE */
    size_t text_size;   /* bytes before the first NUL: what the driver reads [facts 3] */
};

/** What is to be said about an image before a compiler sees it; each is its own finding with its own words.
 */
enum pj_ptx_finding_code {
    PJ_PTX_OK,
    PJ_PTX_NOT_PTX,            /* another kind of file; see image/kind.h */
    PJ_PTX_INTERIOR_NUL,       /* text goes on behind a NUL: the driver drops it in silence */
    PJ_PTX_NON_ASCII,          /* a byte ≥ 0x80 */
    PJ_PTX_BAD_HEADER,         /* missing or malformed .version/.target/.address_size, wrong order */
    PJ_PTX_HEADER_CONTRADICTS, /* the ISA is too old for its own target: broken everywhere */
    PJ_PTX_32_BIT,             /* .address_size 32: no present architecture runs it */
    PJ_PTX_NEWER_THAN_DRIVER,  /* .version above what the driver takes */
    PJ_PTX_NEWER_THAN_GPU,     /* .target above, or bound to another architecture than, the GPU */
    PJ_PTX_OPTIX_MODULE,       /* OptiX compiles it, not the CUDA driver */
    PJ_PTX_NEEDS_LINKING,      /* calls a function defined elsewhere */
    PJ_PTX_CANNOT_BE_LOADED,   /* the driver compiles and stores it, and loads it never [77] */
    PJ_PTX_NO_KERNELS,         /* compiles, but only its own entry is warmed: a warning */
    PJ_PTX_KERNEL_MISSING,     /* a kernel the manifest names is not there */
};

/** A finding, with a message that says where (line), what was found, what is allowed and what to do. */
struct pj_ptx_finding {
    enum pj_ptx_finding_code code;
    size_t line;         /* 1-based; 0 where no line applies */
    const char *message; /* in the arena */
};

/** Reads `size` bytes (at most 1 GiB). Gives 0 with ret_finding->code PJ_PTX_OK, PJ_PTX_NEEDS_LINKING,
 * PJ_PTX_CANNOT_BE_LOADED or PJ_PTX_NO_KERNELS (then *ret_ptx is complete), or 0 with another code that says
 * why it cannot be used (NOT_PTX … 32_BIT; *ret_ptx is complete only as far as it was read). Negative only
 * for out of memory. Codes of one kind are pinned names: pj_ptx_finding_name. */
int pj_ptx_read(const void *bytes, size_t size, struct pj_arena *arena, struct pj_ptx *ret_ptx,
                struct pj_ptx_finding *ret_finding, struct pj_error **err);

/** Does this PTX go on a device of number `device` under a driver that takes PTX up to `driver_isa` (major 0
 * = unknown, not checked)? Gives PJ_PTX_OK, PJ_PTX_NEWER_THAN_DRIVER or PJ_PTX_NEWER_THAN_GPU; the message
 * has both numbers and the ways out. */
int pj_ptx_check_target(const struct pj_ptx *ptx, uint16_t device, struct pj_isa driver_isa,
                        struct pj_arena *arena, struct pj_ptx_finding *ret_finding, struct pj_error **err);

/** Index of the first of `wanted` kernels that is not in `ptx`, or `count`. */
size_t pj_ptx_missing_kernel(const struct pj_ptx *ptx, const char *const *wanted, size_t count);

/** Does a linker take it? PTX is compiled for one with `-c`, which ptxas and the driver take from ISA 3.1 on.
 */
bool pj_ptx_is_linkable(const struct pj_ptx *ptx);

/** Is a function of this name one of CUDA's device runtime, which libcudadevrt.a defines? */
bool pj_ptx_is_device_runtime(const char *name);

/** The function or kernel of that name, or NULL. */
const struct pj_ptx_function *pj_ptx_find(const struct pj_ptx *ptx, const char *name);

/** May an image with this finding be handed to the driver? (OK, NEEDS_LINKING only for links, NO_KERNELS) */
bool pj_ptx_usable(enum pj_ptx_finding_code code);

/** "newer-than-driver" and so on: the reason_code of reports. */
const char *pj_ptx_finding_name(enum pj_ptx_finding_code code);

#endif
