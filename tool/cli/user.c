/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes the user of --user. */
#include "cli/user.h"

#include "base/memory.h"
#include "cli/output.h"
#include "session/frame/as_user.h"

int pj_cli_become_user(const struct pj_cli_options *options, struct pj_error **err)
{
    PJ_CLEANUP_FREE char *note = NULL;
    if (!options->run.user)
        return 0;
    int r = pj_as_user(options->run.user, PJ_CLI_WORKER_PROGRAM, &note, err);
    if (r == 0 && note && !options->quiet)
        pj_cli_complain(note);
    return r;
}
