/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a profile: one that is built in, or a file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "profile/built_in.h"
#include "profile/profile.h"
#include "profile/value.h"

const char *const *pj_profile_built_in(void)
{
    return pj_profile_built_in_versions;
}

/* Ends a message: what could have been given. */
static void put_built_in(struct pj_buffer *message)
{
    const char *const *versions = pj_profile_built_in();
    if (!versions[0])
        pj_buffer_puts(message, "no profile is built into this prejit");
    for (size_t i = 0; versions[i]; i++)
        pj_buffer_printf(message, "%s%s", i == 0 ? "built in are: " : ", ", versions[i]);
}

static int refuse_version(const char *version, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer known = {0};
    put_built_in(&known);
    int r = pj_buffer_check(&known, err);
    if (r < 0)
        return r;
    return pj_error_set(
        err, PJ_ERROR_USAGE,
        "no profile of driver %s is built in: make one with `prejit profile -o FILE` on a machine with "
        "that driver, and give the file; %s",
        version, pj_buffer_text(&known));
}

static int load_built_in(const char *version, struct pj_arena *arena, struct pj_profile *ret_profile,
                         struct pj_error **err)
{
    const char *const *versions = pj_profile_built_in();
    for (size_t i = 0; versions[i]; i++) {
        if (strcmp(versions[i], version) != 0)
            continue;
        const char *name = pj_arena_printf(arena, "built-in profile %s", version);
        if (!name)
            return pj_error_no_memory(err);
        const struct pj_profile_text *text = &pj_profile_built_in_texts[i];
        return pj_profile_parse((const char *)text->bytes, text->size, name, arena, ret_profile, err);
    }
    return refuse_version(version, err);
}

/* Where nothing is there, a version may have been meant that does not look like one. */
static int refuse_file(struct pj_error *error, struct pj_error **err)
{
    int errnum = error ? error->errnum : 0;
    PJ_CLEANUP_BUFFER struct pj_buffer advice = {0};
    if (errnum == ENOENT) {
        pj_buffer_puts(&advice, ": give the path of a profile, or a driver's version; ");
        put_built_in(&advice);
    } else if (errnum == EINVAL) {
        pj_buffer_puts(&advice, ": give the file itself");
    }
    int r = pj_buffer_check(&advice, err);
    if (r < 0)
        return r;
    r = pj_error_set(err, PJ_ERROR_MANIFEST, "cannot read the profile: %s%s", pj_error_message(error),
                     pj_buffer_text(&advice));
    return pj_error_recode(err, r, errnum);
}

int pj_profile_load(const char *given, struct pj_arena *arena, struct pj_profile *ret_profile,
                    struct pj_error **err)
{
    if (pj_profile_is_version(given))
        return load_built_in(given, arena, ret_profile, err);
    PJ_CLEANUP_ERROR struct pj_error *error = NULL;
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    int r = pj_file_read(AT_FDCWD, given, PJ_PROFILE_MAX_BYTES, &bytes, &error);
    if (r == PJ_ERROR_NO_MEMORY)
        return pj_error_no_memory(err);
    if (r < 0)
        return refuse_file(error, err);
    return pj_profile_parse(pj_buffer_text(&bytes), bytes.size, given, arena, ret_profile, err);
}
