/* SPDX-License-Identifier: Apache-2.0 */
/* What NVRTC or nvJitLink is told about one module and one architecture. */
#ifndef PREJIT_SESSION_PREPARE_SOURCE_H
#define PREJIT_SESSION_PREPARE_SOURCE_H

#include "session/make/maker.h"

/** One source to be compiled, or the files of a link. */
struct pj_source {
    const struct pj_module *module;
    const struct pj_plan_image *const
        *images; /* the source, then the headers in memory; or a link's inputs */
    struct pj_arch arch;
    bool real; /* straight to a cubin: `sm_90`, not `compute_90`; where the options name none */
    const char *const *extra; /* further options, put last */
    size_t extra_count;
};

/** Makes the order: the module's options as they stand, then the architecture where these name none, the
 * toolkit's include folder (NULL = none) as the last one, and `--no-cache`. `trace`: the list of files read
 * is wanted too. Strings live in `arena`. */
int pj_source_order(const struct pj_source *source, const struct pj_compiler *nvrtc, const char *include,
                    uint32_t outputs, bool trace, struct pj_arena *arena, struct pj_making *ret_making,
                    struct pj_error **err);

/** All that NVRTC is told, as text: two requests are the same if their texts are. */
int pj_source_request(const struct pj_source *source, const char *directory, struct pj_buffer *text,
                      struct pj_error **err);

/** Does this NVRTC compile for `number`? True also where it does not tell. */
bool pj_source_knows(const struct pj_compiler *nvrtc, uint16_t number);

/** Why not, with both numbers and the ways out; NULL when memory is out. */
const char *pj_source_why_not(const struct pj_compiler *nvrtc, uint16_t number, struct pj_arena *arena);

/** The same in one clause that holds for other targets as well: why a range does without them. */
const char *pj_source_why_left_out(const struct pj_compiler *nvrtc, uint16_t number, struct pj_arena *arena);

/** "; the folder inc of its -I does not exist in DIR", for the end of a refusal's reason; "" where all are
 * there, NULL when memory is out. Strings live in `arena`. */
const char *pj_source_missing_folder(const struct pj_module *module, const char *directory,
                                     struct pj_arena *arena);

/** What nvJitLinkInputType is called, of a file that a link may have. */
enum pj_nvjitlink_type pj_linked_type(const struct pj_plan_image *image);

/** The files of a module for nvJitLink, in their order, in `arena`. */
int pj_linked_parts(const struct pj_source *source, struct pj_arena *arena, struct pj_making *making,
                    struct pj_error **err);

/** Makes the order for a link that gives PTX: the module's options as they stand, the architecture where
 * these name none, and `-no-cache`. */
int pj_linked_order(const struct pj_source *source, const struct pj_compiler *linker, struct pj_arena *arena,
                    struct pj_making *ret_making, struct pj_error **err);

/** All that nvJitLink is told, as pj_source_request has it. */
int pj_linked_request(const struct pj_source *source, struct pj_buffer *text, struct pj_error **err);

#endif
