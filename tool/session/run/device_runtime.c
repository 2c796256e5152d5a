/* SPDX-License-Identifier: Apache-2.0 */
/* Says where libcudadevrt.a is. */
#include "session/run/device_runtime.h"

#include <string.h>

#include "host/toolkit.h"

int pj_device_runtime_note(struct pj_session *session, struct pj_error **err)
{
    const char *path = NULL;
    bool wanted = false;
    for (size_t i = 0; i < session->plan->job_count && !wanted; i++) {
        const char *reason = session->plan->jobs[i].reason;
        wanted = reason && strstr(reason, PJ_TOOLKIT_DEVICE_RUNTIME) != NULL;
    }
    int r = wanted ? pj_toolkit_device_runtime(&session->root, pj_toolkit_home(), &session->arena, &path, err)
                   : 0;
    return r < 0 || !path
               ? r
               : pj_session_note(session, err, "the toolkit's " PJ_TOOLKIT_DEVICE_RUNTIME " is %s", path);
}
