/* SPDX-License-Identifier: Apache-2.0 */
/* Asked at every entry: later it would be another file, or none, by the folder that a worker starts in. */
#include "session/run/worker_program.h"

#include <stddef.h>

int pj_worker_program_check(const char *path, struct pj_error **err)
{
    if (!path || path[0] == '\0')
        return pj_error_set(err, PJ_ERROR_USAGE,
                            "no worker_program: it is the absolute path of a prejit program");
    if (path[0] != '/')
        return pj_error_set(err, PJ_ERROR_USAGE, "worker_program %s: it must be an absolute path", path);
    return 0;
}
