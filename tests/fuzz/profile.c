/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a profile; one that is read keeps what its header promises, and comes back when
 * written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_promises(const struct pj_profile *profile)
{
    size_t stamp = strlen(profile->stamp);
    require(stamp >= 1 && stamp <= PJ_PROFILE_STAMP_MAX);
    require(profile->cuda_version >= 1000 && profile->cache_format > 0 && profile->arch_count > 0);
    for (size_t i = 0; i < profile->arch_count; i++) {
        require(pj_arch_exists((struct pj_arch){.number = profile->archs[i]}));
        require(i == 0 || profile->archs[i - 1] < profile->archs[i]);
    }
    require(profile->compiler_count <= PJ_PROFILE_MAX_COMPILERS);
    for (size_t i = 0; i < profile->compiler_count; i++) {
        const struct pj_profile_compiler *compiler = &profile->compilers[i];
        require(compiler->cases > 0 && compiler->same <= compiler->cases);
        require(compiler->same_code == (compiler->same == compiler->cases));
        require(pj_profile_compiler_find(profile, compiler->tool, compiler->version) == compiler);
    }
    require(strlen(profile->made_on) == 10 && *profile->made_with && *profile->gpu);
}

/* Written, read and written again, the text is the same. */
static void check_round_trip(const struct pj_profile *profile)
{
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer once = {0}, twice = {0};
    struct pj_profile read;
    require(pj_profile_write(profile, &once, NULL) == 0);
    require(pj_profile_parse(pj_buffer_text(&once), once.size, "f", &arena, &read, NULL) == 0);
    require(strcmp(read.stamp, profile->stamp) == 0 && strcmp(read.gpu, profile->gpu) == 0);
    require(pj_profile_write(&read, &twice, NULL) == 0);
    require(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    struct pj_profile profile;
    int r = pj_profile_parse((const char *)data, size, "f", &arena, &profile, &err);
    require((r == 0) == (err == NULL));
    if (r == 0) {
        check_promises(&profile);
        check_round_trip(&profile);
    } else {
        require(r == PJ_ERROR_MANIFEST && strncmp(pj_error_message(err), "f:", 2) == 0);
    }
    return 0;
}
