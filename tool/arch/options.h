/* SPDX-License-Identifier: Apache-2.0 */
/* The CUjit_options a module may be loaded with: a closed, typed list, and how each one appears in the cache
 * key. */
#ifndef PREJIT_ARCH_OPTIONS_H
#define PREJIT_ARCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/** In the order in which their key texts are joined [facts 4]. A boolean that is explicitly false adds
 * nothing to the key, except where the line says otherwise (measured with driver 580.159.04). */
enum pj_jit_option {
    PJ_JIT_OPTIMIZATION_LEVEL,        /* 0 to 4: -O4 */
    PJ_JIT_MAX_REGISTERS,             /* --maxrregcount 64 */
    PJ_JIT_GENERATE_DEBUG_INFO,       /* true: -g */
    PJ_JIT_FAST_COMPILE,              /* true: --fast-compile */
    PJ_JIT_GENERATE_LINE_INFO,        /* true: -lineinfo */
    PJ_JIT_CACHE_MODE,                /* ca or cg: -dlcm=ca; none: nothing */
    PJ_JIT_POSITION_INDEPENDENT_CODE, /* --position-independent-code=true, and =false where false was given */
    PJ_JIT_MIN_CTA_PER_SM,            /* --minnctapersm=2 */
    PJ_JIT_MAX_THREADS_PER_BLOCK,     /* --maxntid=128 */
    PJ_JIT_OVERRIDE_DIRECTIVE_VALUES, /* true: --override-directive-values */
    PJ_JIT_SPLIT_COMPILE,             /* --split-compile=8, 0 and 1 included */
    PJ_JIT_OPTION_COUNT,
};

/** Which options were given explicitly, and their values (booleans 0 or 1; cache mode:
 * CU_JIT_CACHE_OPTION_*). */
struct pj_jit_options {
    uint32_t given; /* bit per enum pj_jit_option */
    uint32_t values[PJ_JIT_OPTION_COUNT];
};

/** Values of PJ_JIT_CACHE_MODE: CU_JIT_CACHE_OPTION_NONE, _CG and _CA of cuda.h. */
enum { PJ_JIT_CACHE_NONE = 0, PJ_JIT_CACHE_CG = 1, PJ_JIT_CACHE_CA = 2 };

enum pj_jit_option_type { PJ_JIT_UNSIGNED, PJ_JIT_BOOLEAN, PJ_JIT_CACHE_OPTION };

struct pj_jit_option_info {
    const char *name; /* as the manifest writes it: CUDA's name in lower case without CU_JIT_ */
    enum pj_jit_option_type type;
    uint32_t minimum, maximum;
    uint32_t cuda_option; /* value of CUjit_option in cuda.h */
    const char *help;     /* one sentence for --help manifest and docs/manifest.md */
};

/** The table, indexed by enum pj_jit_option. */
const struct pj_jit_option_info *pj_jit_option_info(enum pj_jit_option option);

/** Index by manifest name, or -1. */
int pj_jit_option_find(const char *name);

/** Word of a cache mode as the manifest writes it, "none", "ca" or "cg"; NULL for another value. */
const char *pj_jit_cache_mode_name(uint32_t value);

/** One option of the cache key, as ptxas takes it: `-O4`, `--maxrregcount 64`. */
struct pj_jit_flag {
    enum pj_jit_option option;
    char text[48];
};

/** The options that add something to the key, in its order, one a call; *position is 0 before the first.
 * False = none is left. */
bool pj_jit_options_next(const struct pj_jit_options *options, unsigned *position,
                         struct pj_jit_flag *ret_flag);

/** Appends the option text of the cache key, options joined by one space, "" for none: `-O4 --maxrregcount
 * 64`. */
void pj_jit_options_key_text(const struct pj_jit_options *options, struct pj_buffer *buffer);

/** Appends the options as people read them, `optimization_level=4, max_registers=64`; "" for none. */
void pj_jit_options_text(const struct pj_jit_options *options, struct pj_buffer *buffer);

/** Do both give the same options with the same values? Values of options that are not given do not count. */
bool pj_jit_options_equal(const struct pj_jit_options *a, const struct pj_jit_options *b);

#endif
