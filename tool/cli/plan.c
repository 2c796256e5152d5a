/* SPDX-License-Identifier: Apache-2.0 */
/* prejit plan */
#include "cli/command.h"
#include "cli/run.h"

static int run(const struct pj_command *command, int count, char **arguments)
{
    return pj_cli_run(command, count, arguments, pj_plan);
}

const struct pj_command pj_command_plan = {
    .name = "plan",
    .arguments = "[options] MANIFEST",
    .takes_manifest = true,
    .summary = "show the jobs, what is wrong with them, and their entries; needs no GPU",
    .description = "Reads the manifest and every module, and shows which jobs `warm` would do.\n"
                   "Exit status: 0; 1 a file is rejected, or a module cannot run on a target that was\n"
                   "named; 2 usage or manifest.",
    .run = run,
};
