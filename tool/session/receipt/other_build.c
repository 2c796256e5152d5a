/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the receipt's driver with the one at hand. */
#include "session/receipt/other_build.h"

#include <string.h>

static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

/* The stamp decides where it is known: one version may have several builds, and two files be one build. */
static bool is_other(const struct pj_session *session)
{
    const struct pj_report_host *then = &session->receipt->host;
    if (session->stamp && then->stamp)
        return differ(session->stamp, then->stamp);
    return !session->same_driver && differ(session->machine.driver_version, then->driver_version);
}

static const char *name(struct pj_session *session, const char *version, const char *stamp)
{
    return version && *version
               ? pj_arena_printf(&session->arena, "driver %s", version)
               : pj_arena_printf(&session->arena, "the driver built %s", stamp ? stamp : "before");
}

int pj_other_build(struct pj_session *session, const char **ret_text, struct pj_error **err)
{
    *ret_text = NULL;
    if (!session->receipt || session->receipt->offline.profile_count > 0 || !is_other(session))
        return 0;
    const struct pj_report_host *then = &session->receipt->host;
    bool versions = differ(then->driver_version, session->machine.driver_version);
    const char *before = name(session, versions ? then->driver_version : NULL, then->stamp);
    const char *now = name(session, versions ? session->machine.driver_version : NULL, session->stamp);
    *ret_text =
        before && now
            ? pj_arena_printf(&session->arena, "the cache was warmed for %s, and this one is %s", before, now)
            : NULL;
    return *ret_text ? 0 : pj_error_no_memory(err);
}
