/* SPDX-License-Identifier: Apache-2.0 */
/* Which profiles an offline run is for, and which of them, and which compiler, cannot be used. */
#include <string.h>

#include "cache/format.h"
#include "session/offline/private.h"

int pj_offline_load_profile(struct pj_session *session, const char *given, struct pj_profile *ret_profile,
                            struct pj_error **err)
{
    int r = pj_profile_load(given, &session->arena, ret_profile, err);
    if (r < 0)
        return pj_error_wrap(err, r, "--offline %s", given);
    if (ret_profile->cache_format != PJ_CACHE_FORMAT)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: driver %s writes cache format %u, and this prejit makes entries of format %d "
            "alone: use a prejit that knows it, or run `prejit warm` where that driver is, "
            "which works with any format",
            ret_profile->name, ret_profile->driver_version, ret_profile->cache_format, PJ_CACHE_FORMAT);
    return 0;
}

/* A recipe that was not proven makes entries that a driver may believe and not load [22]. */
static int check_profile(const struct pj_profile *profile, struct pj_error **err)
{
    static const enum pj_profile_kind needed[] = {PJ_PROFILE_PLAIN, PJ_PROFILE_FOREIGN};
    for (size_t i = 0; i < PJ_COUNT(needed); i++) {
        if (profile->proven[needed[i]])
            continue;
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: this profile of driver %s does not prove `%s`, which every offline entry needs: "
            "make it anew with `prejit profile` on a machine with that driver, or run `prejit "
            "warm` there",
            profile->name, profile->driver_version, pj_profile_kind_name(needed[i]));
    }
    return 0;
}

/* One that was given twice is there already; two of one build could say different things of it. */
static int look_for(const struct pj_offline *offline, const struct pj_profile *profile, bool *ret_there,
                    struct pj_error **err)
{
    *ret_there = false;
    for (size_t i = 0; i < offline->profile_count; i++) {
        const struct pj_profile *other = &offline->profiles[i];
        if (strcmp(other->stamp, profile->stamp) != 0)
            continue;
        *ret_there = true;
        if (strcmp(other->name, profile->name) != 0)
            return pj_error_set(
                err, PJ_ERROR_USAGE,
                "--offline: %s and %s are of the same build of the driver (stamp %s): name one of them",
                other->name, profile->name, profile->stamp);
    }
    return 0;
}

int pj_offline_read_profiles(struct pj_offline *offline, struct pj_error **err)
{
    struct pj_session *session = offline->session;
    const struct pj_options *options = session->options;
    size_t most = options->offline_count + 1;
    offline->profiles = pj_arena_calloc(&session->arena, most, sizeof *offline->profiles);
    struct pj_report_profile *told = pj_arena_calloc(&session->arena, most, sizeof *told);
    if (!offline->profiles || !told)
        return pj_error_no_memory(err);
    for (size_t i = 0; i < options->offline_count; i++) {
        struct pj_profile profile = {0};
        int r = pj_offline_load_profile(session, options->offline[i], &profile, err);
        bool there = false;
        if (r == 0)
            r = check_profile(&profile, err);
        if (r == 0)
            r = look_for(offline, &profile, &there, err);
        if (r < 0)
            return r;
        if (there)
            continue;
        told[offline->profile_count] =
            (struct pj_report_profile){.driver_version = profile.driver_version, .stamp = profile.stamp};
        offline->profiles[offline->profile_count++] = profile;
    }
    session->offline = (struct pj_report_offline){.profiles = told, .profile_count = offline->profile_count};
    return 0;
}

int pj_offline_cuda_version(const struct pj_offline *offline)
{
    int oldest = offline->profiles[0].cuda_version;
    for (size_t i = 1; i < offline->profile_count; i++) {
        if (offline->profiles[i].cuda_version < oldest)
            oldest = offline->profiles[i].cuda_version;
    }
    return oldest;
}

int pj_offline_check_beside(const struct pj_offline *offline, struct pj_error **err)
{
    struct pj_store_statistics statistics;
    pj_store_statistics(offline->session->store, &statistics);
    for (size_t i = 0; i < offline->profile_count && statistics.entries > 0; i++) {
        const struct pj_profile *profile = &offline->profiles[i];
        if (profile->proven[PJ_PROFILE_BESIDE])
            continue;
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: this profile of driver %s does not prove that entries can be put beside others, "
            "and the cache %s holds %llu: name an empty one with --cache, or make the profile "
            "anew with `prejit profile`",
            profile->name, profile->driver_version, offline->session->location.path,
            (unsigned long long)statistics.entries);
    }
    return 0;
}

/* "ptxas 13.0.88, ptxas 12.8.93": those whose code is the driver's, as far as that was found out. */
static void put_proven(const struct pj_profile *profile, const char *tool, struct pj_buffer *text)
{
    size_t before = text->size;
    for (size_t i = 0; i < profile->compiler_count; i++) {
        const struct pj_profile_compiler *compiler = &profile->compilers[i];
        bool good = strcmp(compiler->tool, "ptxas") != 0 || compiler->same_code;
        if (good && strcmp(compiler->tool, tool) == 0)
            pj_buffer_printf(text, "%s%s %s", text->size > before ? ", " : "", compiler->tool,
                             compiler->version);
    }
    if (text->size == before)
        pj_buffer_printf(text, "no %s at all", tool);
}

static int check_compiler(const struct pj_profile *profile, const struct pj_compiler *compiler,
                          const char *tool, struct pj_error **err)
{
    const char *version = compiler->library.build ? compiler->library.build : compiler->library.version;
    const struct pj_profile_compiler *found = pj_profile_compiler_find(profile, tool, version);
    bool ptxas = strcmp(tool, "ptxas") == 0;
    PJ_CLEANUP_BUFFER struct pj_buffer proven = {0};
    put_proven(profile, tool, &proven);
    if (proven.failed)
        return pj_error_no_memory(err);
    if (compiler->version > profile->cuda_version)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s %s (%s) is newer than CUDA %d.%d of driver %s, which may not load its code: name "
            "one that %s was proven with (%s) with --%s PATH",
            tool, version, compiler->library.path, profile->cuda_version / 1000,
            profile->cuda_version % 1000 / 10, profile->driver_version, profile->name,
            pj_buffer_text(&proven), tool);
    if (!found)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: this profile of driver %s was not proven with %s %s (%s), but with %s: name that "
            "one with --%s PATH, or prove this one with `prejit profile` on a machine with the "
            "driver",
            profile->name, profile->driver_version, tool, version, compiler->library.path,
            pj_buffer_text(&proven), tool);
    if (found->build && (!compiler->label || strcmp(found->build, compiler->label) != 0))
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: this profile of driver %s was proven with %s %s of build %s, and %s is of %s%s: name that "
            "one with --%s PATH, or prove this one with `prejit profile` on a machine with the driver",
            profile->name, profile->driver_version, tool, version, found->build, compiler->library.path,
            compiler->label ? "build " : "a build that it does not tell",
            compiler->label ? compiler->label : "", tool);
    if (ptxas && !found->same_code)
        return pj_error_set(
            err, PJ_ERROR_ENVIRONMENT,
            "%s: the code of ptxas %s (%s) is not that of driver %s (the same in %u of %u cases): "
            "name another one with --ptxas PATH (proven: %s), or run `prejit warm` where the "
            "driver is",
            profile->name, version, compiler->library.path, profile->driver_version, found->same,
            found->cases, pj_buffer_text(&proven));
    return 0;
}

int pj_offline_check_compiler(const struct pj_offline *offline, const struct pj_compiler *compiler,
                              const char *tool, struct pj_error **err)
{
    int r = 0;
    for (size_t i = 0; i < offline->profile_count && r == 0; i++)
        r = check_compiler(&offline->profiles[i], compiler, tool, err);
    return r;
}

const char *pj_offline_example(void)
{
    const char *const *versions = pj_profile_built_in();
    return versions[0] ? versions[0] : "PROFILE";
}
