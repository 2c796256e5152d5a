/* SPDX-License-Identifier: Apache-2.0 */
/* prejit _worker: what the parent starts; nobody types it. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "job/worker.h"

static int run(const struct pj_command *command, int count, char **arguments)
{
    uint64_t socket, parent;
    struct pj_error *error = NULL;
    (void)command;
    if (count != 3 || !pj_text_to_u64(arguments[1], 1 << 20, &socket) ||
        !pj_text_to_u64(arguments[2], INT32_MAX, &parent)) {
        pj_cli_complain("_worker is started by prejit itself, not by hand");
        return 2;
    }
    int r = pj_worker_serve((int)socket, (long)parent, &error);
    pj_error_free(error); /* the parent sees the closed socket and says what it means */
    return r < 0 ? 1 : 0;
}

const struct pj_command pj_command_worker = {
    .name = "_worker",
    .arguments = "SOCKET PARENT",
    .summary = "",
    .description = "",
    .hidden = true,
    .run = run,
};
