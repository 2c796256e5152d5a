/* SPDX-License-Identifier: Apache-2.0 */
/* Pulls the public calls into the shared library; the modules hide everything by default. */
#include <prejit/prejit.h>

/* One address each, so that the linker takes the object files they are in. */
extern const void *const pj_library_calls[];
const void *const pj_library_calls[] = {
    (const void *)pj_warm,          (const void *)pj_verify,
    (const void *)pj_plan,          (const void *)pj_build,
    (const void *)pj_profile_make,  (const void *)pj_doctor,
    (const void *)pj_cache_ls,      (const void *)pj_manifest_help_text,
    (const void *)pj_error_message,
};
