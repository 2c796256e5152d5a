/* SPDX-License-Identifier: Apache-2.0 */
/* prejit verify */
#include "cli/command.h"
#include "cli/run.h"

static int run(const struct pj_command *command, int count, char **arguments)
{
    return pj_cli_run(command, count, arguments, pj_verify);
}

const struct pj_command pj_command_verify = {
    .name = "verify",
    .arguments = "[options] MANIFEST",
    .takes_manifest = true,
    .summary = "prove what the cache holds; compile nothing, write nothing",
    .description = "Loads every module of the manifest in fresh processes with JIT disabled.\n"
                   "Exit status: 0 proven; 1 a module failed; 2 usage or manifest; 3 no driver or no GPU;\n"
                   "4 something will be compiled at first use, or loads slower than the manifest allows;\n"
                   "75 try again later.",
    .run = run,
};
