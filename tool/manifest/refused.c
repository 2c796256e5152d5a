/* SPDX-License-Identifier: Apache-2.0 */
/* CUjit_options that a manifest cannot have, each with its reason. */
#include "base/memory.h"
#include "manifest/schema.h"

#define ADDS_NOTHING                                                                                         \
    "adds nothing to the cache key: a program that passes it finds the same entry; leave it out"
#define NOT_FOR_PTX "is for linking LTO-IR and not for loading PTX; leave it out"
#define NOT_KNOWN                                                                                            \
    "is not known to prejit: what it adds to the cache key was never measured, so no hit could be "          \
    "promised; "                                                                                             \
    "leave it out, here and in the program"

static const struct pj_refused_option refused[] = {
    {"threads_per_block", "adds to the cache key what depends on the kernel, so no key can be known in "
                          "advance; use `max_registers` "
                          "or `max_threads_per_block`, here and in the program"},
    {"target", "is not an option here: name the architectures under `targets`"},
    {"target_from_cucontext", "is what `targets: [native]` says: leave it out"},
    {"wall_time", ADDS_NOTHING},
    {"info_log_buffer", ADDS_NOTHING},
    {"info_log_buffer_size_bytes", ADDS_NOTHING},
    {"error_log_buffer", ADDS_NOTHING},
    {"error_log_buffer_size_bytes", ADDS_NOTHING},
    {"log_verbose", ADDS_NOTHING},
    {"fallback_strategy", ADDS_NOTHING},
    {"ftz", ADDS_NOTHING},
    {"prec_div", ADDS_NOTHING},
    {"prec_sqrt", ADDS_NOTHING},
    {"fma", ADDS_NOTHING},
    {"lto", NOT_FOR_PTX},
    {"global_symbol_names", NOT_KNOWN},
    {"global_symbol_addresses", NOT_KNOWN},
    {"global_symbol_count", NOT_KNOWN},
    {"referenced_kernel_names", NOT_FOR_PTX},
    {"referenced_kernel_count", NOT_FOR_PTX},
    {"referenced_variable_names", NOT_FOR_PTX},
    {"referenced_variable_count", NOT_FOR_PTX},
    {"optimize_unused_device_variables", NOT_FOR_PTX},
    {"new_sm3x_opt", NOT_KNOWN},
};

const struct pj_refused_option *pj_schema_refused_options(size_t *ret_count)
{
    *ret_count = PJ_COUNT(refused);
    return refused;
}
