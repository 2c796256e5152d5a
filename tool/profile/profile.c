/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is asked. */
#include "profile/profile.h"

#include <string.h>

const char *pj_profile_kind_name(enum pj_profile_kind kind)
{
    static const char *const names[PJ_PROFILE_KIND_COUNT] = {
        [PJ_PROFILE_PLAIN] = "plain",     [PJ_PROFILE_ONE_OPTION] = "one-option",
        [PJ_PROFILE_OPTIONS] = "options", [PJ_PROFILE_LINK] = "link",
        [PJ_PROFILE_FATBIN] = "fatbin",   [PJ_PROFILE_FOREIGN] = "foreign",
        [PJ_PROFILE_BESIDE] = "beside",
    };
    return names[kind];
}

const struct pj_profile_compiler *pj_profile_compiler_find(const struct pj_profile *profile, const char *tool,
                                                           const char *version)
{
    for (size_t i = 0; i < profile->compiler_count; i++) {
        const struct pj_profile_compiler *compiler = &profile->compilers[i];
        if (strcmp(compiler->tool, tool) == 0 && strcmp(compiler->version, version) == 0)
            return compiler;
    }
    return NULL;
}

bool pj_profile_has_arch(const struct pj_profile *profile, uint16_t number)
{
    for (size_t i = 0; i < profile->arch_count; i++) {
        if (profile->archs[i] == number)
            return true;
    }
    return false;
}
